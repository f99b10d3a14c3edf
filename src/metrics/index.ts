import { collectDefaultMetrics, Counter, Histogram, Registry } from 'prom-client';
import type { RateLimiter } from '../admission/rateLimit';
import { type ApiKey, type KeyState, textState } from '../auth/keys';
import { REFUSAL_REASONS, type RefusalReason } from '../auth/authenticate';
import { UNAVAILABLE_REASONS, type UnavailableReason } from '../errors';
import { addGauges, type GaugeOptions } from './gauges';
import { gauge, tally } from './tally';

/**
 * Which part of the gateway handled a request, as metrics and the log name it; `operation` has the paths for running it: /livez, /readyz, /metrics, and
 * all but the operator API at ADMIN_PORT.
 */
export type Face = 'rest' | 'graphql' | 'mcp' | 'oauth' | 'pages' | 'settings' | 'operation' | 'operator';

/** Where limits are counted: in this process, in the shared store, or in this process because the shared store is down. */
export type LimiterStore = 'memory' | 'shared' | 'degraded';

/** Why a request got 503: too many wait for the database, its organisation has too many, or bodies and answers fill memory. */
const SHED_REASONS = ['database', 'organisation', 'bodies'] as const;
export type ShedReason = (typeof SHED_REASONS)[number];

const LIMITERS = ['key', 'organisation', 'user', 'operator', 'address', 'introspection'] as const;
/** HTTP statuses of requests whose connection is closed before they are read. */
const REFUSED_STATUSES = ['400', '408', '413', '431'];
/** How an attempt to send a webhook ends: the last one that fails is given up. */
const OUTCOMES = ['delivered', 'failed', 'given_up'] as const;

/** What was found for a request's key: an active key is `live`, and a missing one counts as `malformed`. */
type FoundKey = Exclude<KeyState, 'active'> | 'live' | 'unknown' | 'malformed';
const FOUND_KEYS = ['live', 'revoked', 'expired', 'unknown', 'malformed'] as const satisfies readonly FoundKey[];

export interface FinishedRequest {
  readonly face: Face;
  /** Names of the requested root fields, as in the log. */
  readonly operation: string | undefined;
  /** HTTP status; 499 if the caller disconnected before the answer. */
  readonly status: number;
  readonly seconds: number;
}

export interface MetricsOptions extends GaugeOptions {
  /** Names of the operations of the schemas and of the routes beside them; no other becomes a label, since callers may send any number of names. */
  readonly operations: readonly string[];
}

/** From a fast read to a slow bulk call, in seconds. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export type Metrics = ReturnType<typeof createMetrics>;

/** The metrics of one gateway, in its own registry, since tests run several in one process. Keys and organisations are never labels. */
export function createMetrics(options: MetricsOptions) {
  const registry = new Registry();
  const registers = [registry];
  const count = tally.bind(undefined, registry);
  const label = operationLabel(options.operations);
  let rendering: Promise<string> | undefined;
  collectDefaultMetrics({ register: registry });
  addGauges(registry, options);

  const requests = count(
    'scopegate_http_requests_total',
    'Finished requests by operation, face and HTTP status (499: the caller disconnected first).',
    ['operation', 'face', 'status'],
  );
  const durations = new Histogram({
    name: 'scopegate_http_request_duration_seconds',
    help: "Time from a request's headers to the end of its response, or of a stream to its beginning.",
    labelNames: ['operation', 'face'] as const,
    buckets: BUCKETS,
    registers,
  });
  const decisions = count(
    'scopegate_limiter_decisions_total',
    'Decisions of the rate limiters: for keys, for the keys of an organisation together, for users, for operators’ tokens, and per address for failed authentications and sign-ins (address) and public introspection. Refused ones are answered with 429.',
    ['limiter', 'decision'],
    LIMITERS.flatMap((limiter) => [`${limiter} allowed`, `${limiter} refused`]),
  );
  let store: LimiterStore | undefined;
  gauge(
    registry,
    'scopegate_limiter_store',
    'Where limits are counted: 1 for one of memory, shared, degraded (the shared store is down).',
    () => store && [[{ state: store }, 1]],
  );
  const written = count(
    'scopegate_written_answers_total',
    "Answers that can be written from the database's bytes: from bytes, or from objects because of their data, of such data a moment ago (recently), or of their arguments.",
    ['from', 'reason'],
  );
  const counter = (name: string, help: string): ((by?: number) => void) => {
    const metric = new Counter({ name, help, registers });
    return (by = 1) => {
      metric.inc(by);
    };
  };
  const invalid = new Counter({
    name: 'scopegate_rows_invalid_total',
    help: 'Stored rows that requests met and that cannot be served, since another program stored what their type does not allow; the log names them.',
    labelNames: ['collection'] as const,
    registers,
  });

  return {
    rowInvalid: (collection: string): void => {
      invalid.inc({ collection });
    },
    requestFinished({ face, operation, status, seconds }: FinishedRequest): void {
      const name = label(operation);
      requests(name, face, status);
      durations.observe({ operation: name, face }, seconds);
    },
    requestShed: count(
      'scopegate_http_requests_shed_total',
      'Requests rejected with 503 by reason: too many waiting (database), too many from one organisation (organisation), too much memory used by bodies and answers (bodies).',
      ['reason'],
      SHED_REASONS,
    ) as (reason: ShedReason) => void,
    connectionDropped: count(
      'scopegate_http_connections_dropped_total',
      'Connections closed because MAX_CONNECTIONS were open, or too many from their address.',
      [],
    ),
    connectionEvicted: count(
      'scopegate_http_connections_evicted_total',
      'Idle connections closed for new ones because four fifths of MAX_CONNECTIONS were open, or too many from their address.',
      [],
    ),
    /** A connection was closed because its request was malformed, too large or too slow. */
    connectionRefused: count(
      'scopegate_http_connections_refused_total',
      'Connections closed because of a malformed, too large or too slow request, by HTTP status.',
      ['status'],
      REFUSED_STATUSES,
    ) as (status: number) => void,
    requestRefused: count(
      'scopegate_http_requests_unauthenticated_total',
      'Requests answered with 401 by reason, which callers are not told (session: not signed in to the settings page).',
      ['reason'],
      [...REFUSAL_REASONS, 'session'],
    ) as (reason: RefusalReason | 'session') => void,
    requestUnavailable: count(
      'scopegate_http_requests_unavailable_total',
      'Requests answered with 503 by reason: the database does not respond (away) or took too long (slow), too much was in progress (shed), the organisation was moving or being erased, and others.',
      ['reason'],
      UNAVAILABLE_REASONS,
    ) as (reason: UnavailableReason) => void,
    keyFound: count(
      'scopegate_key_lookups_total',
      'Keys in requests by state (malformed includes missing).',
      ['state'],
      FOUND_KEYS,
    ) as (state: FoundKey) => void,
    /** An attempt to send a webhook has ended. */
    webhookSent: count(
      'scopegate_webhook_deliveries_total',
      'Attempts to send webhooks by outcome: delivered, failed (sent again later), given_up (after the last attempt, or since the event is no longer kept). Without those by hand.',
      ['outcome'],
      OUTCOMES,
    ) as (outcome: (typeof OUTCOMES)[number]) => void,
    /** Wraps a limiter to count its decisions under a label. */
    counted: (limiter: (typeof LIMITERS)[number], inner: RateLimiter): RateLimiter => ({
      async consume(id, points = 1) {
        const state = await inner.consume(id, points);
        // giving points back is not a decision
        if (points > 0) decisions(limiter, state.allowed ? 'allowed' : 'refused');
        return state;
      },
    }),
    /** Counts an answer that was written from bytes, or the reason why it was not. */
    answerWritable: (reason?: string): void => {
      written(reason === undefined ? 'bytes' : 'objects', reason ?? 'none');
    },
    eventsRecorded: counter(
      'scopegate_events_recorded_total',
      'Events stored, including those that another gateway had stored already.',
    ),
    databaseRestored: counter(
      'scopegate_database_restores_total',
      'How often this gateway noticed that the database was restored from a backup.',
    ),
    usageUncounted: counter(
      'scopegate_key_usage_uncounted_total',
      'Requests missing from the usage of keys, because more keys were in use than could be written.',
    ),
    requestsNotLogged: counter(
      'scopegate_requests_not_logged_total',
      'Failed requests missing from the request log of their organisation, because there were too many.',
    ),
    /** Notes where limits are counted from now on. */
    limiterStore(state: LimiterStore): void {
      store = state;
    },
    /** The label of a request by its root fields, as in the log. */
    operationLabel: label,
    contentType: registry.contentType,
    /** All metrics in the Prometheus text format; concurrent calls share one result. */
    render: (): Promise<string> => (rendering ??= registry.metrics().finally(() => (rendering = undefined))),
  };
}

/** The label for a key: null if there is no such key, undefined if it is malformed. */
export function keyLabel(key: ApiKey | null | undefined, now: number): FoundKey {
  if (!key) return key === null ? 'unknown' : 'malformed';
  const state = textState(key, new Date(now));
  return state === 'active' ? 'live' : state;
}

/**
 * The operation label of a request, from a bounded set: the name of its only root field, `introspection` of the schema, `multiple`
 * for several, `other` for a field or fragment not in the schema, `none` if it failed before that was known.
 */
export function operationLabel(operations: readonly string[]): (fields: string | undefined) => string {
  const operationNames = new Set([...operations, 'introspection']);
  return (fields) => {
    if (fields === undefined || fields === '') return 'none';
    if (operationNames.has(fields)) return fields;
    return fields.includes(' ') ? 'multiple' : 'other';
  };
}
