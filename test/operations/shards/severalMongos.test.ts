import mongoose from 'mongoose';
import { type ChangeCursor, openChanges } from '../../../src/mongo/changeCursor';
import type { Json } from '../../support/client';
import { startMongos } from '../../support/mongos';

/* A cluster with several mongos, each of which has only the cursors that it opened. */

test('a change stream is read and closed at the mongos that opened it', async () => {
  await using first = await startMongos(['shard01']);
  await using second = await startMongos(['shard01']);
  /** By mongos: how often it was sent each command about a cursor. */
  const sent = [first, second].map((mongos) => {
    const counts: Record<string, number> = {};
    for (const name of ['aggregate', 'getMore', 'killCursors'])
      mongos.replies[name] = () => {
        counts[name] = (counts[name] ?? 0) + 1;
        return undefined;
      };
    return counts;
  });
  const uri = new URL(first.uri);
  const options = uri.search === '' ? '' : `/${uri.search}`;
  const client = await mongoose.mongo.MongoClient.connect(
    `mongodb://${uri.host},${new URL(second.uri).host}${options}`.replace('directConnection=true', ''),
    // its first hello is then one that the stand-in answers; and a mongos that a busy machine answers for later is used as well
    { retryReads: false, serverApi: '1', localThresholdMS: 60_000 },
  );
  const cursors: ChangeCursor<Json>[] = [];
  try {
    // by chance at either
    while (sent.some(({ aggregate }) => aggregate === undefined) && cursors.length < 30)
      cursors.push(await openChanges<Json>(client, [], { wait: 1 }));
    expect(cursors.every(({ openedAt }) => openedAt !== undefined)).toBe(true);
    for (const cursor of cursors) for (let round = 0; round < 4; round += 1) await cursor.next();
  } finally {
    for (const cursor of cursors) await cursor.close();
    await client.close();
  }
  for (const { aggregate = 0, getMore, killCursors } of sent)
    expect([getMore, killCursors]).toEqual([4 * aggregate, aggregate]);
  expect(sent.every(({ aggregate = 0 }) => aggregate > 0)).toBe(true);
});
