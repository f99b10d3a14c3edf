import { DEFAULT_KEY_PREFIX, generateKey } from '../src/auth/keys';
import {
  callQuote,
  listQuotes,
  mixed,
  query,
  readAgain,
  readQuote,
  SOFA_QUOTE,
  upsertProducts,
  withKeys,
  writeLines,
} from './calls';
import type { ContestantName } from './contestants';
import { pick } from './data';
import type { NextCall } from './load';
import { listObjects, queryObject, queryObjects, readObject } from './parse';
import type { Content } from './rig';

/* What is measured, and which figures are compared. */

export interface Entry {
  /** Name in the report, if it is not the contestant's. */
  readonly label?: string;
  readonly contestant: ContestantName;
  readonly next: NextCall;
  /** Expected status of every answer; 200 by default. */
  readonly status?: number;
}

/** The other's CPU time or latency divided by the subject's, or the subject's rate divided by the other's. */
export interface Comparison {
  readonly figure: 'cpu' | 'rate' | 'p50' | 'p99';
  /** Label of an entry. */
  readonly subject: string;
  readonly against: string;
}

/** Figures of Scopegate, or of another subject, compared with those of another server. */
function compare(against: string, figures: readonly Comparison['figure'][], subject = SCOPEGATE): Comparison[] {
  return figures.map((figure) => ({ figure, subject, against }));
}

export interface Scenario {
  readonly name: string;
  readonly title: string;
  readonly connections: number;
  readonly entries: readonly Entry[];
  readonly comparisons: readonly Comparison[];
  /** Whether to measure latencies at half load too. */
  readonly isPaced?: boolean;
  /** Whether R0, R1 and Scopegate must return the same bytes. */
  readonly isByteEqual?: boolean;
  /** Factor on the duration, for scenarios with long calls; 1 by default. */
  readonly longer?: number;
  /** Maximum calls of each connection a second. */
  readonly maxPerSecond?: number;
}

const SCOPEGATE = 'Scopegate';
const READ = 'Scopegate read';
const [ONE_KEY, MANY_KEYS, UNKNOWN, MALFORMED, LIMITED] = [
  'one key',
  '10,000 keys',
  'unknown key',
  'malformed key',
  'over the limit',
];
const TOOL = 'Scopegate tool';
const BULK = 'Scopegate bulk';
const RELIEVED = 'Scopegate, events recorded by another';
const [PARSE, PARSE_REST] = ['Parse Server 9', 'Parse Server 9, REST'];
const AT_ONCE = 16;

/** ETags by quote id, as returned by the servers. */
export type Tags = ReadonlyMap<string, string>;

export function scenariosOf(content: Content, tags: Tags, withParse: boolean): Scenario[] {
  const same = (next: NextCall, ...contestants: ContestantName[]): Entry[] =>
    contestants.map((contestant) => ({ contestant, next }));
  const parse = (next: NextCall, label = PARSE): Entry[] => (withParse ? [{ contestant: 'parse', label, next }] : []);
  const toParse = (against = PARSE): Comparison[] => (withParse ? compare(against, ['cpu', 'rate']) : []);
  return [
    {
      name: 'rest-quote',
      title: 'REST: one quote with 20 lines',
      connections: AT_ONCE,
      isPaced: true,
      isByteEqual: true,
      entries: [
        ...same(readQuote(content), 'floor', 'node', 'fastify', 'scopegate'),
        ...same(readQuote(content, withKeys(content), SOFA_QUOTE), 'sofa'),
        ...parse(readObject(content)),
      ],
      comparisons: [
        ...compare('node', ['cpu', 'rate', 'p50', 'p99']),
        ...compare('floor', ['cpu']),
        ...compare('sofa', ['cpu']),
        ...toParse(),
      ],
    },
    {
      name: 'rest-quote-alone',
      title: 'REST: one quote with 20 lines, one connection',
      connections: 1,
      entries: same(readQuote(content), 'floor', 'node', 'scopegate'),
      comparisons: [...compare('node', ['cpu', 'rate', 'p50']), ...compare('floor', ['p50'])],
    },
    {
      name: 'rest-list',
      title: 'REST: a list of 50 quotes',
      connections: AT_ONCE,
      isPaced: true,
      isByteEqual: true,
      entries: [
        ...same(listQuotes(content), 'floor', 'node', 'fastify', 'sofa', 'scopegate'),
        ...parse(listObjects(content, false)),
      ],
      comparisons: [
        ...compare('node', ['cpu', 'p50', 'p99']),
        ...compare('floor', ['cpu']),
        ...compare('sofa', ['cpu']),
      ],
    },
    {
      name: 'graphql-quote',
      title: 'GraphQL: one complete quote with 20 lines',
      connections: AT_ONCE,
      isPaced: true,
      isByteEqual: true,
      entries: [
        ...same(query(content, 'Whole'), 'node', 'fastify', 'apollo', 'scopegate'),
        ...parse(queryObject(content)),
      ],
      comparisons: [...compare('node', ['cpu', 'p50', 'p99']), ...compare('apollo', ['cpu']), ...toParse()],
    },
    {
      name: 'graphql-three',
      title: 'GraphQL: three fields of one quote',
      connections: AT_ONCE,
      isByteEqual: true,
      entries: same(query(content, 'Three'), 'node', 'fastify', 'apollo', 'scopegate'),
      comparisons: compare('node', ['cpu']),
    },
    {
      name: 'graphql-list',
      title: 'GraphQL: a list of 20 quotes with their lines',
      connections: AT_ONCE,
      isByteEqual: true,
      entries: [
        ...same(query(content, 'List'), 'node', 'apollo', 'scopegate'),
        ...parse(queryObjects(content)),
        ...parse(listObjects(content, true), PARSE_REST),
      ],
      comparisons: [...compare('node', ['cpu']), ...compare('apollo', ['cpu']), ...toParse(), ...toParse(PARSE_REST)],
    },
    {
      name: 'bulk',
      title: 'REST: bulk upsert of 1,000 products, all changed',
      // with sixteen concurrent transactions of a thousand rows, SecantusDB answers none of them for seconds
      connections: 1,
      longer: 4,
      // of an organisation 4,000 changes may wait to be recorded as events
      maxPerSecond: 2,
      entries: [
        ...same(upsertProducts(content, 1000), 'node', 'scopegate'),
        { label: RELIEVED, contestant: 'relieved', next: upsertProducts(content, 1000) },
      ],
      comparisons: [...compare('node', ['cpu']), ...compare('node', ['cpu'], RELIEVED)],
    },
    {
      name: 'feed',
      title: 'Operator: a stream of 1,000 changed products, and the same in bulk',
      connections: 1,
      longer: 4,
      maxPerSecond: 2,
      entries: [
        ...same(upsertProducts(content, 1000), 'node'),
        ...same(writeLines(content, 1000), 'scopegate'),
        { label: BULK, contestant: 'scopegate', next: upsertProducts(content, 1000) },
        { label: RELIEVED, contestant: 'relieved', next: writeLines(content, 1000) },
      ],
      comparisons: [...compare('node', ['cpu']), ...compare(BULK, ['cpu']), ...compare('node', ['cpu'], RELIEVED)],
    },
    {
      name: 'keys',
      title: 'REST: one quote, with one key and with 10,000 at random',
      connections: AT_ONCE,
      entries: [
        { label: ONE_KEY, contestant: 'scopegate', next: readQuote(content, withKeys(content, 1)) },
        { label: MANY_KEYS, contestant: 'scopegate', next: readQuote(content, withKeys(content, 10_000)) },
      ],
      comparisons: compare(ONE_KEY, ['cpu', 'rate'], MANY_KEYS),
    },
    {
      name: 'etag',
      title: 'REST: one quote that has not changed (304)',
      connections: AT_ONCE,
      entries: same(readAgain(content, tags), 'node', 'scopegate').map((entry) => ({ ...entry, status: 304 })),
      comparisons: compare('node', ['cpu']),
    },
    {
      name: 'mcp',
      title: 'MCP: one quote with 20 lines as a tool, and the same over REST',
      connections: AT_ONCE,
      entries: [
        { label: READ, contestant: 'scopegate', next: readQuote(content) },
        { label: TOOL, contestant: 'scopegate', next: callQuote(content) },
      ],
      comparisons: compare(READ, ['cpu'], TOOL),
    },
    {
      name: 'refused',
      title: 'REST: rejected keys, and keys over their limit',
      connections: AT_ONCE,
      entries: [
        { label: READ, contestant: 'scopegate', next: readQuote(content) },
        { label: UNKNOWN, contestant: 'scopegate', next: readQuote(content, unknownKeys()), status: 401 },
        { label: MALFORMED, contestant: 'scopegate', next: readQuote(content, malformedKeys()), status: 401 },
        { label: LIMITED, contestant: 'limited', next: readQuote(content, withKeys(content, 4)), status: 429 },
      ],
      comparisons: [UNKNOWN, MALFORMED, LIMITED].flatMap((subject) => compare(READ, ['rate'], subject)),
    },
    {
      name: 'mixed',
      title: 'Mixed: 70 % reads, 20 % lists, 8 % single writes, 2 % bulk writes of 100',
      connections: AT_ONCE,
      isPaced: true,
      entries: same(mixed(content), 'node', 'scopegate'),
      comparisons: compare('node', ['cpu', 'rate', 'p50', 'p99']),
    },
  ];
}

/** Well-formed keys that do not exist, as from callers that keep sending them. */
function unknownKeys(): ReturnType<typeof withKeys> {
  const keys = Array.from({ length: 4 }, () => generateKey(DEFAULT_KEY_PREFIX, '').key);
  return (random) => ({ Authorization: `Bearer ${pick(random, keys)}` });
}

function malformedKeys(): ReturnType<typeof withKeys> {
  return (random) => ({ Authorization: `Bearer ${DEFAULT_KEY_PREFIX}${String(random())}` });
}

export function labelOf({ label, contestant }: Entry): string {
  return label ?? (contestant === 'scopegate' ? SCOPEGATE : contestant);
}

/** The scenario with only some of its entries, and the comparisons between them. */
export function withEntries(scenario: Scenario, labels: readonly string[]): Scenario {
  const entries = scenario.entries.filter((entry) => labels.includes(labelOf(entry)));
  const comparisons = scenario.comparisons.filter(({ subject, against }) =>
    [subject, against].every((label) => labels.includes(label)),
  );
  return { ...scenario, entries, comparisons };
}

/** The scenario with `before` added next to Scopegate. */
export function withBefore(scenario: Scenario): Scenario {
  const own = scenario.entries.filter((entry) => labelOf(entry) === SCOPEGATE);
  const before = own.map((entry): Entry => ({ ...entry, contestant: 'before' }));
  const comparisons = before.length > 0 ? compare('before', ['cpu']) : [];
  return {
    ...scenario,
    entries: [...scenario.entries, ...before],
    comparisons: [...scenario.comparisons, ...comparisons],
  };
}
