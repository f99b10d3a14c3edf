import { quotes } from '../../src/resources/quotes';
import { quotesOf } from '../data';
import { makeKeys } from '../keys';
import type { Call } from '../load';
import { milliseconds } from '../report/format';
import { insert, type Rig } from '../rig';
import { quantile } from '../statistics';
import { atMost, type GrowthSection } from './section';
import type { Measured, Memory } from './server';

/* An increasing number of organisations: latency of the first request to each, and the memory it leaves in use. */

export interface OrganisationCounts {
  /** Warmed up before measuring. */
  readonly few: number;
  /** The number of organisations the product keeps warm. */
  readonly warm: number;
  readonly all: number;
  /** How often the first few are called again before measuring. */
  readonly again: number;
}

interface Tenant {
  readonly key: string;
  readonly quote: string;
}

const MOST_MILLISECONDS = 20;
const MOST_MIB = 0.2;
/** Maximum memory of an organisation beyond those kept warm: a tenth of a warm one's. */
const MOST_BEYOND = 0.02;
/** Number of organisations created concurrently. */
const AT_ONCE = 4;

/** Creates organisations with one quote each, and so only the collection of quotes; the gateway queries the others too. */
export async function makeTenants(rig: Rig, count: number): Promise<Tenant[]> {
  const source = quotesOf(3, { lines: 3, perCustomer: 1 });
  const tenants: Tenant[] = [];
  const { control } = rig.store;
  const makeSome = async (): Promise<void> => {
    while (tenants.length < count) {
      const quote = source.next().value;
      const tenant = { key: '', quote: quote._id };
      tenants.push(tenant);
      const organisation = await control.organisations.create({
        name: 'Tenant',
        plan: 'integrations',
        currency: 'EUR',
      });
      await insert(rig, organisation, quotes, [quote]);
      [tenant.key] = (await makeKeys(rig.store, organisation, 1, SCOPES)) as [string];
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, makeSome));
  return tenants;
}

const SCOPES = ['quotes:read', 'products:read', 'orders:read', 'customers:read', 'requests:read'] as const;
/** Together they cover every resource of an organisation. */
const LISTS = ['quotes', 'products', 'orders', 'customers', 'requests'] as const;

/** Warms up the organisations in turn and times the first call to each. */
export async function measureOrganisations(
  server: Measured,
  tenants: readonly Tenant[],
  { few, warm, all, again }: OrganisationCounts,
): Promise<GrowthSection> {
  const first: number[] = [];
  const warmUpTo = async (count: number): Promise<Memory> => {
    for (const tenant of tenants.slice(first.length, count)) first.push(await warmOne(server, tenant));
    return server.memory();
  };
  const { pause } = await warmUpTo(few);
  // code compiled and memory allocated once must not count as an organisation's
  for (let at = 0; at < again; at += 1) {
    for (const tenant of tenants.slice(0, few)) await warmOne(server, tenant);
  }
  const begin = await server.memory();
  const full = await warmUpTo(warm);
  const end = await warmUpTo(all);
  const each = perOrganisation(begin, full, warm - few);
  const beyond = perOrganisation(full, end, all - warm);
  const cold = first.slice(few).sort((one, other) => one - other);
  const ms = { most: MOST_MILLISECONDS, show: milliseconds };
  const mib = { most: MOST_MIB, show: (value: number) => `${value.toFixed(3)} MiB` };
  return {
    title: 'Many organisations',
    method:
      `${all.toLocaleString('en')} organisations, one after another; for each one quote and the first page of its five lists are read; ` +
      `${warm.toLocaleString('en')} stay warm. A first request is a running gateway's first for an organisation. ` +
      "Memory is the server process's after a full garbage collection; the longest collection is the longest pause of collections that V8 started itself.",
    headings: ['organisations served', 'first request p50', 'p99', 'worst', 'longest collection', 'resident', 'heap'],
    rows: [
      [String(few), ...timesOf(first.slice(0, few)), ...memoryOf({ ...begin, pause })],
      [warm.toLocaleString('en'), ...timesOf(first.slice(few, warm)), ...memoryOf(full)],
      [all.toLocaleString('en'), ...timesOf(first.slice(warm)), ...memoryOf(end)],
    ],
    goals: [
      atMost('organisations/first', 'First request to a cold organisation, median', {
        ...ms,
        value: quantile(cold, 0.5),
      }),
      atMost('organisations/worst', 'First request to a cold organisation, worst', { ...ms, value: quantile(cold, 1) }),
      atMost('organisations/rss', 'A warm organisation, resident memory', { ...mib, value: each.rss }),
      atMost('organisations/heap', 'A warm organisation, heap', { ...mib, value: each.heap }),
      atMost('organisations/rss-beyond', 'An organisation beyond the warm ones, resident memory', {
        ...mib,
        most: MOST_BEYOND,
        value: beyond.rss,
      }),
      atMost('organisations/heap-beyond', 'An organisation beyond the warm ones, heap', {
        ...mib,
        most: MOST_BEYOND,
        value: beyond.heap,
      }),
    ],
  };
}

/** Returns the first call's duration in milliseconds. */
async function warmOne(server: Measured, { key, quote }: Tenant): Promise<number> {
  const call = (path: string): Call => ({
    method: 'GET',
    path: `/api/v1/${path}`,
    headers: { Authorization: `Bearer ${key}` },
  });
  const took = await server.time(call(`quotes/${quote}`));
  for (const list of LISTS) await server.time(call(list));
  return took;
}

function perOrganisation(before: Memory, after: Memory, count: number): Pick<Memory, 'rss' | 'heap'> {
  return { rss: (after.rss - before.rss) / count, heap: (after.heap - before.heap) / count };
}

function timesOf(times: readonly number[]): string[] {
  const ascending = times.toSorted((one, other) => one - other);
  return [0.5, 0.99, 1].map((share) => milliseconds(quantile(ascending, share)));
}

function memoryOf({ rss, heap, pause }: Memory): string[] {
  return [milliseconds(pause), `${rss.toFixed(0)} MiB`, `${heap.toFixed(1)} MiB`];
}
