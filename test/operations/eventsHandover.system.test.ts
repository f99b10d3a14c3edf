import { randomUUID } from 'node:crypto';
import mongoose, { type mongo } from 'mongoose';
import { pino } from 'pino';
import { type TailRow, tailRows, takeTailLease } from '../../src/events/tail/lease';
import { createTail, type TailOptions } from '../../src/events/tail/tail';
import { corrector } from '../../src/resources/corrector';
import { eventually } from '../api/http/eventually';
import { driver, late, served } from '../support/gateway';

const SOON = 30_000;
const RENEWALS = 3;

const CONTROL_DATABASE = `scopegate_handover_${randomUUID().slice(0, 8)}`;
const gateway = served({ CONTROL_DATABASE });
afterAll(() => bare.db(CONTROL_DATABASE).dropDatabase());
const bare = driver();
const lease: mongo.Collection<TailRow> = late(() => Promise.resolve(tailRows(bare, CONTROL_DATABASE)));
const row = async (): Promise<TailRow> => (await lease.findOne({ _id: 'tail' }))!;

test('while another gateway records events, one looks for its lease much more often than that is renewed', async () => {
  const { databases, control } = gateway;
  const options: TailOptions = {
    databases,
    corrector,
    feeds: control.feeds,
    onWritten: () => undefined,
    onStored: () => Promise.resolve(),
    onBegun: () => Promise.resolve(),
    onRestored: () => undefined,
    logger: pino({ enabled: false }),
  };
  await lease.deleteMany({});
  const until = async () => (await lease.findOne({ _id: 'tail' }))?.until;
  const recording = createTail(options);
  recording.start();
  await eventually(() => recording.state().isTailing, SOON);
  let looks = 0;
  const now = (): number => {
    looks += 1;
    return databases.now();
  };
  const waiting = createTail({ ...options, databases: { ...databases, now } });
  waiting.start();
  for (let renewal = 0; renewal < RENEWALS; renewal += 1) {
    const before = await until();
    await eventually(async () => (await until())?.getTime() !== before?.getTime(), SOON);
  }
  await waiting.stop();
  await recording.stop();
  expect(looks).toBeGreaterThan(2 * RENEWALS);
}, 120_000);

test('a lease can be taken only once it has expired, with a new generation that blocks its former holder', async () => {
  await lease.deleteMany({});
  let now = Date.now();
  const take = () => takeTailLease(lease, () => now);
  const first = await take();
  const { holder } = await row();
  expect(await row()).toMatchObject({ holder: expect.any(String), generation: 1 });
  now += 9000;
  expect(await take()).toBeUndefined();
  expect(await first!.renew({})).toMatchObject({ holder, generation: 1 });
  now += 9000;
  expect(await take()).toBeUndefined();
  now += 2000;
  const next = await take();
  expect(await first!.renew({})).toBeUndefined();
  expect(await first!.release({})).toBe(false);
  expect(await row()).toMatchObject({ generation: 2, until: new Date(now + 10_000) });
  expect((await row()).holder).not.toBe(holder);
  // a row that was restored from a backup has an earlier generation, or the same and less progress
  const at = (t: number) => new mongoose.mongo.Timestamp({ t, i: 1 });
  await next!.renew({ at: at(2000) });
  await lease.updateOne({}, { $set: { at: at(1000) } });
  expect(await next!.renew({ at: at(3000) })).toBeUndefined();
  await lease.updateOne({}, { $set: { at: at(2000), generation: 1 } });
  expect(await next!.renew({})).toBeUndefined();
});
