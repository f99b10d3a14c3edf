import { randomUUID } from 'node:crypto';
import { type LeaseRow, createLeases } from '../../src/mongo/lease';
import { createEndpointLeases } from '../../src/organisations/webhookLeases';
import type { EndpointRow } from '../../src/organisations/webhookRows';
import { driver, late } from '../support/gateway';

/* Leases of rows by several gateways. */

interface Row extends LeaseRow {
  readonly step?: string;
  readonly made: number;
}

const LASTS = 1000;
const DATABASE = `scopegate_lease_${randomUUID().slice(0, 8)}`;
afterAll(() => bare.db(DATABASE).dropDatabase());
const bare = driver();
const rows = late(() => Promise.resolve(bare.db(DATABASE).collection<Row>('rows')));
let time = Date.now();
const gateway = () => createLeases(rows, LASTS, () => time);

beforeEach(async () => {
  await rows.deleteMany({});
  await rows.insertMany(['a', 'b'].map((_id, made) => ({ _id, made, holder: null, until: new Date(0) })));
});

test('of many gateways that take a lease at once one gets it, and then nobody before it ends', async () => {
  const taken = await Promise.all(Array.from({ length: 8 }, () => gateway().take({ _id: 'a' })));
  expect(taken.filter(Boolean)).toHaveLength(1);
  time += LASTS - 1;
  expect(await gateway().take({ _id: 'a' })).toBeUndefined();
  time += 1;
  const next = await gateway().take({ _id: 'a' });
  expect(next!.holder).not.toBe(taken.find(Boolean)!.holder);
});

test('a lease is of the first free row in an order, with what else is to be stored', async () => {
  const [one, other] = [gateway(), gateway()];
  const last = { sort: { made: -1 } } as const;
  expect(await one.take({}, { $set: { step: 'begun' } }, last)).toMatchObject({ _id: 'b', step: 'begun' });
  expect(await other.take({}, {}, last)).toMatchObject({ _id: 'a' });
  expect(await one.take({}, {}, last)).toBeUndefined();
});

test('a renewal lasts from now, and a holder that lost its lease stores nothing', async () => {
  const [one, other] = [gateway(), gateway()];
  const { holder } = (await one.take({ _id: 'a' }))!;
  time += LASTS - 1;
  expect(await one.renew({ _id: 'a', holder }, { $set: { step: 'first' } })).toMatchObject({ step: 'first' });
  time += LASTS - 1;
  expect(await other.take({ _id: 'a' })).toBeUndefined();
  time += 1;
  const next = (await other.take({ _id: 'a' }))!;
  expect(await one.renew({ _id: 'a', holder }, { $set: { step: 'late' } })).toBeUndefined();
  expect(await one.release({ _id: 'a', holder }, { $set: { step: 'late' } })).toBe(false);
  expect(await rows.findOne({ _id: 'a' })).toEqual(next);
});

test('an endpoint whose lease was lost is not due again when it is given back', async () => {
  const endpoints = bare.db(DATABASE).collection<EndpointRow>('endpoints');
  const due = new Date(time);
  await endpoints.insertOne({
    _id: 'e',
    organisation_id: 'o',
    holder: null,
    until: new Date(0),
    due,
    wakes: 0,
  } as never);
  const leases = createEndpointLeases(endpoints, () => time);
  const lost = (await leases.take('e'))!;
  time += 60_000;
  const next = (await leases.take('e'))!;
  expect(await leases.release(lost, {}, { due })).toBe(false);
  // woken meanwhile
  await endpoints.updateOne({ _id: 'e' }, { $inc: { wakes: 1 } });
  expect(await leases.release(next, {}, {})).toBe(true);
});

test('a lease that is given back is free at once, or from the time on that its holder says', async () => {
  const one = gateway();
  const first = (await one.take({ _id: 'a' }))!;
  const until = new Date(time + 5 * LASTS);
  expect(await one.release({ _id: 'a', holder: first.holder }, {}, { until })).toBe(true);
  expect(await one.renew({ _id: 'a', holder: first.holder })).toBeUndefined();
  time += 5 * LASTS - 1;
  expect(await one.take({ _id: 'a' })).toBeUndefined();
  time += 1;
  const { holder } = (await one.take({ _id: 'a' }))!;
  expect(await one.release({ _id: 'a', holder }, { $set: { step: 'done' } })).toBe(true);
  expect(await gateway().take({ _id: 'a' })).toMatchObject({ step: 'done' });
});
