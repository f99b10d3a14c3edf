import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { noise, type Random, seeded } from '../../faults/random';
import { listQuotes, query, readQuote, upsertProducts, withKeys } from '../calls';
import type { NextCall } from '../load';
import { milliseconds } from '../report/format';
import type { Content } from '../rig';
import { quantile } from '../statistics';
import { atMost, type GrowthGoal, type GrowthSection } from './section';
import type { Measured, Memory } from './server';
import { type Slope, slopeOf } from './slope';

/* Minutes of mixed calls, including rejected ones; memory must not grow. */

export interface SoakOptions {
  readonly minutes: number;
  /** Calls per second. */
  readonly perSecond: number;
  /** Seconds between two readings of memory. */
  readonly every: number;
}

interface Share {
  readonly percent: number;
  readonly next: NextCall;
  readonly status?: number;
}

/** Share of the run excluded from the trend, by when one-time allocations are done. */
const WARM_UP = 0.3;
/** Maximum growth in ten minutes, as a share of the mean. */
const MOST = { heap: 0.02, rss: 0.05 } as const;

function mixtureOf(content: Content): Share[] {
  const headers = withKeys(content);
  const get = (path: (random: Random) => string): NextCall => {
    return (random) => ({ method: 'GET', path: `/api/v1/${path(random)}`, headers: headers(random) });
  };
  const upsertOne = upsertProducts(content, 1);
  const retriable: NextCall = (random, connection) => {
    const call = upsertOne(random, connection);
    return { ...call, headers: { ...call.headers, 'Idempotency-Key': unique(random) } };
  };
  return [
    { percent: 35, next: readQuote(content) },
    { percent: 10, next: listQuotes(content) },
    { percent: 5, next: get((random) => `quotes?q=${String(Math.floor(random() * 6000)).padStart(7, '0')}`) },
    { percent: 15, next: query(content, 'Whole') },
    // every document is unique, like those of a client that writes values into the query
    {
      percent: 10,
      next: (random) => ({
        method: 'POST',
        path: '/graphql',
        headers: { ...headers(random), 'Content-Type': 'application/json' },
        body: JSON.stringify({ query: `{ a${unique(random)}: quotes(limit: 2) { data { id } } }` }),
      }),
    },
    { percent: 8, next: retriable },
    { percent: 2, next: upsertProducts(content, 100) },
    { percent: 5, next: get(() => `quotes/${randomUUID()}`), status: 404 },
    { percent: 5, next: get((random) => unique(random)), status: 404 },
    { percent: 5, next: get((random) => `quotes?cursor=${unique(random)}`), status: 400 },
  ];
}

function unique(random: Random): string {
  return noise(random, 16);
}

/** Sends load at a steady rate and reads the server's memory at intervals. */
export async function measureSoak(
  server: Measured,
  content: Content,
  { minutes, perSecond, every }: SoakOptions,
): Promise<GrowthSection> {
  const [random, mixture] = [seeded(11), mixtureOf(content)];
  const [latencies, looks] = [[] as number[], [] as Look[]];
  const [start, seconds] = [performance.now(), minutes * 60];
  const elapsed = (): number => (performance.now() - start) / 1000;
  const underWay = new Set<Promise<unknown>>();
  const failures: unknown[] = [];
  let sent = 0;
  for (let due = 0; due < seconds; due += 1 / perSecond) {
    const wait = due - elapsed();
    if (wait > 0) await pause(wait * 1000);
    if (due >= looks.length * every) looks.push({ at: elapsed() / 60, ...(await server.memory()) });
    const { next, status } = chosen(mixture, random);
    // products are chosen by position in the sequence, so that concurrent writes do not conflict
    const call: Promise<unknown> = server.time(next(random, sent), status).then(
      (took) => latencies.push(took),
      (error: unknown) => failures.push(error),
    );
    underWay.add(call.finally(() => underWay.delete(call)));
    sent += 1;
  }
  await Promise.all(underWay);
  // fail if no call succeeded
  if (latencies.length === 0) throw failures[0];
  const section = toSection(minutes, looks, latencies);
  return { ...section, goals: [...section.goals, failureGoal(sent, failures)] };
}

function failureGoal(sent: number, failures: readonly unknown[]): GrowthGoal {
  const first = failures.length > 0 ? `; first: ${String(failures[0]).slice(0, 200)}` : '';
  return {
    name: 'soak/failures',
    title: 'Calls with an unexpected status',
    wanted: '0',
    measured: `${String(failures.length)} of ${sent.toLocaleString('en')}${first}`,
    isMet: failures.length === 0,
  };
}

interface Look extends Memory {
  /** Minutes since the start. */
  readonly at: number;
}

function chosen(mixture: readonly Share[], random: Random): Share {
  let left = random() * 100;
  const found = mixture.find(({ percent }) => (left -= percent) < 0);
  if (!found) throw new Error('the shares of the mixture do not add up to 100 %');
  return found;
}

function toSection(minutes: number, looks: readonly Look[], latencies: readonly number[]): GrowthSection {
  const after = looks.filter(({ at }) => at >= minutes * WARM_UP);
  const slopes = (['heap', 'rss'] as const).map((name): [typeof name, Slope] => [
    name,
    slopeOf(after.map((look) => ({ at: look.at, value: look[name] }))),
  ]);
  const ascending = latencies.toSorted((one, other) => one - other);
  const perMinute = ({ slope, error }: Slope): string => `${slope.toFixed(3)} ± ${error.toFixed(3)} MiB per minute`;
  return {
    title: 'Soak',
    method:
      `${String(minutes)} minutes of reads, lists, searches, GraphQL (some documents new), writes with and without an \`Idempotency-Key\`, and rejected calls: ` +
      `${latencies.length.toLocaleString('en')} answers, p50 ${milliseconds(quantile(ascending, 0.5))}, p99 ${milliseconds(quantile(ascending, 0.99))}. ` +
      `Memory is read after a full garbage collection, ${String(looks.length)} times; the slope is a least-squares fit after the first ${String(WARM_UP * 100)} % of the run, with its standard error.`,
    headings: ['', 'start', 'after warm-up', 'middle', 'end', 'slope'],
    rows: slopes.map(([name, slope]) => [
      NAMES[name],
      ...[looks[0], after[0], after[after.length >> 1], after.at(-1)].map(
        (look) => `${(look?.[name] ?? NaN).toFixed(1)} MiB`,
      ),
      perMinute(slope),
    ]),
    goals: slopes.map(([name, slope]) =>
      atMost(`soak/${name}`, `${NAMES[name]}: growth in ten minutes`, {
        most: MOST[name],
        // growth that is not significant counts as none
        value: (Math.max(0, slope.slope - 2 * slope.error) * 10) / slope.level,
        show: (value) => `${(value * 100).toFixed(1)} %`,
      }),
    ),
  };
}

const NAMES = { heap: 'Heap', rss: 'Resident memory' } as const;
