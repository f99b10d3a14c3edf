import { setTimeout as pause } from 'node:timers/promises';
import type { ApiKey } from '../../src/auth/keys';
import { createKeyWriter, type KeyWriterOptions } from '../../src/organisations/keyWriter';
import { eventually } from '../api/http/eventually';

/* Keys used at the same time are written in small batches, so that no request waits for a write of thousands. */

type Write = (operations: readonly { updateOne: { filter: { _id: string } } }[]) => Promise<unknown>;

function writerWith(bulkWrite: Write, options: Partial<KeyWriterOptions> = {}) {
  const collection = { collectionName: 'api_keys', bulkWrite };
  const apiKeys = {
    db: { name: 'control', getClient: () => ({ db: () => ({ collection: () => collection }) }) },
    collection: { name: 'api_keys' },
  };
  const onError = jest.fn();
  return {
    writer: createKeyWriter({ apiKeys } as never, {
      onError,
      now: Date.now,
      pepper: '',
      pepperNumber: () => undefined,
      ...options,
    }),
    onError,
  };
}

const keyOf = (at: number): ApiKey => ({ _id: `key${String(at)}`, last_used_at: null, revoked_at: null }) as ApiKey;
const idsOf = (operations: Parameters<Write>[0]): string[] => operations.map(({ updateOne }) => updateOne.filter._id);

test('a thousand uses are written 100 at a time, one write after another, and none is lost', async () => {
  const written: string[][] = [];
  let [underWay, mostUnderWay] = [0, 0];
  const { writer } = writerWith(async (operations) => {
    mostUnderWay = Math.max(mostUnderWay, (underWay += 1));
    await pause(20);
    written.push(idsOf(operations));
    underWay -= 1;
  });
  for (let at = 0; at < 1000; at += 1) writer.noteUse(keyOf(at), '192.0.2.1');
  // the first write starts automatically; more uses are noted while it is in progress
  await eventually(() => mostUnderWay > 0);
  for (let at = 1000; at < 1050; at += 1) writer.noteUse(keyOf(at), '192.0.2.1');
  await writer.settle();
  expect(mostUnderWay).toBe(1);
  expect(Math.max(...written.map((ids) => ids.length))).toBe(100);
  expect(written.flat().toSorted()).toEqual(Array.from({ length: 1050 }, (_, at) => `key${String(at)}`).toSorted());
});

test('at most 10,000 uses and hashes are queued', async () => {
  let calls = 0;
  const { writer } = writerWith(() => Promise.resolve((calls += 1)), { pepperNumber: () => 1 });
  for (let at = 0; at < 12_000; at += 1) writer.noteUse(keyOf(at), '192.0.2.1');
  writer.rehash(keyOf(12_000), 'secret');
  await writer.settle();
  expect(calls).toBe(100);
});

test('a failed write does not stop the next one, but on shutdown drops the rest', async () => {
  let [calls, isAway] = [0, false];
  const { writer, onError } = writerWith(() => {
    calls += 1;
    return calls === 1 || isAway ? Promise.reject(new Error('away')) : Promise.resolve();
  });
  for (let at = 0; at < 200; at += 1) writer.noteUse(keyOf(at), '192.0.2.1');
  await eventually(() => calls >= 2);
  isAway = true;
  for (let at = 200; at < 1000; at += 1) writer.noteUse(keyOf(at), '192.0.2.1');
  await writer.settle();
  await pause(400);
  expect(calls).toBe(3);
  expect(onError).toHaveBeenCalledTimes(2);
});

test('new hashes are written together with uses, and each key is rehashed once', async () => {
  const written: string[][] = [];
  const write: Write = (operations) => Promise.resolve(written.push(idsOf(operations)));
  const { writer } = writerWith(write, { pepperNumber: () => 1 });
  for (const _time of [1, 2]) for (let at = 0; at < 150; at += 1) writer.rehash(keyOf(at), 'secret');
  for (let at = 0; at < 30; at += 1) writer.noteUse(keyOf(at), '192.0.2.1');
  await writer.settle();
  expect(written.map((ids) => ids.length)).toEqual([100, 80]);
});
