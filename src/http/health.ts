import type { Limiters } from '../admission/limiters';
import type { Availability } from '../database/availability';
import { type Databases, DEFAULT_CLUSTER } from '../database/connect';
import { type Exchange, send } from './exchange';

const JSON_TYPE = 'application/json; charset=utf-8';
/** Retry-After, in seconds. */
const LOOK_AGAIN = 2;

export function isHealthPath(path: string): boolean {
  return path === '/livez' || path === '/readyz';
}

/**
 * GET /livez: the process is up. GET /readyz: it can serve; 503 while the database is down or the server drains. Resolves
 * to whether it answered.
 */
export function createHealth(
  databases: Pick<Databases, 'findsKeys' | 'clusters'>,
  availability: Pick<Availability, 'isAway' | 'isReadOnly'>,
  limiters: Pick<Limiters, 'health'>,
  isDraining: () => boolean,
): (exchange: Exchange) => Promise<boolean> {
  async function readiness(): Promise<{ status: string; checks?: object }> {
    // without waiting for the database, because load balancers keep sending requests in the meantime
    if (isDraining()) return { status: 'draining' };
    const [isAnswering, limiter] = await Promise.all([databases.findsKeys(), limiters.health()]);
    const stateOf = (cluster: string, isAway = availability.isAway(cluster)): string =>
      isAway ? 'unavailable' : availability.isReadOnly(cluster) ? 'read_only' : 'ok';
    const database = stateOf(DEFAULT_CLUSTER, !isAnswering);
    const others = databases.clusters.filter((cluster) => cluster !== DEFAULT_CLUSTER);
    const clusters = others.map((cluster) => [cluster, stateOf(cluster)] as const);
    const checks = { database, limiter, ...(others.length > 0 && { clusters: Object.fromEntries(clusters) }) };
    if (!isAnswering) return { status: database, checks };
    // without the shared limiter, limits are kept in memory; without another cluster, its organisations get 503, and
    // without writes those of a cluster: degraded, but still able to serve
    const areAllFit = [database, ...clusters.map(([, state]) => state)].every((state) => state === 'ok');
    return { status: areAllFit ? limiter : 'degraded', checks };
  }

  return async (exchange) => {
    const { path, request, response } = exchange;
    if (!isHealthPath(path) || (request.method !== 'GET' && request.method !== 'HEAD')) return false;
    const health = path === '/livez' ? { status: 'ok' } : await readiness();
    const isFit = health.status === 'ok' || health.status === 'degraded';
    if (!isFit) response.setHeader('Retry-After', LOOK_AGAIN);
    send(exchange, isFit ? 200 : 503, JSON_TYPE, JSON.stringify(health));
    return true;
  };
}
