import { type Random, seeded } from '../../faults/random';
import { firstPage } from '../../src/database/pagination';
import { withKeys } from '../calls';
import { pick } from '../data';
import type { NextCall } from '../load';
import { milliseconds } from '../report/format';
import type { Rig } from '../rig';
import { quantile, spreadOf } from '../statistics';
import { type DriverCall, driverCalls } from './driver';
import { type Grown, PAGE, type Row } from './grow';
import { atMost, type GrowthSection } from './section';
import type { Measured } from './server';

/* One organisation with an increasing number of quotes, which must not make any call slower. */

const KINDS = ['read', 'first page', 'page 1,000', 'search'] as const;
export type Kind = (typeof KINDS)[number];
const PAGES: ReadonlySet<Kind> = new Set(['first page', 'page 1,000']);

/** Maximum ratio of the largest size's latency to the smallest's. */
const MOST = 1.25;

export interface QuoteRounds {
  readonly rounds: number;
  /** Calls per kind, size and round; fewer, but at least one, if they take longer than `seconds`. */
  readonly calls: number;
  readonly seconds: number;
  /** Largest size for which pages are read; beyond it the database would block all other calls. */
  readonly pagesUpTo: number;
}

/** Durations of one kind of call at one size, in milliseconds, a list per round. */
interface Times {
  readonly face: number[][];
  readonly driver: number[][];
}

type Subject = Grown & {
  readonly face: Readonly<Record<Kind, NextCall>>;
  readonly driver: Readonly<Record<Kind, DriverCall>>;
  readonly times: Readonly<Record<Kind, Times>>;
};

/** Measures every kind of call at every size, alternating between sizes on every call, and the driver alone after each. */
export async function measureQuotes(
  rig: Rig,
  server: Measured,
  grown: readonly Grown[],
  { rounds, calls, seconds, pagesUpTo }: QuoteRounds,
): Promise<GrowthSection> {
  const subjects = grown.map((one): Subject => {
    const times = Object.fromEntries(KINDS.map((kind) => [kind, { face: [], driver: [] }]));
    return {
      ...one,
      face: faceCalls(one),
      driver: driverCalls(rig, one, PAGE),
      times: times as unknown as Subject['times'],
    };
  });
  // the first round is a warm-up
  for (let round = 0; round <= rounds; round += 1) {
    for (const kind of KINDS) {
      const asked = subjects.filter(({ size }) => !PAGES.has(kind) || size <= pagesUpTo);
      const taken = await measureRound(server, asked, kind, { calls, seconds, seed: round + 1 });
      if (round === 0) continue;
      for (const [subject, { face, driver }] of taken) {
        subject.times[kind].face.push(face);
        subject.times[kind].driver.push(driver);
      }
    }
  }
  return toSection(subjects);
}

async function measureRound(
  server: Measured,
  subjects: readonly Subject[],
  kind: Kind,
  { calls, seconds, seed }: { calls: number; seconds: number; seed: number },
): Promise<Map<Subject, { face: number[]; driver: number[] }>> {
  const random = seeded(seed);
  const taken = new Map(subjects.map((subject) => [subject, { face: [] as number[], driver: [] as number[] }]));
  for (let call = 0; call < calls; call += 1) {
    for (const [subject, { face, driver }] of taken) {
      if (sum(face) + sum(driver) > seconds * 1000) continue;
      face.push(await server.time(subject.face[kind](random, 0)));
      driver.push(await subject.driver[kind](random));
    }
  }
  return taken;
}

function faceCalls(grown: Grown): Subject['face'] {
  const headers = withKeys({ ...grown, quotes: [], customers: [], skus: [] });
  const cursors = grown.marks.map((row) => cursorBehind(row, grown.organisation.id));
  const get =
    (path: (random: Random) => string): NextCall =>
    (random) => ({ method: 'GET', path: `/api/v1/quotes${path(random)}`, headers: headers(random) });
  return {
    read: get((random) => `/${pick(random, grown.sample)._id}`),
    'first page': get(() => ''),
    'page 1,000': get((random) => `?cursor=${pick(random, cursors)}`),
    search: get((random) => `?q=${pick(random, grown.sample).number}`),
  };
}

/** The cursor returned with the page that ends with `row`. */
function cursorBehind(row: Row, organisationId: string): string {
  const request = { organisationId, operation: 'quotes', args: { limit: 1 }, filters: {} };
  const { next_cursor } = firstPage([row, row], request);
  if (next_cursor === null) throw new Error('a page that is not the last has no cursor');
  return next_cursor;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function toSection(subjects: readonly Subject[]): GrowthSection {
  const [smallest] = subjects;
  if (!smallest) throw new Error('no size was measured');
  const largestOf = (kind: Kind): Subject => subjects.findLast(({ times }) => times[kind].face.length > 0) ?? smallest;
  return {
    title: 'Growth of one organisation',
    method:
      `REST over HTTP, one call at a time, alternating between sizes on every call: ` +
      `a quote by id; the first page; the 1,000th page (or the last if there are fewer), with ${String(PAGE)} rows per page; a search for a quote's number. ` +
      'Ratios are of the medians of each round; × is the number of calls, fewer if they take long. "Driver alone" is the same query without the gateway; growth there is due to the database.',
    headings: ['p50 (p99)', ...subjects.map(({ size }) => `${thousands(size)} quotes`), 'driver alone'],
    rows: KINDS.map((kind) => [
      kind,
      ...subjects.map(({ times }) => shown(times[kind].face)),
      `${shown(smallest.times[kind].driver)} to ${shown(largestOf(kind).times[kind].driver)}`,
    ]),
    goals: KINDS.map((kind) => {
      const largest = largestOf(kind);
      const [from, to] = [smallest.times[kind], largest.times[kind]];
      const goal = atMost(
        `growth/${kind}`,
        `${kind}: p50 of ${thousands(largest.size)} to ${thousands(smallest.size)}`,
        {
          most: MOST,
          value: ratioOf(from.face, to.face),
          show: (value) => value.toFixed(2),
        },
      );
      return { ...goal, measured: `${goal.measured} (driver alone ${ratioOf(from.driver, to.driver).toFixed(2)})` };
    }),
  };
}

function ratioOf(from: readonly number[][], to: readonly number[][]): number {
  return spreadOf(to.map((times, round) => medianOf(times) / medianOf(from[round] ?? []))).median;
}

function medianOf(times: readonly number[]): number {
  return spreadOf(times).median;
}

function shown(rounds: readonly number[][]): string {
  if (rounds.length === 0) return '–';
  const ascending = rounds.flat().sort((one, other) => one - other);
  return `${milliseconds(quantile(ascending, 0.5))} (${milliseconds(quantile(ascending, 0.99))}) × ${thousands(ascending.length)}`;
}

function thousands(value: number): string {
  return value.toLocaleString('en');
}
