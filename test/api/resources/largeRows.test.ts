import { customers } from '../../../src/resources/customers/customers';
import type { Answer, Client, Json } from '../../support/client';
import { callerOf, makeOrganisation } from '../../support/factories';
import { startGateway, type TestGateway } from '../../support/gateway';
import { recordCommands } from '../../support/recordedCommands';

/* Rows that do not fit into one answer of the database, by members that the API does not show. */

const MIB = 1024 * 1024;

// a request may read four times as much: all rows once, but not twice
jest.mock('../../../src/units', () => ({
  ...jest.requireActual<object>('../../../src/units'),
  MAX_ANSWER: 5 * 1024 * 1024,
}));
const ROWS = 60;
const ROW = 300 * 1024;
/** What one command should read (mongo/readRows.ts), and one row more. */
const MAX_REPLY = 2 * MIB + ROW;

let gateway: TestGateway;
let caller: Client;
let recorded: Awaited<ReturnType<typeof recordCommands>>;
const refs = Array.from({ length: ROWS }, (_, at) => `L${String(at).padStart(2, '0')}`);

beforeAll(async () => {
  recorded = await recordCommands();
  gateway = await startGateway({ MONGODB_URI: recorded.proxy.uri });
  const organisation = await makeOrganisation(gateway);
  caller = await callerOf(gateway, organisation);
  // two have the same name, so that pages continue by id too
  const elements = refs.map((external_ref, at) => ({ external_ref, name: `Large ${String(at >> 1)}` }));
  expect((await caller.post('/customers/bulk', { customers: elements })).body).toMatchObject({ created: ROWS });
  await gateway.databases
    .organisationData(organisation)
    .collection(customers)
    .updateMany({}, { $set: { blob: 'x'.repeat(ROW) } as never });
});
afterAll(async () => {
  await gateway.stop();
  await recorded.proxy.close();
});

const finds = (): number => recorded.sent.filter(({ find }) => find === 'customers').length;

/** A page of whole rows, which an ETag is made of. */
async function page(sort: string, limit: number, cursor?: string): Promise<Json> {
  const query = `query ($cursor: String) {
    customers(sort: "${sort}", limit: ${String(limit)}, cursor: $cursor) { data { id external_ref etag } has_more next_cursor }
  }`;
  return (await caller.graphql(query, { cursor })).body.data.customers;
}

test.each(['created_at', '-name', 'name'])('a page by %s is whole and in order, read in pieces', async (sort) => {
  const expected = await page(sort, 20);
  const first = await page(sort, 59);
  const before = finds();
  const again = await page(sort, 59);
  expect(finds() - before).toBeGreaterThanOrEqual(Math.ceil((ROWS * ROW) / MAX_REPLY));
  for (const { data, has_more } of [first, again]) {
    expect(has_more).toBe(true);
    expect(new Set(data.map(({ id }: Json) => id)).size).toBe(59);
    expect(data.slice(0, 20)).toEqual(expected.data);
  }
  const rest = await page(sort, 59, again.next_cursor);
  expect(rest).toMatchObject({ has_more: false, next_cursor: null });
  expect([...again.data, ...rest.data].map(({ external_ref }: Json) => external_ref).sort()).toEqual(refs);
});

test('a list on REST reads what it shows alone once rows are known to be large', async () => {
  const ask = async (): Promise<Json> => (await caller.get('/customers', { sort: 'name', limit: 59 })).body;
  const first = await ask();
  const before = finds();
  expect(await ask()).toEqual(first);
  expect([first.data.length, finds() - before]).toEqual([59, 1]);
});

test('lists whose rows are together more than a request may read are refused', async () => {
  const list = (name: string, sort: string): string =>
    `${name}: customers(limit: 59, sort: "${sort}") { data { etag } }`;
  const one = await caller.graphql(`{ ${list('a', 'name')} }`);
  expect(one.body.data.a.data).toHaveLength(59);
  const { status, body } = await caller.graphql(`{ ${list('a', 'name')} ${list('b', '-name')} }`);
  expect([status, body.errors[0].message]).toEqual([
    400,
    expect.stringContaining('would read more than 20 MiB from the database'),
  ]);
});

test('a bulk call finds all, read in pieces', async () => {
  const elements = [...refs, 'new'].map((external_ref) => ({ external_ref, name: 'New' }));
  const run = (): Promise<Answer> => caller.post('/customers/bulk', { customers: elements, dry_run: true });
  // their size is known from then on
  await run();
  const before = finds();
  const call = await run();
  expect(call.body).toMatchObject({ created: 1, updated: ROWS, failed: 0 });
  expect(call.body.results.map(({ external_ref }: Json) => external_ref)).toEqual([...refs, 'new']);
  expect(finds() - before).toBeGreaterThanOrEqual(Math.ceil((ROWS * ROW) / MAX_REPLY));
});

test('an atomic bulk call whose last piece has a fault stores nothing', async () => {
  const faulty = [...refs.map((external_ref) => ({ external_ref, phone: '1' })), { external_ref: 'none' }];
  const call = await caller.post('/customers/bulk', { customers: faulty, atomic: true });
  expect([call.status, call.body.errors]).toEqual([
    422,
    [expect.objectContaining({ pointer: `/customers/${String(ROWS)}/name` })],
  ]);
  const { data } = (await caller.get('/customers', { limit: 100 })).body;
  expect(data.filter(({ phone }: Json) => phone !== null)).toEqual([]);
});
