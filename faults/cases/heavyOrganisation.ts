import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OrganisationData } from '../../src/database/organisationData';
import { recordKinds } from '../../src/resources';
import type { ImportRecord } from '../../src/resources/common/records';
import { ROOT } from '../../tools/facts';
import { askBeside, askElsewhere, type Beside, describe, keepServed, PROBE_PAUSE } from '../beside';
import { labelOf, Tally } from '../client';
import type { Gateway } from '../gateway';
import { type Case, number, type Outcome, Promises } from '../outcome';
import type { Rig, Tenant } from '../rig';
import { milliseconds, quantile, sleep } from '../timing';

/** Requests of the heavy organisation at once, over this many keys. */
const [AT_ONCE, KEYS] = [64, 4];
/** Times that the orders of Northwind are the heavy organisation's. */
const TIMES = 6;
/**
 * How long a refused request waits before it is sent again, in milliseconds, give or take half of it, as the guide has it: all at one
 * moment their refusals alone would take 50 ms. The keys' default limits allow no more.
 */
const WAIT = 1000;
/** How much slower another's reads may become in the 99th percentile. */
const SLOWER = 3;
/** Times as much again where a run is short, and the machine may be busy. */
const BUSY = 5;
const SLOWEST_BOUND = 5000;
const QUERIES = [
  '{ order_totals(group_by: [MONTH, CUSTOMER]) { data { month customer_id count total_minor } } }',
  '{ customers(limit: 100) { data { id name orders(limit: 100) { data { id number total_minor placed_at } } } } }',
  '{ orders(limit: 100) { data { id customer { id orders(limit: 100) { data { id number } } } } } }',
];

/** One organisation that asks for all that there is. */
export const heavyOrganisation: Case = {
  name: 'heavy-organisation',
  title: 'One organisation asks for all that there is',
  what: ({ heavySeconds }) =>
    `${number(KEYS)} keys of one organisation ask for totals and lists inside lists, ${String(AT_ONCE)} at once, over ${number(TIMES * 830)} orders, and ask again half a second to one and a half after a 503, for ${String(heavySeconds)} s. Meanwhile one client of another organisation, in a process of its own, reads single orders, one after another, as it did for as long before and afterwards, and while one total or list after another was sent straight to the database, without a gateway. Promise: the heavy organisation is told 503 and nothing else that fails, its own single reads and the other's are all answered 200, and the other's take at most ${String(SLOWER)} times as long as alone, in the 99th percentile, or as beside that one at a time, where the database itself takes longer meanwhile.`,
  async run({ rig, scale, tell }): Promise<Outcome> {
    const [heavy, light] = [await rig.newTenant('heavy'), await rig.newTenant('light')];
    const orders = await seed(rig, heavy, TIMES);
    await seed(rig, light, 1);
    tell('orders are stored');
    const [gateway] = await rig.gateways();
    const [read, time] = [orders.slice(0, 200).map(({ id }) => `/api/v1/orders/${id}`), scale.heavySeconds * 1000];
    const readLight = (ms: number): Promise<Beside> => askElsewhere(ms, gateway, read, light.key);
    const warm = await readLight(time / 2);
    const before = await readLight(time);
    const straight = await besideOne(rig, heavy, () => readLight(time));
    const flood = await startFlood(rig, gateway, heavy);
    // its code is compiled once per process, not per request
    await sleep(time / 4);
    const own = askBeside(gateway, ['/api/v1/me', ...read.slice(0, 1)], heavy.key, PROBE_PAUSE);
    const lives = askBeside(gateway, ['/livez'], undefined, PROBE_PAUSE);
    const during = await readLight(time);
    const [ownReads, live] = [await own.stop(), await lives.stop()];
    const answers = await flood.stop();
    const after = await readLight(time);
    const [p99, p99Straight] = [during, straight].map(({ latencies }) => quantile(latencies, 0.99)) as [number, number];
    // the machine may have been busier with something else before than it was afterwards
    const alone = Math.max(quantile(before.latencies, 0.99), quantile(after.latencies, 0.99));
    const promises = new Promises();
    const [done, refused] = [answers.count('200'), answers.count('503 unavailable')];
    promises.keep(done > 0 && refused > 0 && done + refused === flood.asked(), `the flood: ${answers.toString()}`);
    for (const [who, beside] of [
      ["The heavy organisation's own single reads", ownReads],
      ["The other's single reads", during],
      ['`livez`', live],
    ] as const)
      keepServed(promises, who, beside, SLOWEST_BOUND * scale.slack);
    promises.keep(
      p99 <= SLOWER * Math.max(alone, p99Straight) * Math.min(scale.slack, BUSY),
      `the other's reads took ${milliseconds(p99)} in the 99th percentile, ${milliseconds(alone)} alone, ${milliseconds(p99Straight)} beside one at a time without a gateway`,
    );
    return {
      notes: [
        `The flood: ${answers.toString()}.`,
        describe("The other's single reads alone, before", before),
        describe("The other's single reads meanwhile", during),
        describe("The other's single reads alone, afterwards", after),
        describe("The other's single reads beside one at a time straight to the database", straight),
        describe("The heavy organisation's own single reads meanwhile", ownReads),
        describe('`livez`', live),
        `${(p99 / alone).toFixed(1)} times as long as alone (the slower of both times) in the 99th percentile, and ${(p99 / p99Straight).toFixed(1)} times as long as beside one at a time; ${number(warm.latencies.length)} reads came first, for code to be compiled.`,
      ],
      broken: promises.broken,
    };
  },
};

/**
 * Does work while the flood's totals and lists are asked of the database one after another, without a gateway: less than
 * that a gateway that answers them at all cannot ask for.
 */
async function besideOne<T>(rig: Rig, { organisationId }: Tenant, work: () => Promise<T>): Promise<T> {
  const { connection } = await dataOf(rig, organisationId);
  const by = { month: { $dateToString: { date: '$placed_at', format: '%Y-%m' } }, customer_id: '$customer_id' };
  const orders = {
    $lookup: {
      from: 'orders',
      localField: '_id',
      foreignField: 'customer_id',
      pipeline: [{ $sort: { created_at: -1, _id: -1 } }, { $limit: 101 }],
      as: 'rows',
    },
  };
  const over = new AbortController();
  const asking = (async () => {
    while (!over.signal.aborted) {
      await connection
        .collection('orders')
        .aggregate([{ $group: { _id: by, count: { $sum: 1 } } }, { $sort: { _id: 1 } }])
        .toArray();
      await connection
        .collection('customers')
        .aggregate([{ $limit: 100 }, { $project: { _id: 1 } }, orders])
        .toArray();
    }
  })();
  // a failure of it is told below, once the work is over
  asking.catch(() => undefined);
  try {
    return await work();
  } finally {
    over.abort();
    await asking;
  }
}

async function dataOf(rig: Rig, organisationId: string): Promise<OrganisationData> {
  const organisation = (await rig.store.control.organisations.list()).find(({ id }) => id === organisationId);
  if (!organisation) throw new Error(`there is no organisation ${organisationId}`);
  return rig.store.databases.organisationData(organisation);
}

/** Stores Northwind, its orders some times over; gives those of the first time. */
async function seed(rig: Rig, tenant: Tenant, times: number): Promise<ImportRecord[]> {
  const data = await dataOf(rig, tenant.organisationId);
  const files = new Map(recordKinds.map((kind) => [kind.file, northwind(kind.file)]));
  const orders = files.get('orders') ?? [];
  for (const kind of recordKinds) {
    const records = [...(files.get(kind.file) ?? [])];
    for (let time = 1; kind.file === 'orders' && time < times; time += 1) {
      records.push(
        ...orders.map((one) => ({ ...one, id: randomUUID(), number: `${String(one.number)}-${String(time)}` })),
      );
    }
    for (let start = 0; start < records.length; start += 500) {
      await data.transaction((session) => kind.store(data, records.slice(start, start + 500), session));
    }
  }
  return orders;
}

function northwind(file: string): ImportRecord[] {
  const lines = readFileSync(join(ROOT, 'examples', 'northwind', `${file}.ndjson`), 'utf8').trim();
  return lines.split('\n').map((line) => JSON.parse(line) as ImportRecord);
}

interface Flood {
  readonly asked: () => number;
  stop(): Promise<Tally>;
}

async function startFlood(rig: Rig, gateway: Gateway, { organisationId }: Tenant): Promise<Flood> {
  const keys = await Promise.all(Array.from({ length: KEYS }, () => rig.newKey(organisationId)));
  const tally = new Tally();
  let [asked, isOver] = [0, false];
  const ask = async (at: number): Promise<void> => {
    const body = JSON.stringify({ query: QUERIES[at % QUERIES.length] });
    while (!isOver) {
      const reply = await gateway.call({ method: 'POST', path: '/graphql', key: keys[at % KEYS]?.key, body });
      asked += 1;
      tally.add(labelOf(reply));
      if (labelOf(reply) !== '200') await sleep(WAIT * (0.5 + Math.random()));
    }
  };
  const asking = Promise.all(Array.from({ length: AT_ONCE }, (_none, at) => ask(at)));
  // until those that are carried out are under way, and the others refused for the first time
  await sleep(WAIT);
  return {
    asked: () => asked,
    async stop() {
      isOver = true;
      await asking;
      return tally;
    },
  };
}
