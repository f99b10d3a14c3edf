import { Counter, type CounterConfiguration, type Registry } from 'prom-client';

/** Counts one, for the values of its labels in their order. */
export type Count = (...labels: readonly (string | number)[]) => void;

/**
 * A counter of what happens with every request: counted here and handed on when it is read, since to check and hash the
 * labels costs more than the rest of the count. Labels' values hold no spaces.
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
