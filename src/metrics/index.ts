import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { RateLimiter } from '../access/rateLimit';
import type { PoolUse } from '../database/pools';
import { operationLabel } from './labels';
import { tally } from './tally';

/** Which part of the gateway answered. */
export type Face = 'rest' | 'graphql' | 'pages' | 'settings' | 'operation';

/** Where limits are counted: in this process, in the shared store, or here because the shared store is away. */
export type LimiterStore = 'memory' | 'shared' | 'degraded';

/** Why a request was refused with 503 before it was carried out: too many wait for the database, or are its organisation's, or bodies take too much. */
export type ShedReason = 'database' | 'organisation' | 'bodies';

/** State of a key that a request came with; `malformed` stands for a missing one too. */
export type KeyState = 'live' | 'revoked' | 'expired' | 'unknown' | 'malformed';

export interface FinishedRequest {
  readonly face: Face;
  /** Names of the root fields that were asked for, as the log has them. */
  readonly operation: string | undefined;
  /** HTTP status; 499 where the caller left before the answer. */
  readonly status: number;
  readonly seconds: number;
}

export interface Metrics {
  requestFinished(request: FinishedRequest): void;
  requestShed(reason: ShedReason): void;
  readonly connectionDropped: () => void;
  /** A request that never became one: malformed, too large, or too slow. */
  connectionRefused(status: number): void;
  keyFound(state: KeyState): void;
  /** The same limiter, its decisions counted. */
  counted(name: 'key' | 'user' | 'address', limiter: RateLimiter): RateLimiter;
  limiterStore(state: LimiterStore): void;
  readonly contentType: string;
  /** Everything in the text format of Prometheus. */
  render(): Promise<string>;
}

export interface MetricsOptions {
  /** Names of the root fields of the schema: no other name becomes a label. */
  readonly operations: readonly string[];
  /** Use of each cluster's connections at this moment. */
  readonly pools: () => readonly PoolUse[];
  readonly openConnections: () => number;
  readonly requestsInHand: () => number;
  /** Memory that bodies take. */
  readonly bodyBytes: () => number;
}

/** From a read that found its turn to a bulk call, in seconds. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** What one gateway tells of itself, in a registry of its own: several run in one process under test. Keys and organisations are no labels. */
export function createMetrics(options: MetricsOptions): Metrics {
  const { operations, pools, openConnections, requestsInHand, bodyBytes } = options;
  const registry = new Registry();
  const registers = [registry];
  const label = operationLabel(operations);
  collectDefaultMetrics({ register: registry });

  const requests = tally(registry, {
    name: 'scopegate_http_requests_total',
    help: 'Requests answered, by operation, face and HTTP status (499: the caller left first).',
    labelNames: ['operation', 'face', 'status'],
  });
  const durations = new Histogram({
    name: 'scopegate_http_request_duration_seconds',
    help: 'Time from the head of a request to the end of its answer.',
    labelNames: ['operation', 'face'] as const,
    buckets: BUCKETS,
    registers,
  });
  const shed = new Counter({
    name: 'scopegate_http_requests_shed_total',
    help: 'Requests refused with 503 by reason: too many wait (database), too many of one organisation (organisation), bodies take too much memory (bodies).',
    labelNames: ['reason'] as const,
    registers,
  });
  const dropped = new Counter({
    name: 'scopegate_http_connections_dropped_total',
    help: 'Connections closed at once since MAX_CONNECTIONS were open.',
    registers,
  });
  const refused = new Counter({
    name: 'scopegate_http_connections_refused_total',
    help: 'Connections closed for a malformed, too large or too slow request, by HTTP status.',
    labelNames: ['status'] as const,
    registers,
  });
  gauge('scopegate_http_connections', 'Open connections.', openConnections);
  gauge(
    'scopegate_http_requests_in_hand',
    'Requests at work, those that still wait for the database included.',
    requestsInHand,
  );
  gauge('scopegate_http_body_bytes', 'Memory that bodies of requests take, against MAX_BODY_MEMORY.', bodyBytes);
  const keys = tally(registry, {
    name: 'scopegate_key_lookups_total',
    help: 'Keys that requests came with, by state (malformed: or none).',
    labelNames: ['state'],
  });
  const decisions = tally(registry, {
    name: 'scopegate_limiter_decisions_total',
    help: 'Decisions of the rate limiter of keys and users, and of that of failed authentications of an address.',
    labelNames: ['limiter', 'decision'],
  });
  const store = new Gauge({
    name: 'scopegate_limiter_store',
    help: 'Where limits are counted: 1 at one of memory, shared, degraded (shared, but away).',
    labelNames: ['state'] as const,
    registers,
  });
  new Gauge({
    name: 'scopegate_database_connections',
    help: "Connections of each cluster's pool: checked out, available, and requests that wait for one (pending).",
    labelNames: ['cluster', 'state'] as const,
    registers,
    collect() {
      for (const { cluster, checkedOut, available, pending } of pools()) {
        this.set({ cluster, state: 'checked_out' }, checkedOut);
        this.set({ cluster, state: 'available' }, available);
        this.set({ cluster, state: 'pending' }, pending);
      }
    },
  });

  function gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  }

  return {
    requestFinished({ face, operation, status, seconds }) {
      const name = label(operation);
      requests(name, face, status);
      durations.observe({ operation: name, face }, seconds);
    },
    requestShed: (reason) => {
      shed.inc({ reason });
    },
    connectionDropped: () => {
      dropped.inc();
    },
    connectionRefused: (status) => {
      refused.inc({ status });
    },
    keyFound: (state) => {
      keys(state);
    },
    counted: (limiter, inner) => ({
      async consume(id, points) {
        const state = await inner.consume(id, points);
        decisions(limiter, state.allowed ? 'allowed' : 'refused');
        return state;
      },
    }),
    limiterStore(state) {
      store.reset();
      store.set({ state }, 1);
    },
    contentType: registry.contentType,
    render: () => registry.metrics(),
  };
}
