import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { recordKinds } from '../../src/resources';
import type { ImportRecord } from '../../src/resources/records';
import { ROOT } from '../../tools/facts';
import { askBeside, askFor, describe, keepServed } from '../beside';
import { labelOf, Tally } from '../client';
import type { Gateway } from '../gateway';
import { type Case, number, type Outcome, Promises } from '../outcome';
import type { Rig, Tenant } from '../rig';
import { milliseconds, quantile, sleep } from '../timing';

/** Requests of the heavy organisation at once, over this many keys. */
const [AT_ONCE, KEYS] = [64, 4];
/** Times that the orders of Northwind are the heavy organisation's. */
const TIMES = 6;
/** How long a refused request waits before it is sent again, in milliseconds: the keys' default limits allow no more. */
const WAIT = 1000;
/** How much slower another's reads may become in the 99th percentile. */
const SLOWER = 3;
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
    `${number(KEYS)} keys of one organisation ask for totals and lists inside lists, ${String(AT_ONCE)} at once, over ${number(TIMES * 830)} orders, and ask again a second after a 503, for ${String(heavySeconds)} s. Meanwhile one client of another organisation reads single orders, one after another, as it did for as long before and afterwards. Promise: the heavy organisation is told 503 and nothing else that fails, its own single reads and the other's are all answered 200, and the other's take at most ${String(SLOWER)} times as long as alone, in the 99th percentile.`,
  async run({ rig, scale, tell }): Promise<Outcome> {
    const [heavy, light] = [await rig.newTenant('heavy'), await rig.newTenant('light')];
    const orders = await seed(rig, heavy, TIMES);
    await seed(rig, light, 1);
    tell('orders are stored');
    const [gateway] = await rig.gateways();
    const [read, time] = [orders.slice(0, 200).map(({ id }) => `/api/v1/orders/${id}`), scale.heavySeconds * 1000];
    const warm = await askFor(time / 2, gateway, read, light.key);
    const before = await askFor(time, gateway, read, light.key);
    const flood = await startFlood(rig, gateway, heavy);
    const own = askBeside(gateway, ['/api/v1/me', ...read.slice(0, 1)], heavy.key);
    const lives = askBeside(gateway, ['/livez']);
    const during = await askFor(time, gateway, read, light.key);
    const [ownReads, live] = [await own.stop(), await lives.stop()];
    const answers = await flood.stop();
    const after = await askFor(time, gateway, read, light.key);
    const p99 = quantile(during.latencies, 0.99);
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
      p99 <= SLOWER * alone * scale.slack,
      `the other's reads took ${milliseconds(p99)} in the 99th percentile, and ${milliseconds(alone)} alone`,
    );
    return {
      notes: [
        `The flood: ${answers.toString()}.`,
        describe("The other's single reads alone, before", before),
        describe("The other's single reads meanwhile", during),
        describe("The other's single reads alone, afterwards", after),
        describe("The heavy organisation's own single reads meanwhile", ownReads),
        describe('`livez`', live),
        `${(p99 / alone).toFixed(1)} times as long as alone (the slower of both times) in the 99th percentile; ${number(warm.latencies.length)} reads came first, for code to be compiled.`,
      ],
      broken: promises.broken,
    };
  },
};

/** Stores Northwind, its orders some times over; gives those of the first time. */
async function seed(rig: Rig, tenant: Tenant, times: number): Promise<ImportRecord[]> {
  const organisation = (await rig.store.control.organisations.list()).find(({ id }) => id === tenant.organisationId);
  if (!organisation) throw new Error(`there is no organisation ${tenant.organisationId}`);
  const data = rig.store.databases.organisationData(organisation);
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
      if (labelOf(reply) !== '200') await sleep(WAIT);
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
