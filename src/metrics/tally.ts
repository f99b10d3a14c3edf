import { Counter, Gauge, type Metric, type Registry } from 'prom-client';
import type { Durations } from '../database/pools';

/** Adds one, for label values in order. */
export type Count = (...labels: readonly (string | number)[]) => void;

/**
 * A counter for events in every request: counted here and passed on when the metrics are read, since validating and
 * hashing the labels costs more than counting. Label values must not contain spaces. Series that are `known` are there, at 0, from the start.
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
    ...{ name, help, labelNames, registers: [registry] },
    collect() {
      for (const [values, count] of counts) this.labels(...values.split(' ').slice(0, labelNames.length)).inc(count);
      counts.clear();
    },
  });
  return (...labels) => {
    const values = labels.join(' ');
    counts.set(values, (counts.get(values) ?? 0) + 1);
  };
}

/** The value of a gauge without labels, or of each of its series; it has none for undefined. */
export type Reading = number | undefined | readonly (readonly [labels: Record<string, string>, value: number])[];

/** A gauge that is read when the metrics are. */
export function gauge(
  registry: Registry,
  name: string,
  help: string,
  labelNames: readonly string[],
  read: () => Reading,
): void {
  new Gauge({
    ...{ name, help, labelNames, registers: [registry] },
    collect() {
      const reading = read();
      this.reset();
      if (reading === undefined) this.remove();
      else if (typeof reading === 'number') this.set(reading);
      else for (const [labels, value] of reading) this.set(labels, value);
    },
  });
}

/**
 * A histogram that is counted elsewhere, for events that are even more frequent than requests; read when the metrics are. `bounds` are the
 * upper ones of its buckets, the infinite one aside.
 */
export function histogram(
  registry: Registry,
  { name, help, labelName }: { readonly name: string; readonly help: string; readonly labelName: string },
  bounds: readonly number[],
  read: () => readonly (Durations & { readonly label: string })[],
): void {
  const get = () => {
    const values = read().flatMap(({ label, counts, seconds }) => {
      const labels = { [labelName]: label };
      let total = 0;
      const buckets = [...bounds, '+Inf'].map((le, at) => {
        total += counts[at] ?? 0;
        return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: total };
      });
      const [sum, count] = [`${name}_sum`, `${name}_count`];
      return [...buckets, { metricName: sum, labels, value: seconds }, { metricName: count, labels, value: total }];
    });
    return Promise.resolve({ name, help, type: 'histogram', values, aggregator: 'sum' });
  };
  // the registry only ever reads these
  registry.registerMetric({ name, help, get } as unknown as Metric);
}
