import { randomUUID } from 'node:crypto';
import { recordKinds } from '../../src/resources';
import type { ImportRecord } from '../../src/stored/records';
import { labelOf, Tally } from '../client';
import type { Gateway } from '../gateway';
import { type Case, number, Promises } from '../outcome';
import { residentMiB } from '../processes';
import type { Rig, Tenant } from '../rig';
import { milliseconds, quantile, sleep } from '../timing';

/** Orders of the only customer, so that every nested page is full. */
const ORDERS = 100;
/** Lines per order: 19,900 rows with 4 lines each just fit into one answer; 50 each once crashed the process. */
const LINES = 4;
const MANY_LINES = 50;
/** Concurrent hostile queries. */
const AT_ONCE = 4;
const HEAP = 512;
/** Maximum latency of other callers during hostile queries, and during the largest allowed query, in milliseconds. */
const BESIDE_BOUND = 2000;
const BESIDE_LARGEST_BOUND = 15_000;
/** Maximum growth of the gateway's memory, in MiB: V8 keeps some of the heap it has freed. */
const MEMORY_BOUND = 300;

/** Queries of one key that are short but expensive to validate or run. */
export const queryCost: Case = {
  name: 'query-cost',
  title: 'Small but expensive queries',
  what: ({ hostileQueries }) =>
    `One key sends ${number(hostileQueries)} GraphQL queries, ${String(AT_ONCE)} at once: queries of 1.2 KB whose fragments double at each of 27 or 60 levels, on data and on the schema, and nested lists of a million rows. Then it sends the largest query allowed, 20,000 rows with ${String(LINES)} lines each, ${String(LARGEST_RUNS)} times, and the same with ${String(MANY_LINES)} lines each. Meanwhile another key reads and \`livez\` is polled, twenty times a second. The gateway has ${String(HEAP)} MiB of heap. Promise: each hostile query gets 400 before anything runs, the largest query 200, the one with ${String(MANY_LINES)} lines 400, every other request 200 within ${milliseconds(BESIDE_BOUND)} (${milliseconds(BESIDE_LARGEST_BOUND)} during the largest; a run that breaks this is repeated once, since a stall of the machine does not repeat), the gateway does not crash, and its memory afterwards is at most ${String(MEMORY_BOUND)} MiB above what it was.`,
  async run({ rig, scale, tell }) {
    const [gateway] = await rig.gateways({ NODE_OPTIONS: `--max-old-space-size=${String(HEAP)}` });
    const [heavy, light] = [await rig.newTenant('query-cost'), await rig.newTenant('query-cost-light')];
    const long = await rig.newTenant('query-cost-long');
    await storeOrders(rig, heavy.organisationId, LINES);
    await storeOrders(rig, long.organisationId, MANY_LINES);
    await gateway.call({ method: 'GET', path: '/api/v1/products?limit=5', key: light.key });
    const pid = gateway.pid();
    const before = (await residentMiB(pid)) ?? 0;

    const during = async (bound: number, work: () => Promise<Sent>): Promise<Phase> => {
      const phase = await beside(gateway, light, work);
      if (slowest(phase.others) <= bound || phase.others.failed > 0) return phase;
      // a stall of the machine does not repeat, one by the queries does
      tell(`another request took ${milliseconds(slowest(phase.others))}; once more`);
      return beside(gateway, light, work);
    };
    const hostile = await during(BESIDE_BOUND, () => sendHostile(gateway, heavy.key, scale.hostileQueries));
    tell(`hostile queries: ${hostile.result.tally.toString()}`);
    const largest = await during(BESIDE_LARGEST_BOUND, () => sendLargest(gateway, heavy.key));
    tell(`largest allowed query: ${largest.result.tally.toString()}`);
    const tooLong = await during(BESIDE_LARGEST_BOUND, () => sendLargest(gateway, long.key));
    tell(`with ${String(MANY_LINES)} lines: ${tooLong.result.tally.toString()}`);
    await sleep(2000);
    const after = (await residentMiB(pid)) ?? 0;

    const promises = new Promises();
    const refused = hostile.result.tally.count('400 invalid_request');
    promises.keep(refused === scale.hostileQueries, `hostile queries: ${hostile.result.tally.toString()}`);
    const answered = largest.result.tally.count('200');
    promises.keep(answered === LARGEST_RUNS, `the largest query: ${largest.result.tally.toString()}`);
    const refusedLong = tooLong.result.tally.count('400 invalid_request');
    promises.keep(refusedLong === LARGEST_RUNS, `with ${String(MANY_LINES)} lines: ${tooLong.result.tally.toString()}`);
    for (const [what, { others }, bound] of [
      ['hostile queries', hostile, BESIDE_BOUND],
      ['the largest query', largest, BESIDE_LARGEST_BOUND],
      ['a query whose answer would be too large', tooLong, BESIDE_LARGEST_BOUND],
    ] as const) {
      promises.keep(
        others.tally.toString().startsWith('200 ') && others.failed === 0,
        `during ${what}: ${others.tally.toString()}`,
      );
      promises.keep(slowest(others) <= bound, `during ${what} another request took ${milliseconds(slowest(others))}`);
    }
    promises.keep(gateway.isAlive() && gateway.pid() === pid, 'the gateway exited');
    promises.keep(after - before <= MEMORY_BOUND, `memory: ${mebibytes(before)} before, ${mebibytes(after)} after`);
    return {
      notes: [
        `Hostile queries: ${hostile.result.tally.toString()}; the slowest was rejected after ${milliseconds(Math.max(...hostile.result.latencies))}. Other requests: ${summary(hostile.others)}`,
        `The largest query: ${largest.result.tally.toString()}; ${milliseconds(Math.max(...largest.result.latencies))} at most, ${mebibytes(largest.result.bytes / 1024 / 1024)} each. Other requests: ${summary(largest.others)}`,
        `The same with ${String(MANY_LINES)} lines per order: ${tooLong.result.tally.toString()}; ${milliseconds(Math.max(...tooLong.result.latencies))} at most. Other requests: ${summary(tooLong.others)}`,
        `Memory: ${mebibytes(before)} before, ${mebibytes(hostile.peak)} at most during the hostile queries, ${mebibytes(largest.peak)} during the largest, ${mebibytes(tooLong.peak)} during the one that is too large, ${mebibytes(after)} after.`,
      ],
      broken: promises.broken,
    };
  },
};

const LARGEST_RUNS = 3;

/** Fragments that each spread the next twice. */
function doubling(levels: number, type: string, last: string): string {
  const fragments = Array.from({ length: levels }, (_none, level) => {
    const next = `...F${String(level + 1)}`;
    return `fragment F${String(level)} on ${type} { ${next} ${next} }`;
  });
  return `${fragments.join(' ')} fragment F${String(levels)} on ${type} { ${last} }`;
}

const HOSTILE: readonly string[] = [
  `{ quotes { ...F0 } } ${doubling(27, 'QuotePage', 'has_more')}`,
  `{ quotes { ...F0 } } ${doubling(60, 'QuotePage', 'has_more')}`,
  `{ me { ...F0 } } ${doubling(60, 'Me', 'key { id }')}`,
  `{ __schema { ...F0 } } ${doubling(60, '__Schema', 'types { name }')}`,
  `{ me { ...F0 } } ${doubling(60, 'Me', '...Missing')}`,
  '{ orders(limit: 100) { data { customer { orders(limit: 100) { data { customer { orders(limit: 100) { data { id lines { id } } } } } } } } } }',
];

const ORDER = 'id number status currency total_minor placed_at lines { id position qty }';

/** Two pages of orders, each order with its customer's orders: 20,000 rows in an answer of some 10 MiB, of the 16 that are allowed. */
const LARGEST = `{ a: orders(limit: 100) { ...Page } b: orders(limit: 100) { ...Page } }
  fragment Page on OrderPage { data { ${ORDER} customer { orders(limit: 99) { data { ${ORDER} } } } } }`;

interface Sent {
  readonly tally: Tally;
  readonly latencies: number[];
  failed: number;
  /** Length of the longest answer. */
  bytes: number;
}

function nothingSent(): Sent {
  return { tally: new Tally(), latencies: [], failed: 0, bytes: 0 };
}

async function send(sent: Sent, gateway: Gateway, path: string, key?: string, query?: string): Promise<void> {
  const body = query === undefined ? {} : { body: JSON.stringify({ query }) };
  const reply = await gateway.call({ method: query === undefined ? 'GET' : 'POST', path, key, ...body });
  const isGraphqlError = reply.kind === 'answer' && reply.status === 200 && reply.body.startsWith('{"errors"');
  sent.tally.add(isGraphqlError ? '200 with errors' : labelOf(reply));
  sent.latencies.push(reply.ms);
  if (reply.kind === 'failed' || reply.status !== 200) sent.failed += 1;
  if (reply.kind === 'answer') sent.bytes = Math.max(sent.bytes, reply.body.length);
}

async function sendHostile(gateway: Gateway, key: string, total: number): Promise<Sent> {
  const sent = nothingSent();
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < total) {
      const at = next++;
      // each query is unique, so that nothing cached from one helps the next
      await send(sent, gateway, '/graphql', key, `${HOSTILE[at % HOSTILE.length] ?? ''} #${randomUUID()}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return sent;
}

async function sendLargest(gateway: Gateway, key: string): Promise<Sent> {
  const sent = nothingSent();
  for (let run = 0; run < LARGEST_RUNS; run += 1) await send(sent, gateway, '/graphql', key, LARGEST);
  return sent;
}

/** What a load got, what others got meanwhile, and the peak memory. */
interface Phase {
  readonly result: Sent;
  readonly others: Sent;
  readonly peak: number;
}

/** Runs `work` while another key reads and `livez` is polled; returns its result, their answers and the peak memory. */
async function beside(gateway: Gateway, light: Tenant, work: () => Promise<Sent>): Promise<Phase> {
  const others = nothingSent();
  let [isOver, peak] = [false, 0];
  const ask = async (path: string, key?: string): Promise<void> => {
    while (!isOver) {
      await send(others, gateway, path, key);
      peak = Math.max(peak, (await residentMiB(gateway.pid())) ?? 0);
      await sleep(50);
    }
  };
  const asking = [ask('/api/v1/products?limit=5', light.key), ask('/livez')];
  const result = await work();
  isOver = true;
  await Promise.all(asking);
  return { result, others, peak };
}

/** Stores one customer and its orders, so that nested lists are not empty. */
async function storeOrders(rig: Rig, organisationId: string, lines: number): Promise<void> {
  const data = rig.store.databases.organisationData({ id: organisationId, cluster: 'default' });
  const at = '2026-01-05T09:00:00.000Z';
  const times = { created_at: at, updated_at: at };
  const customer = { id: randomUUID(), external_ref: 'C-1', name: 'Large', email: null, phone: null, vat_number: null };
  const line = (position: number): object => ({
    ...{ id: randomUUID(), position, line_type: 'product', description: 'A line of an order', qty: 1, uom: 'each' },
    ...{ unit_price_minor: 100, discount_pct: 0, vat_exempt: true, lead_time_days: null, sku: 'SKU-1' },
  });
  const order = (index: number): ImportRecord => ({
    ...{
      id: randomUUID(),
      number: `SO-${String(index)}`,
      status: 'placed',
      currency: 'USD',
      subtotal_minor: lines * 100,
    },
    ...{ discount_minor: 0, vat_minor: 0, shipping_minor: 0, total_minor: lines * 100, customer_id: customer.id },
    ...{ quote_id: null, customer_reference: null, placed_at: at, required_by: null, dispatched_at: null },
    ...{ delivery_address: null, ...times, lines: Array.from({ length: lines }, (_none, position) => line(position)) },
  });
  const records: Readonly<Record<string, readonly ImportRecord[]>> = {
    customers: [{ ...customer, billing_address: null, delivery_address: null, contacts: [], ...times }],
    orders: Array.from({ length: ORDERS }, (_none, index) => order(index)),
  };
  for (const kind of recordKinds) {
    const rows = records[kind.file] ?? [];
    if (rows.length > 0) await data.transaction((session) => kind.store(data, rows, session), kind.writes);
  }
}

function slowest({ latencies }: Sent): number {
  return Math.max(0, ...latencies);
}

function summary(others: Sent): string {
  return `${others.tally.toString()}, median ${milliseconds(quantile(others.latencies, 0.5))}, max ${milliseconds(slowest(others))}.`;
}

function mebibytes(value: number): string {
  return `${String(Math.round(value))} MiB`;
}
