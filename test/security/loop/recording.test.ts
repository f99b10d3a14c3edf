import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import type { Organisation } from '../../../src/auth/principal';
import { databaseName } from '../../../src/mongo/databaseNames';
import { type EventRow, events } from '../../../src/events/collection';
import { tailRows } from '../../../src/events/tail/lease';
import { createTail } from '../../../src/events/tail/tail';
import { runAdmitted } from '../../../src/stored/unrecorded';
import { corrector } from '../../../src/resources/corrector';
import { eventually } from '../../api/http/eventually';
import { callerOf, makeOrganisation } from '../../support/factories';
import { driver, served } from '../../support/gateway';
import { hold } from '../../support/hold';

/* How far one organisation's bulk calls can delay another organisation's events. Counted, since time would be the machine's. */

const SOON = 30_000;
const CALLERS = 6;
const CHANGES = 100;
/** Changes that a call of a third organisation has in progress, so that fewer have to be stored. */
const ELSEWHERE = 7200;
/** Changes of one organisation that may wait to be recorded (half of 8,000 that others leave), and the call that reaches that number. */
const MOST = (8000 - ELSEWHERE) / 2 + CHANGES - 1;

const CONTROL_DATABASE = `scopegate_recording_${randomUUID().slice(0, 8)}`;
const gateway = served({ CONTROL_DATABASE });
afterAll(() => bare.db(CONTROL_DATABASE).dropDatabase());
const bare = driver();

const rowsOf = ({ id }: Organisation) => bare.db(databaseName(id)).collection<EventRow>(events.name);

test('before the event of another organisation, only a few calls of a flood are recorded', async () => {
  const lease = tailRows(bare, CONTROL_DATABASE);
  await lease.deleteMany({});
  const log = hold();
  const { databases, control } = gateway;
  // as on a busy database, which records nothing for a while
  const tail = createTail({
    databases,
    corrector,
    feeds: control.feeds,
    onWritten: () => undefined,
    onStored: () => log.held,
    onBegun: () => Promise.resolve(),
    onRestored: () => undefined,
    logger: pino({ enabled: false }),
  });
  tail.start();
  await eventually(async () => (await lease.findOne({ _id: 'tail' }))?.token, SOON);
  const [flooding, other] = [await makeOrganisation(gateway), await makeOrganisation(gateway)];
  const [flood, caller] = [await callerOf(gateway, flooding), await callerOf(gateway, other)];
  const third = databases.organisationData(await makeOrganisation(gateway));
  const elsewhere = hold();
  const running = runAdmitted({ data: third, events: {} as never }, ELSEWHERE, () => elsewhere.held);

  let stored = 0;
  const call = async (prefix: string): Promise<number> => {
    const products = Array.from({ length: CHANGES }, (_none, n) => ({
      sku: `${prefix}-${String(n)}`,
      name: randomUUID(),
    }));
    const { status, body } = await flood.post('/products/bulk', { products });
    if (status === 200) stored += CHANGES;
    else expect(body).toMatchObject({ status: 503, code: 'unavailable' });
    return status;
  };
  const untilRefused = async (_none: unknown, n: number): Promise<void> => {
    while ((await call(String(n))) === 200);
  };
  await Promise.all(Array.from({ length: CALLERS }, untilRefused));
  expect(stored).toBeGreaterThan(0);
  expect(stored).toBeLessThanOrEqual(MOST);

  expect((await caller.post('/products/bulk', { products: [{ sku: 'ONE', name: 'One' }] })).status).toBe(200);
  log.letGo();
  const { _id: own } = await eventually(() => rowsOf(other).findOne({}), SOON);
  // the rows of two organisations are stored side by side
  const before = (): Promise<number> => rowsOf(flooding).countDocuments({ _id: { $lt: own } });
  await eventually(async () => (await before()) === stored || undefined, SOON);
  // and the flood goes on when it has been recorded
  await eventually(async () => (await call('again')) === 200 || undefined, SOON);
  await tail.stop();
  elsewhere.letGo();
  await running;
});
