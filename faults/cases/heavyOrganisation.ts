import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OrganisationData } from '../../src/database/organisationData';
import { recordKinds } from '../../src/resources';
import type { ImportRecord } from '../../src/stored/records';
import { ROOT } from '../../tools/facts';
import { askBeside, askElsewhere, type Beside, describe, keepServed, PROBE_PAUSE } from '../beside';
import { labelOf, Tally } from '../client';
import type { Gateway } from '../gateway';
import { type Case, number, type Outcome, Promises } from '../outcome';
import type { Rig, Tenant } from '../rig';
import { milliseconds, quantile, sleep } from '../timing';

/** Concurrent requests of the heavy organisation, and the number of its keys. */
const [AT_ONCE, KEYS] = [64, 4];
/** How often the heavy organisation stores Northwind's orders. */
const TIMES = 6;
/**
 * Delay before a refused request is retried, in milliseconds, ± 50 % as the guide recommends: if all retried at the same
 * moment, refusing them would take 50 ms. The keys' default rate limits do not allow more.
 */
const WAIT = 1000;
/** Maximum slowdown of the other organisation's reads, in the 99th percentile. */
const SLOWER = 3;
/** Further factor for short runs, whose machine may be busy. */
const BUSY = 5;
const SLOWEST_BOUND = 5000;
const QUERIES = [
  '{ order_totals(group_by: [MONTH, CUSTOMER]) { data { month customer_id count total_minor } } }',
  '{ customers(limit: 100) { data { id name orders(limit: 100) { data { id number total_minor placed_at } } } } }',
  '{ orders(limit: 100) { data { id customer { id orders(limit: 100) { data { id number } } } } } }',
];

/** One organisation sends as many expensive queries as it can. */
export const heavyOrganisation: Case = {
  name: 'heavy-organisation',
  title: 'One organisation overloads the gateway',
  what: ({ heavySeconds }) =>
    `For ${String(heavySeconds)} s, ${number(KEYS)} keys of one organisation query totals and nested lists over ${number(TIMES * 830)} orders, ${String(AT_ONCE)} queries at once, and retry 0.5 to 1.5 s after a 503. Meanwhile a client of another organisation, in a separate process, reads single orders one after another. For comparison it does so for as long before, afterwards, and while the same totals and lists are sent directly to the database one at a time, without a gateway. Promise: the heavy organisation's queries get 200 or 503, all single reads of both organisations get 200, and the other organisation's take at most ${String(SLOWER)} times as long, in the 99th percentile, as alone or as beside the direct queries, whichever is longer.`,
  async run({ rig, scale, tell }): Promise<Outcome> {
    const [heavy, light] = [await rig.newTenant('heavy'), await rig.newTenant('light')];
    const orders = await seed(rig, heavy, TIMES);
    await seed(rig, light, 1);
    tell('orders stored');
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
    // other processes may have kept the machine busier before than afterwards
    const alone = Math.max(quantile(before.latencies, 0.99), quantile(after.latencies, 0.99));
    const promises = new Promises();
    const [done, refused] = [answers.count('200'), answers.count('503 unavailable')];
    promises.keep(done > 0 && refused > 0 && done + refused === flood.asked(), `the flood: ${answers.toString()}`);
    for (const [who, beside] of [
      ["The heavy organisation's single reads", ownReads],
      ["The other organisation's single reads", during],
      ['`livez`', live],
    ] as const)
      keepServed(promises, who, beside, SLOWEST_BOUND * scale.slack);
    promises.keep(
      p99 <= SLOWER * Math.max(alone, p99Straight) * Math.min(scale.slack, BUSY),
      `the other organisation's reads took ${milliseconds(p99)} in the 99th percentile, ${milliseconds(alone)} alone, ${milliseconds(p99Straight)} beside direct queries`,
    );
    return {
      notes: [
        `The flood: ${answers.toString()}.`,
        describe("The other organisation's single reads alone, before", before),
        describe("The other organisation's single reads during the flood", during),
        describe("The other organisation's single reads alone, afterwards", after),
        describe("The other organisation's single reads beside direct queries", straight),
        describe("The heavy organisation's single reads during the flood", ownReads),
        describe('`livez`', live),
        `99th percentile: ${(p99 / alone).toFixed(1)} times as long as alone (the slower of the two runs) and ${(p99 / p99Straight).toFixed(1)} times as long as beside direct queries, after a warm-up of ${number(warm.latencies.length)} reads.`,
      ],
      broken: promises.broken,
    };
  },
};

/**
 * Runs `work` while the flood's totals and lists are sent directly to the database, one at a time: the least load that a
 * gateway answering them at all can cause.
 */
async function besideOne<T>(rig: Rig, { organisationId }: Tenant, work: () => Promise<T>): Promise<T> {
  const { database } = await dataOf(rig, organisationId);
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
      await database
        .collection('orders')
        .aggregate([{ $group: { _id: by, count: { $sum: 1 } } }, { $sort: { _id: 1 } }])
        .toArray();
      await database
        .collection('customers')
        .aggregate([{ $limit: 100 }, { $project: { _id: 1 } }, orders])
        .toArray();
    }
  })();
  // its failure is thrown below, once the work is over
  asking.catch(() => undefined);
  try {
    return await work();
  } finally {
    over.abort();
    await asking;
  }
}

async function dataOf(rig: Rig, organisationId: string): Promise<OrganisationData> {
  const organisation = await rig.store.control.organisations.find(organisationId);
  if (!organisation) throw new Error(`organisation ${organisationId} not found`);
  return rig.store.databases.organisationData(organisation);
}

/** Stores Northwind with its orders `times` times; returns the original orders. */
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
      await data.transaction((session) => kind.store(data, records.slice(start, start + 500), session), kind.writes);
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
  // until the accepted queries are in progress and the others have been refused once
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
