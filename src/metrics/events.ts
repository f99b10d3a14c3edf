import { Gauge, type Registry } from 'prom-client';

/* What the metrics say of events. */

export interface EventMetricsOptions {
  /** The tails of the clusters that this gateway tails. */
  readonly tails: () => readonly {
    readonly cluster: string;
    readonly isTailing: boolean;
    readonly lag: number;
    readonly log: number | undefined;
  }[];
  /** Requests that wait for events, and open streams of them. */
  readonly waiting: () => { readonly requests: number; readonly streams: number };
}

/** How far the events of each cluster are that this gateway records. */
export function addEvents(registry: Registry, { tails, waiting }: EventMetricsOptions): void {
  const registers = [registry];
  const gauges = [
    [
      'scopegate_events_lag_seconds',
      'How far the events that this gateway records are behind the log of their cluster; absent if another gateway records them.',
      ({ lag }: { lag: number }) => lag,
    ],
    [
      'scopegate_events_log_seconds',
      'How far that log goes back; absent if the database user may not read it.',
      ({ log }: { log: number | undefined }) => log,
    ],
  ] as const;
  for (const [name, help, read] of gauges) {
    new Gauge({
      ...{ name, help, registers },
      labelNames: ['cluster'] as const,
      collect() {
        this.reset();
        for (const tail of tails()) {
          const value = tail.isTailing ? read(tail) : undefined;
          if (value !== undefined) this.set({ cluster: tail.cluster }, value / 1000);
        }
      },
    });
  }
  new Gauge({
    name: 'scopegate_events_waiting_requests',
    help: 'Requests that wait for events.',
    registers,
    collect() {
      this.set(waiting().requests);
    },
  });
  new Gauge({
    name: 'scopegate_event_streams',
    help: 'Open streams of events.',
    registers,
    collect() {
      this.set(waiting().streams);
    },
  });
}
