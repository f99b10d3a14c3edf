import { Counter, type Metric, type Registry } from 'prom-client';
import type { Durations } from '../mongo/pools';

/** Adds one to the series with these label values, in the order of the label names. */
export type Count = (...labels: readonly (string | number)[]) => void;

/**
 * A counter for events in every request. It counts here and passes the counts on at each scrape, since validating and hashing the labels
 * costs more than counting. Label values must not contain spaces, which join them here. `known` series, joined values, exist from the start, at 0.
 */
export function tally(
  registry: Registry,
  name: string,
  help: string,
  labelNames: readonly string[],
  known: readonly string[] = [],
): Count {
  const counts = new Map(known.map((values) => [values, 0]));
  new Counter({
    name,
    help,
    labelNames,
    registers: [registry],
    collect() {
      // the slice is for a counter without labels, whose '' is split into one
      for (const [values, count] of counts) this.labels(...values.split(' ').slice(0, labelNames.length)).inc(count);
      counts.clear();
    },
  });
  return (...labels) => {
    const values = labels.join(' ');
    counts.set(values, (counts.get(values) ?? 0) + 1);
  };
}

/** The value of a gauge without labels, or the labels and value of each of its series; undefined if it has no value now. */
export type Reading = number | undefined | readonly (readonly [labels: Record<string, string>, value: number])[];

/** Registers a metric whose values are kept elsewhere, and read on each scrape. */
function register(
  registry: Registry,
  metric: { readonly name: string; readonly help: string; readonly type: 'gauge' | 'histogram' },
  read: () => Promise<readonly object[]> | readonly object[],
): void {
  const get = async () => ({ ...metric, values: await read(), aggregator: 'sum' });
  // the registry uses nothing else of a metric than its name and `get`
  registry.registerMetric({ name: metric.name, get } as unknown as Metric);
}

/** Registers a gauge that is read on each scrape, which waits for it. `read` must not reject. */
export function gauge(registry: Registry, name: string, help: string, read: () => Promise<Reading> | Reading): void {
  register(registry, { name, help, type: 'gauge' }, async () => {
    const reading = (await read()) ?? [];
    const series = typeof reading === 'number' ? [[{}, reading] as const] : reading;
    return series.map(([labels, value]) => ({ labels, value }));
  });
}

/** Registers a histogram of events that are even more frequent than requests. `bounds` are the upper bounds of its buckets, without +Inf. */
export function histogram(
  registry: Registry,
  metric: { readonly name: string; readonly help: string },
  bounds: readonly number[],
  read: () => Durations,
): void {
  const { name } = metric;
  register(registry, { ...metric, type: 'histogram' }, () => {
    const { counts, seconds } = read();
    let total = 0;
    const buckets = [...bounds, '+Inf'].map((le, at) => {
      total += counts[at] ?? 0;
      return { metricName: `${name}_bucket`, labels: { le }, value: total };
    });
    const sum = { metricName: `${name}_sum`, labels: {}, value: seconds };
    return [...buckets, sum, { metricName: `${name}_count`, labels: {}, value: total }];
  });
}
