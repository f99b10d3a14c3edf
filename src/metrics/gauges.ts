import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Registry } from 'prom-client';
import { COMMAND_BUCKETS, type PoolUse } from '../database/pools';
import { gauge, histogram, type Reading } from './tally';

export interface GaugeOptions {
  /** Current use of each cluster's connections. */
  readonly pools: () => readonly PoolUse[];
  /** Whether each cluster responded, and could be written to, when it was last checked. */
  readonly clusters: () => readonly {
    readonly cluster: string;
    readonly isUp: boolean;
    readonly isWritable: boolean;
  }[];
  /** How far each cluster's clock is ahead of this machine's, in milliseconds. */
  readonly clocks: () => readonly { readonly cluster: string; readonly ahead: number }[];
  /** Bytes of the largest organisation that wrote here, and how many have reached their limit. */
  readonly quotas: () => { readonly largest: number; readonly full: number };
  /** Version of the gateway. */
  readonly version: string;
  /** Files on each cluster, as last counted: those in use, those reserved, and the most that the cluster may have. */
  readonly files: () => readonly {
    readonly cluster: string;
    readonly used: number;
    readonly reserved: number;
    readonly capacity: number;
  }[];
  /** Moves of organisations to other clusters that have begun and not ended: under way, or stopped because their process has ended. */
  readonly moves: () => { readonly moving: number; readonly stopped: number };
  /** Erasures and moves that operators asked for, by state. */
  readonly jobs: () => Readonly<Record<'waiting' | 'running' | 'retrying' | 'failed', number>>;
  /** Bytes that an organisation may store (MAX_ORGANISATION_BYTES). */
  readonly bytesLimit: number | undefined;
  readonly openConnections: () => number;
  readonly requestsInFlight: () => number;
  /** Memory used by request bodies and answers. */
  readonly bodyBytes: () => number;
  /** The tails of the clusters that this gateway tails; times in milliseconds. */
  readonly tails: () => readonly {
    readonly cluster: string;
    readonly isTailing: boolean;
    readonly lag: number;
    readonly log: number | undefined;
  }[];
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
  };
  /** Endpoints of all organisations by state, as last counted. */
  readonly webhookEndpoints: () => ReadonlyMap<string, number>;
}

/** How often the event loop is sampled, in milliseconds; the monitor counts this interval as delay. */
const RESOLUTION = 10;

/** Adds the gauges, which are read whenever the metrics are. */
export function addGauges(registry: Registry, options: GaugeOptions): void {
  const { pools, clusters, clocks, files, moves, jobs, quotas, tails, waiting, webhooks } = options;
  const gauges: [name: string, help: string, read: () => Reading][] = [
    [
      'scopegate_loop_delay_seconds',
      'The longest time that the event loop was held since the last scrape.',
      loopDelay(),
    ],
    [
      'scopegate_database_connections',
      "Connections in each cluster's pool: checked out, available, and requests waiting for one (pending).",
      () =>
        pools().flatMap(({ cluster, checkedOut: checked_out, available, pending }) =>
          byState({ checked_out, available, pending }, { cluster }),
        ),
    ],
    [
      'scopegate_database_connections_max',
      'Connections that the pool of each cluster may have to a server (maxPoolSize in its URI, 100 by default).',
      () => pools().map(({ cluster, most }) => [{ cluster }, most]),
    ],
    [
      'scopegate_cluster_clock_ahead_seconds',
      "How far the clock of each cluster's primary is ahead of this machine's.",
      () => clocks().map(({ cluster, ahead }) => [{ cluster }, ahead / 1000]),
    ],
    [
      'scopegate_cluster_up',
      'Whether each cluster responds; requests for organisations on one that does not get 503.',
      () => clusters().map(({ cluster, isUp }) => [{ cluster }, isUp ? 1 : 0]),
    ],
    [
      'scopegate_cluster_writable',
      'Whether each cluster responds and can be written to, tried every 10 s.',
      () => clusters().map(({ cluster, isWritable }) => [{ cluster }, isWritable ? 1 : 0]),
    ],
    [
      'scopegate_moves',
      'Moves of organisations to other clusters that have not ended: moving, or stopped because their process has ended. Writes of these organisations are refused. Counted at most once a minute.',
      () => byState(moves()),
    ],
    [
      'scopegate_jobs',
      'Erasures and moves that operators asked for: waiting, running, retrying after an attempt that failed, or failed in the last day. Counted at most once a minute.',
      () => byState(jobs()),
    ],
    [
      'scopegate_cluster_files',
      'Files (collections and indexes) of each cluster: used by its organisations, reserved for them (22 each at least), and its capacity (CLUSTER_FILES).',
      () =>
        files().flatMap(({ cluster, used, reserved, capacity }) => byState({ used, reserved, capacity }, { cluster })),
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
      'Bytes of the largest organisation that wrote here, measured only if MAX_ORGANISATION_BYTES is set.',
      () => quotas().largest,
    ],
    [
      'scopegate_organisations_full',
      'Organisations that wrote here and have MAX_ORGANISATION_BYTES or more, so that their writes are refused.',
      () => quotas().full,
    ],
    ['scopegate_organisation_bytes_limit', 'MAX_ORGANISATION_BYTES; absent without.', () => options.bytesLimit],
    [
      'scopegate_build_info',
      'Always 1; the labels say what runs.',
      () => [[{ version: options.version, node: process.version }, 1]],
    ],
    [
      'scopegate_events_lag_seconds',
      'How far the events that this gateway records are behind the log of their cluster; absent if another gateway records them.',
      () => ofTails(({ lag }) => lag),
    ],
    [
      'scopegate_events_log_seconds',
      'How far that log goes back; absent if the database user may not read it.',
      () => ofTails(({ log }) => log),
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
    ['scopegate_webhook_posts', 'Webhooks that are being sent; at most 64 a gateway.', () => webhooks().posting()],
    [
      'scopegate_webhook_posts_waiting',
      'Webhooks that wait until fewer are being sent by the gateway or by their organisation.',
      () => webhooks().postsWaiting(),
    ],
  ];
  for (const one of gauges) gauge(registry, ...one);
  histogram(
    registry,
    {
      name: 'scopegate_database_command_duration_seconds',
      help: 'Time that commands to each cluster took, without the wait for a connection.',
      labelName: 'cluster',
    },
    COMMAND_BUCKETS,
    () => pools().map(({ cluster, commands }) => ({ label: cluster, ...commands })),
  );

  /** A value that is in milliseconds, converted to seconds, for each cluster that this gateway tails. */
  function ofTails(read: (tail: ReturnType<typeof tails>[number]) => number | undefined): Reading {
    return tails().flatMap((tail) => {
      const value = tail.isTailing ? read(tail) : undefined;
      return value === undefined ? [] : [[{ cluster: tail.cluster }, value / 1000] as const];
    });
  }
}

/** One series for each state. */
function byState(counts: Readonly<Record<string, number>>, labels: Record<string, string> = {}) {
  return Object.entries(counts).map(([state, count]) => [{ ...labels, state }, count] as const);
}

/** The longest time that anything held the event loop, which delayed the answers to all other callers by as much. */
function loopDelay(): () => number {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION });
  delays.enable();
  return () => {
    const longest = delays.max;
    delays.reset();
    return Math.max(0, longest / 1e9 - RESOLUTION / 1000);
  };
}
