import { Gauge, type Registry } from 'prom-client';
import { COMMAND_BUCKETS, type PoolUse } from '../database/pools';
import { histogramOf } from './tally';

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
  /** Bytes of the largest organisation that wrote here, and how many have as many as they may. */
  readonly quotas: () => { readonly largest: number; readonly full: number };
  /** Version of the gateway. */
  readonly version: string;
  /** Files reserved on each cluster, as last counted, and how many it may have. */
  readonly files: () => readonly { readonly cluster: string; readonly reserved: number; readonly capacity: number }[];
  /** Moves of organisations to other clusters that have begun and not ended: under way, or stopped because their process has ended. */
  readonly moves: () => { readonly moving: number; readonly stopped: number };
  /** Bytes that an organisation may have (MAX_ORGANISATION_BYTES). */
  readonly bytesLimit: number | undefined;
  readonly openConnections: () => number;
  readonly requestsInFlight: () => number;
  /** Memory used by request bodies and answers. */
  readonly bodyBytes: () => number;
}

/** Gauges that are read when the metrics are. */
export function addGauges(registry: Registry, options: GaugeOptions): void {
  addDatabase(registry, options);
  const registers = [registry];
  const { openConnections, requestsInFlight, bodyBytes, quotas, bytesLimit, version } = options;
  const gauges = [
    ['scopegate_http_connections', 'Open connections.', openConnections],
    [
      'scopegate_http_requests_in_hand',
      'Requests in progress, including those that wait for the database.',
      requestsInFlight,
    ],
    [
      'scopegate_http_body_bytes',
      'Memory used by request bodies, and by answers until they are read; the limit is MAX_BODY_MEMORY.',
      bodyBytes,
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
  ] as const;
  for (const [name, help, read] of gauges) {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  }
  const limit = new Gauge({
    name: 'scopegate_organisation_bytes_limit',
    help: 'MAX_ORGANISATION_BYTES; absent without.',
    labelNames: [],
    registers,
  });
  if (bytesLimit === undefined) limit.remove();
  else limit.set(bytesLimit);
  const labelNames = ['version', 'node'] as const;
  const build = new Gauge({
    name: 'scopegate_build_info',
    help: 'Always 1; the labels say what runs.',
    labelNames,
    registers,
  });
  build.set({ version, node: process.version }, 1);
}

/** What is known of each cluster. */
function addDatabase(registry: Registry, { pools, clusters, clocks, files, moves }: GaugeOptions): void {
  const registers = [registry];
  new Gauge({
    name: 'scopegate_database_connections',
    help: "Connections in each cluster's pool: checked out, available, and requests waiting for one (pending).",
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
  new Gauge({
    name: 'scopegate_database_connections_max',
    help: 'Connections that the pool of each cluster may have to a server (maxPoolSize in its URI, 100 by default).',
    labelNames: ['cluster'] as const,
    registers,
    collect() {
      for (const { cluster, most } of pools()) this.set({ cluster }, most);
    },
  });
  histogramOf(registry, {
    name: 'scopegate_database_command_duration_seconds',
    help: 'Time that commands to each cluster took, without the wait for a connection.',
    labelName: 'cluster',
    bounds: COMMAND_BUCKETS,
    read: () => pools().map(({ cluster, commands }) => ({ label: cluster, ...commands })),
  });
  new Gauge({
    name: 'scopegate_cluster_clock_ahead_seconds',
    help: "How far the clock of each cluster's primary is ahead of this machine's.",
    labelNames: ['cluster'] as const,
    registers,
    collect() {
      for (const { cluster, ahead } of clocks()) this.set({ cluster }, ahead / 1000);
    },
  });
  new Gauge({
    name: 'scopegate_cluster_up',
    help: 'Whether each cluster responds; requests for organisations on one that does not get 503.',
    labelNames: ['cluster'] as const,
    registers,
    collect() {
      for (const { cluster, isUp } of clusters()) this.set({ cluster }, isUp ? 1 : 0);
    },
  });
  new Gauge({
    name: 'scopegate_cluster_writable',
    help: 'Whether each cluster responds and can be written to, tried every 10 s.',
    labelNames: ['cluster'] as const,
    registers,
    collect() {
      for (const { cluster, isWritable } of clusters()) this.set({ cluster }, isWritable ? 1 : 0);
    },
  });
  new Gauge({
    name: 'scopegate_moves',
    help: 'Moves of organisations to other clusters that have not ended: moving, or stopped because their process has ended. Writes of these organisations are refused. Counted at most once a minute.',
    labelNames: ['state'] as const,
    registers,
    collect() {
      for (const [state, count] of Object.entries(moves())) this.set({ state }, count);
    },
  });
  new Gauge({
    name: 'scopegate_cluster_files',
    help: 'Files (collections and indexes) of each cluster: reserved for its organisations, and its capacity (CLUSTER_FILES).',
    labelNames: ['cluster', 'state'] as const,
    registers,
    collect() {
      for (const { cluster, reserved, capacity } of files()) {
        this.set({ cluster, state: 'reserved' }, reserved);
        this.set({ cluster, state: 'capacity' }, capacity);
      }
    },
  });
}
