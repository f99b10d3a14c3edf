import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Registry } from 'prom-client';
import { PARKED, POSTS } from '../limits';
import { COMMAND_BUCKETS, type PoolUse } from '../mongo/pools';
import { gauge, histogram, type Reading } from './tally';

export interface GaugeOptions {
  /** Current use of the connections to the database. */
  readonly pool: () => PoolUse;
  /** Whether the database responded, and could be written to, when it was last checked. */
  readonly isUp: () => boolean;
  readonly isWritable: () => boolean;
  /** The same of each shard; empty for a replica set. */
  readonly shards: () => readonly { readonly shard: string; readonly isUp: boolean; readonly isWritable: boolean }[];
  /** How far the database's clock is ahead of this machine's, in milliseconds; undefined before it is known. */
  readonly clockDifference: () => { readonly ahead: number } | undefined;
  /** Of organisations that wrote here within a day and have a limit: bytes of the largest, the largest part of a limit (1 is all), and how many have reached theirs. */
  readonly quotas: () => { readonly largest: number; readonly fullest: number; readonly full: number };
  /** Version of the gateway. */
  readonly version: string;
  /** Moves of organisations to other shards that have begun and not ended: under way, or stopped because their process has ended. */
  readonly moves: () => { readonly moving: number; readonly stopped: number };
  /** Erasures and moves that operators asked for, by state. */
  readonly jobs: () => Readonly<Record<'waiting' | 'running' | 'retrying' | 'failed', number>>;
  /** Bytes that an organisation may store (MAX_ORGANISATION_BYTES). */
  readonly bytesLimit: number | undefined;
  readonly openConnections: () => number;
  readonly requestsInFlight: () => number;
  /** Memory used by request bodies, rows and answers. */
  readonly bodyBytes: () => number;
  /**
   * The tail, which records events from the database's log: whether this gateway runs it, how far it is behind, and how far the log goes back,
   * both in milliseconds.
   */
  readonly tail: () => { readonly isTailing: boolean; readonly lag: number; readonly log: number | undefined };
  /** How old the newest change is whose events are stored, whichever gateway records them, in milliseconds. */
  readonly recordedAge: () => Promise<number>;
  /** Requests that wait for events, and open event streams. */
  readonly waiting: () => { readonly requests: number; readonly streams: number };
  /** The webhooks that this gateway delivers. */
  readonly webhooks: () => {
    /** How long the endpoint that waits longest has waited, in milliseconds. */
    waited(): number;
    /** Posts under way. */
    posting(): number;
    /** Posts that wait until fewer are under way. */
    postsWaiting(): number;
    /** Why it sends nothing to organisations' endpoints. */
    resting(): Readonly<Record<'events_off' | 'no_secret' | 'wrong_secret', boolean>>;
    /** How far the operator's webhook is behind, and how many events are parked, since it refused them or one of the same object; undefined if this gateway has none. */
    operatorBehind(): { readonly seconds: number; readonly parked: number } | undefined;
  };
  /** Endpoints of all organisations by state, as last counted. */
  readonly webhookEndpoints: () => ReadonlyMap<string, number>;
}

/** The name and help of the gauge that alerts about the database use. */
const DATABASE_UP = [
  'scopegate_database_up',
  'Whether the database responds; requests get 503 while it does not.',
] as const;

/** The metrics of a gateway that waits for its database, so that alerts say what it waits for. */
export function createStartingMetrics() {
  const registry = new Registry();
  gauge(registry, ...DATABASE_UP, () => 0);
  return { contentType: registry.contentType, render: (): Promise<string> => registry.metrics() };
}

/** How often the event loop is sampled, in milliseconds; the monitor's delays include this interval. */
const RESOLUTION = 10;

/** Adds the gauges, and the histogram of commands, whose values are read whenever the metrics are. */
export function addGauges(registry: Registry, options: GaugeOptions): void {
  const { pool, isUp, isWritable, shards, clockDifference, moves, jobs, quotas, tail, waiting, webhooks } = options;
  const gauges: [name: string, help: string, read: () => Promise<Reading> | Reading][] = [
    [
      'scopegate_loop_delay_seconds',
      'The longest time that the event loop was held since the last scrape.',
      loopDelay(),
    ],
    [
      'scopegate_database_connections',
      'Connections to the database: checked out, available, and requests waiting for one (pending).',
      () => {
        const { checkedOut: checked_out, available, pending } = pool();
        return byState({ checked_out, available, pending });
      },
    ],
    [
      'scopegate_database_connections_max',
      'Connections that there may be to each server of the database (maxPoolSize in its URI, 100 by default).',
      () => pool().most,
    ],
    [
      'scopegate_database_clock_ahead_seconds',
      "How far the clock of the database's primary is ahead of this machine's.",
      () => {
        const difference = clockDifference();
        return difference === undefined ? undefined : difference.ahead / 1000;
      },
    ],
    [...DATABASE_UP, () => (isUp() ? 1 : 0)],
    [
      'scopegate_database_writable',
      'Whether the database responds and can be written to, tried every 10 s.',
      () => (isWritable() ? 1 : 0),
    ],
    [
      'scopegate_shard_up',
      'Whether each shard responds; requests for organisations on one that does not get 503.',
      () => shards().map((state) => [{ shard: state.shard }, state.isUp ? 1 : 0]),
    ],
    [
      'scopegate_shard_writable',
      'Whether each shard responds and can be written to, tried every second.',
      () => shards().map((state) => [{ shard: state.shard }, state.isWritable ? 1 : 0]),
    ],
    [
      'scopegate_moves',
      'Moves of organisations to other shards that have not ended: moving, or stopped because their process has ended. Requests of these organisations are refused. Counted at most once a minute.',
      () => byState(moves()),
    ],
    [
      'scopegate_jobs',
      'Erasures and moves that operators asked for: waiting, running, retrying after an attempt that failed, or failed in the last day. Counted at most once a minute.',
      () => byState(jobs()),
    ],
    ['scopegate_http_connections', 'Open connections.', options.openConnections],
    [
      'scopegate_http_requests_in_hand',
      'Requests in progress, including those that wait for the database.',
      options.requestsInFlight,
    ],
    [
      'scopegate_http_body_bytes',
      'Memory used by request bodies, by rows read for requests, and by answers until they are read; the limit is MAX_BODY_MEMORY.',
      options.bodyBytes,
    ],
    [
      'scopegate_organisation_bytes_max',
      'Bytes of the largest organisation that wrote here within a day, of those whose plan has a limit of bytes.',
      () => quotas().largest,
    ],
    [
      'scopegate_organisation_bytes_ratio_max',
      'What the organisation that wrote here within a day and is nearest to the limit of bytes of its plan stores, as a part of that limit: 1 is all.',
      () => quotas().fullest,
    ],
    [
      'scopegate_organisations_full',
      'Organisations that wrote here within a day and store as many bytes as their plan includes, so that their writes are refused.',
      () => quotas().full,
    ],
    [
      'scopegate_organisation_bytes_limit',
      'MAX_ORGANISATION_BYTES, the limit of plans without one of their own; absent without.',
      () => options.bytesLimit,
    ],
    [
      'scopegate_build_info',
      'Always 1; the labels say what runs.',
      () => [[{ version: options.version, node: process.version }, 1]],
    ],
    [
      'scopegate_events_lag_seconds',
      'How far the events that this gateway records are behind the log of the database, by the shard that holds them back if one is down; absent if another gateway records them.',
      () => byDownShard(secondsOfTail(({ lag }) => lag)),
    ],
    [
      'scopegate_events_log_seconds',
      'How far that log goes back; absent if the database user may not read it.',
      () => secondsOfTail(({ log }) => log),
    ],
    [
      'scopegate_events_recorded_age_seconds',
      'How old the newest change is whose events are stored, whichever gateway records them: a few seconds, and more while none does. Since the start of this gateway if none ever did.',
      async () => (await options.recordedAge()) / 1000,
    ],
    ['scopegate_events_waiting_requests', 'Requests that wait for events.', () => waiting().requests],
    ['scopegate_event_streams', 'Open streams of events.', () => waiting().streams],
    [
      'scopegate_webhook_endpoints',
      'Webhook endpoints of all organisations by state, counted at most once a minute.',
      () => byState(Object.fromEntries(options.webhookEndpoints())),
    ],
    [
      'scopegate_webhook_waiting_seconds',
      'How long the webhook endpoint with work that waits longest has waited for a gateway to take it.',
      () => webhooks().waited() / 1000,
    ],
    [
      'scopegate_webhooks_resting',
      'Whether this gateway sends no webhooks to endpoints of organisations because of its EVENTS=off (events_off), or its WEBHOOK_SECRET: not set (no_secret), or not that of the endpoints (wrong_secret).',
      () => Object.entries(webhooks().resting()).map(([reason, rests]) => [{ reason }, rests ? 1 : 0] as const),
    ],
    [
      'scopegate_webhook_posts',
      `Webhooks that are being sent; at most ${String(POSTS.all)} a gateway.`,
      () => webhooks().posting(),
    ],
    [
      'scopegate_webhook_posts_waiting',
      'Webhooks that wait until fewer are being sent by the gateway or by their organisation.',
      () => webhooks().postsWaiting(),
    ],
    [
      'scopegate_operator_webhook_behind_seconds',
      'How far what the webhook of OPERATOR_WEBHOOK_URL was sent is behind the log of the database, read at most once a minute; absent without one.',
      () => webhooks().operatorBehind()?.seconds,
    ],
    [
      'scopegate_operator_webhook_parked',
      `Events that this webhook refused, and those of the same objects behind them, at most ${PARKED.most.toLocaleString('en')}.`,
      () => webhooks().operatorBehind()?.parked,
    ],
  ];
  for (const definition of gauges) gauge(registry, ...definition);
  histogram(
    registry,
    {
      name: 'scopegate_database_command_duration_seconds',
      help: 'Time that commands to the database took, without the wait for a connection.',
    },
    COMMAND_BUCKETS,
    () => pool().commands,
  );

  /** The lag by each shard that is down, since it holds back the events of all. */
  function byDownShard(lag: number | undefined): Reading {
    const down = shards().filter((state) => !state.isUp);
    return lag === undefined || down.length === 0 ? lag : down.map(({ shard }) => [{ shard }, lag] as const);
  }

  /** A value that is in milliseconds, in seconds; undefined unless this gateway records the events. */
  function secondsOfTail(read: (state: ReturnType<typeof tail>) => number | undefined): number | undefined {
    const state = tail();
    const value = state.isTailing ? read(state) : undefined;
    return value === undefined ? undefined : value / 1000;
  }
}

/** One series for each state. */
function byState(counts: Readonly<Record<string, number>>) {
  return Object.entries(counts).map(([state, count]) => [{ state }, count] as const);
}

/** Reads the longest time since the last reading, in seconds, that anything held the event loop: all other answers were late by as much. */
function loopDelay(): () => number {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION });
  delays.enable();
  return () => {
    const nanoseconds = delays.max;
    delays.reset();
    return Math.max(0, nanoseconds / 1e9 - RESOLUTION / 1000);
  };
}
