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
import { restheart } from './restheart';
import type { Content } from './rig';

/* What is measured, and what the others are compared with. */

export interface Entry {
  /** Name in the report, if it is not the contestant's. */
  readonly label?: string;
  readonly contestant: ContestantName;
  readonly next: NextCall;
  /** Expected status of every answer; 200 by default. */
  readonly status?: number;
}

export interface Scenario {
  readonly name: string;
  readonly title: string;
  /** Whether it is a row of the report's table; the others are measured only if `--only` names them. */
  readonly isReported?: true;
  readonly connections: number;
  readonly entries: readonly Entry[];
  /** Label of the entry by whose figure those of the others are divided; Scopegate by default. */
  readonly subject?: string;
  /** The figure compared: the server's CPU time per request by default, or the median latency. */
  readonly figure?: 'cpu' | 'p50';
  /** Whether to measure latencies at half load too. */
  readonly isPaced?: boolean;
  /** Whether R0, R1 and Scopegate must return the same bytes. */
  readonly isByteEqual?: boolean;
  /** Factor on the duration, for scenarios with long calls; 1 by default. */
  readonly longer?: number;
  /** Maximum calls of each connection a second. */
  readonly maxPerSecond?: number;
}

export const SCOPEGATE = 'Scopegate';
const READ = 'Scopegate read';
const ONE_KEY = 'one key';
const RELIEVED = 'events recorded by another gateway';
const AT_ONCE = 16;

/** ETags by quote id, as returned by the servers. */
export type Tags = ReadonlyMap<string, string>;

/** All scenarios, with the peers that can be started here. */
export function scenariosOf(content: Content, tags: Tags, available: (peer: ContestantName) => boolean): Scenario[] {
  const same = (next: NextCall, ...contestants: ContestantName[]): Entry[] =>
    contestants.map((contestant) => ({ contestant, next }));
  const heart = restheart(content);
  const all: Scenario[] = [
    {
      name: 'rest-quote',
      title: 'REST: one quote with 20 lines',
      isReported: true,
      connections: AT_ONCE,
      isPaced: true,
      isByteEqual: true,
      entries: quoteEntries(content),
    },
    {
      name: 'rest-quote-alone',
      title: 'The same, one call at a time: median latency',
      isReported: true,
      connections: 1,
      figure: 'p50',
      entries: quoteEntries(content),
    },
    {
      name: 'rest-list',
      title: 'REST: a list of 50 quotes',
      isReported: true,
      connections: AT_ONCE,
      isByteEqual: true,
      entries: [
        ...same(listQuotes(content), 'node', 'fastify', 'sofa', 'scopegate'),
        ...same(listObjects(content), 'parse'),
        ...same(heart.list, 'restheart'),
      ],
    },
    {
      name: 'graphql-quote',
      title: 'GraphQL: one quote with 20 lines',
      isReported: true,
      connections: AT_ONCE,
      isByteEqual: true,
      entries: [
        ...same(query(content, 'Whole'), 'node', 'fastify', 'apollo', 'scopegate'),
        ...same(queryObject(content), 'parse'),
        ...same(heart.queryOne, 'restheart'),
      ],
    },
    {
      name: 'graphql-list',
      title: 'GraphQL: a list of 20 quotes with their lines',
      isReported: true,
      connections: AT_ONCE,
      isByteEqual: true,
      entries: [
        ...same(query(content, 'List'), 'node', 'fastify', 'apollo', 'scopegate'),
        ...same(queryObjects(content), 'parse'),
        ...same(heart.queryList, 'restheart'),
      ],
    },
    {
      name: 'etag',
      title: 'REST: one quote that has not changed (304)',
      isReported: true,
      connections: AT_ONCE,
      entries: same(readAgain(content, tags), 'node', 'fastify', 'scopegate').map((entry) => ({
        ...entry,
        status: 304,
      })),
    },
    {
      name: 'bulk',
      title: 'REST: bulk upsert of 1,000 products',
      // not in the report: where the database is slow, it measures how fast events are recorded, and ends with 503s
      // with sixteen concurrent transactions of a thousand rows, SecantusDB answers none of them for seconds
      connections: 1,
      longer: 2,
      // of an organisation 4,000 changes may wait to be recorded as events
      maxPerSecond: 2,
      entries: [
        ...same(upsertProducts(content, 1000), 'node', 'fastify', 'scopegate'),
        { label: RELIEVED, contestant: 'relieved', next: upsertProducts(content, 1000) },
      ],
    },
    {
      name: 'mixed',
      title: 'Mixed: reads 70, lists 20, writes 8, bulk writes of 100 2 %',
      isReported: true,
      connections: AT_ONCE,
      isPaced: true,
      entries: same(mixed(content), 'node', 'fastify', 'scopegate'),
    },
    {
      name: 'floor',
      title: 'REST: one quote, and the least that it can cost',
      connections: AT_ONCE,
      entries: same(readQuote(content), 'floor', 'node', 'scopegate'),
    },
    {
      name: 'floor-alone',
      title: 'REST: one quote, one call at a time, and the least that it can cost',
      connections: 1,
      figure: 'p50',
      entries: same(readQuote(content), 'floor', 'node', 'scopegate'),
    },
    {
      name: 'floor-list-alone',
      title: 'REST: a list of 50 quotes, one call at a time, and the least that it can cost',
      connections: 1,
      figure: 'p50',
      entries: same(listQuotes(content), 'floor', 'node', 'scopegate'),
    },
    {
      name: 'graphql-three',
      title: 'GraphQL: three fields of one quote',
      connections: AT_ONCE,
      isByteEqual: true,
      entries: same(query(content, 'Three'), 'node', 'fastify', 'apollo', 'scopegate'),
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
        { label: 'Scopegate bulk', contestant: 'scopegate', next: upsertProducts(content, 1000) },
        { label: RELIEVED, contestant: 'relieved', next: writeLines(content, 1000) },
      ],
    },
    {
      name: 'keys',
      title: 'REST: one quote, with one key and with 10,000 at random',
      connections: AT_ONCE,
      subject: ONE_KEY,
      entries: [
        { label: ONE_KEY, contestant: 'scopegate', next: readQuote(content, withKeys(content, 1)) },
        { label: '10,000 keys', contestant: 'scopegate', next: readQuote(content, withKeys(content, 10_000)) },
      ],
    },
    {
      name: 'mcp',
      title: 'MCP: one quote with 20 lines as a tool, and the same over REST',
      connections: AT_ONCE,
      subject: READ,
      entries: [
        { label: READ, contestant: 'scopegate', next: readQuote(content) },
        { label: 'Scopegate tool', contestant: 'scopegate', next: callQuote(content) },
      ],
    },
    {
      name: 'refused',
      title: 'REST: rejected keys, and keys over their limit',
      connections: AT_ONCE,
      subject: READ,
      entries: [
        { label: READ, contestant: 'scopegate', next: readQuote(content) },
        { label: 'unknown key', contestant: 'scopegate', next: readQuote(content, unknownKeys()), status: 401 },
        { label: 'malformed key', contestant: 'scopegate', next: readQuote(content, malformedKeys()), status: 401 },
        { label: 'over the limit', contestant: 'limited', next: readQuote(content, withKeys(content, 4)), status: 429 },
      ],
    },
  ];
  return all.map((scenario) => ({
    ...scenario,
    entries: scenario.entries.filter(({ contestant }) => available(contestant)),
  }));
}

function quoteEntries(content: Content): Entry[] {
  const next = readQuote(content);
  return [
    { contestant: 'node', next },
    { contestant: 'fastify', next },
    { contestant: 'sofa', next: readQuote(content, withKeys(content), SOFA_QUOTE) },
    { contestant: 'scopegate', next },
    { contestant: 'parse', next: readObject(content) },
    { contestant: 'restheart', next: restheart(content).quote },
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

/** The scenario with only some of its entries. */
export function withEntries(scenario: Scenario, labels: readonly string[]): Scenario {
  return { ...scenario, entries: scenario.entries.filter((entry) => labels.includes(labelOf(entry))) };
}

/** The scenario with `before` added next to Scopegate. */
export function withBefore(scenario: Scenario): Scenario {
  const own = scenario.entries.filter((entry) => labelOf(entry) === SCOPEGATE);
  return {
    ...scenario,
    entries: [...scenario.entries, ...own.map((entry): Entry => ({ ...entry, contestant: 'before' }))],
  };
}
