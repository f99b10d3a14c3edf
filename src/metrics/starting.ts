import { Registry } from 'prom-client';
import { gauge } from './tally';

/** The metrics of a gateway that waits for its database, so that alerts say what it waits for. */
export function createStartingMetrics() {
  const registry = new Registry();
  gauge(registry, 'scopegate_database_up', DATABASE_UP, () => 0);
  return { contentType: registry.contentType, render: (): Promise<string> => registry.metrics() };
}

/** Help of `scopegate_database_up`. */
export const DATABASE_UP = 'Whether the database responds; requests get 503 while it does not.';
