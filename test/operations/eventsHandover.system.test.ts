import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { tailRows } from '../../src/events/tail/lease';
import { createTail, type TailOptions } from '../../src/events/tail/tail';
import { corrector } from '../../src/resources/corrector';
import { eventually } from '../api/http/eventually';
import { driver, served } from '../support/gateway';

const SOON = 30_000;
const RENEWALS = 3;

const CONTROL_DATABASE = `scopegate_handover_${randomUUID().slice(0, 8)}`;
const gateway = served({ CONTROL_DATABASE });
afterAll(() => bare.db(CONTROL_DATABASE).dropDatabase());
const bare = driver();

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
  const lease = tailRows(bare, CONTROL_DATABASE);
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
