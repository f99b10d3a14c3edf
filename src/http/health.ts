import type { Limiters } from '../access/limiters';
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
  availability: Pick<Availability, 'isAway'>,
  limiters: Pick<Limiters, 'health'>,
  isDraining: () => boolean,
): (exchange: Exchange) => Promise<boolean> {
  async function readiness(): Promise<{ status: string; checks?: object }> {
    // without waiting for the database, because load balancers keep sending requests in the meantime
    if (isDraining()) return { status: 'draining' };
    const [isAnswering, limiter] = await Promise.all([databases.findsKeys(), limiters.health()]);
    const database = isAnswering ? 'ok' : 'unavailable';
    const others = databases.clusters.filter((cluster) => cluster !== DEFAULT_CLUSTER);
    const clusters = others.map((cluster) => [cluster, availability.isAway(cluster) ? 'unavailable' : 'ok'] as const);
    const areAllThere = clusters.every(([, state]) => state === 'ok');
    const checks = { database, limiter, ...(others.length > 0 && { clusters: Object.fromEntries(clusters) }) };
    // without the shared limiter, limits are kept in memory; without another cluster, its organisations get 503:
    // degraded, but still able to serve
    return { status: !isAnswering ? database : areAllThere ? limiter : 'degraded', checks };
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
