import type { Limiters } from '../admission/limiters';
import { RETRY_AFTER } from '../errors';
import type { Config } from '../config';
import type { Availability } from '../mongo/availability';
import { publicCause } from '../mongo/probe';
import type { Databases } from '../tenant/databases';
import type { ShardHealth } from '../mongo/shardHealth';
import type { Metrics } from '../metrics';
import { compress } from '../http/compression';
import { bytesOf, JSON_TYPE, send } from '../http/answer';
import type { Exchange } from '../http/exchange';
import { connectsFrom } from '../http/requestHead';

/* /livez, /readyz and /metrics. Each handler resolves with whether it answered. */

/** What /readyz answers. */
export interface Readiness {
  /** 200 if `ok` or `degraded`, 503 if anything else. */
  readonly status: string;
  readonly checks?: object;
  /** Why it is not ready, without addresses, since anyone may read it. */
  readonly detail?: string | undefined;
}

/** Finds out whether a gateway can serve: not while the database is down or the server drains. */
export function createReadiness(
  databases: Pick<Databases, 'findsKeys' | 'keysFailure' | 'failure'>,
  availability: Pick<Availability, 'isReadOnly' | 'isDown' | 'ask'>,
  shardHealth: Pick<ShardHealth, 'states'> | undefined,
  limiters: Pick<Limiters, 'health'>,
  isDraining: () => boolean,
): () => Promise<Readiness> {
  return async () => {
    // before the database is asked, because load balancers would send requests in the meantime
    if (isDraining()) return { status: 'draining' };
    const [findsKeys, limiter] = await Promise.all([databases.findsKeys(), limiters.health()]);
    // requests get 503 until the check by which they are admitted knows that it is back
    const isAnswering = findsKeys && (!availability.isDown() || (await availability.ask()));
    const database = !isAnswering ? 'unavailable' : availability.isReadOnly() ? 'read_only' : 'ok';
    const shards = shardHealth?.states().map(({ shard, isUp, isWritable }) => {
      return [shard, !isUp ? 'unavailable' : isWritable ? 'ok' : 'read_only'] as const;
    });
    const checks = { database, limiter, ...(shards && { shards: Object.fromEntries(shards) }) };
    if (!isAnswering) {
      const failure = findsKeys ? databases.failure() : databases.keysFailure();
      return { status: database, checks, detail: publicCause(failure) };
    }
    // able to serve, but degraded: without the shared limiter, limits are kept in memory; writes get 503 while the database is read-only, and all
    // requests of the organisations on a shard while it is down
    const isWhole = [database, ...(shards ?? []).map(([, state]) => state)].every((state) => state === 'ok');
    return { status: isWhole ? limiter : 'degraded', checks };
  };
}

/** GET /livez: the process is up. GET /readyz: it can serve. */
export function createHealth(
  readiness: () => Readiness | Promise<Readiness>,
): (exchange: Exchange) => Promise<boolean> {
  return async (exchange) => {
    const { path, request, response } = exchange;
    const isHealthPath = path === '/livez' || path === '/readyz';
    if (!isHealthPath || (request.method !== 'GET' && request.method !== 'HEAD')) return false;
    const health = path === '/livez' ? { status: 'ok' } : await readiness();
    const isFit = health.status === 'ok' || health.status === 'degraded';
    if (!isFit) response.setHeader('Retry-After', RETRY_AFTER);
    send(exchange, isFit ? 200 : 503, JSON_TYPE, JSON.stringify(health));
    return true;
  };
}

export const METRICS_PATH = '/metrics';

/** Address ranges that may read the metrics, by the value of METRICS; the other values do not depend on the address. */
const METRICS_READERS = {
  loopback: ['loopback'],
  // for a Prometheus in another container or on another machine in the network
  private: ['loopback', 'private', 'uniqueLocal', 'linkLocal'],
} as const satisfies Partial<Record<Config['METRICS'], readonly string[]>>;

/** Who may read the metrics at PORT, or at ADMIN_PORT. */
export function metricsAccess(
  { METRICS, ADMIN_PORT }: Pick<Config, 'METRICS' | 'ADMIN_PORT'>,
  isAdmin = false,
): Config['METRICS'] {
  if (isAdmin) return METRICS === 'off' ? 'off' : 'public';
  return ADMIN_PORT === undefined ? METRICS : 'off';
}

/** GET /metrics for allowed callers; others get the same answer as for an unknown page. */
export function createMetricsPage(
  metrics: Pick<Metrics, 'contentType' | 'render'>,
  access: Config['METRICS'],
): (exchange: Exchange) => Promise<boolean> {
  return async (exchange) => {
    const { path, request } = exchange;
    if (path !== METRICS_PATH || (request.method !== 'GET' && request.method !== 'HEAD')) return false;
    if (access === 'off' || (access !== 'public' && !connectsFrom(request, METRICS_READERS[access]))) return false;
    send(exchange, 200, metrics.contentType, await compress(exchange, bytesOf(await metrics.render())));
    return true;
  };
}
