import { Counter, type CounterConfiguration, type Registry } from 'prom-client';

/** Adds one, for label values in order. */
export type Count = (...labels: readonly (string | number)[]) => void;

/**
 * A counter for events in every request: counted here and passed on when the metrics are read, since validating and
 * hashing the labels costs more than counting. Label values must not contain spaces.
 */
export function tally(
  registry: Registry,
  spec: Required<Pick<CounterConfiguration<string>, 'name' | 'help' | 'labelNames'>>,
): Count {
  const counts = new Map<string, number>();
  new Counter({
    ...spec,
    registers: [registry],
    collect() {
      for (const [values, count] of counts) this.labels(...values.split(' ')).inc(count);
      counts.clear();
    },
  });
  return (...labels) => {
    const values = labels.join(' ');
    counts.set(values, (counts.get(values) ?? 0) + 1);
  };
}
