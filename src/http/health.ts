import type { Limiters } from '../access/limiters';
import type { Availability } from '../database/availability';
import { type Databases, DEFAULT_CLUSTER } from '../database/connect';
import { type Exchange, send } from './exchange';

export interface HealthOptions {
  readonly databases: Pick<Databases, 'findsKeys' | 'clusters'>;
  readonly availability: Pick<Availability, 'isAway'>;
  readonly limiters: Pick<Limiters, 'health'>;
  readonly isDraining: () => boolean;
}

const JSON_TYPE = 'application/json; charset=utf-8';
/** Retry-After, in seconds. */
const LOOK_AGAIN = 2;

export function isHealthPath(path: string): boolean {
  return path === '/livez' || path === '/readyz';
}

/** GET /livez: the process is up. GET /readyz: it can serve; 503 while the database is down or the server drains. */
export function createHealth({
  databases,
  availability,
  limiters,
  isDraining,
}: HealthOptions): (exchange: Exchange) => Promise<boolean> {
  return async (exchange) => {
    const { path, request } = exchange;
    if (!isHealthPath(path) || (request.method !== 'GET' && request.method !== 'HEAD')) return false;
    if (path === '/livez') {
      send(exchange, 200, JSON_TYPE, '{"status":"ok"}');
      return true;
    }
    const unfit = (body: string): void => {
      exchange.response.setHeader('Retry-After', LOOK_AGAIN);
      send(exchange, 503, JSON_TYPE, body);
    };
    if (isDraining()) {
      // without waiting for the database, because load balancers keep sending requests in the meantime
      unfit('{"status":"draining"}');
      return true;
    }
    const [isAnswering, limiter] = await Promise.all([databases.findsKeys(), limiters.health()]);
    const database = isAnswering ? 'ok' : 'unavailable';
    const others = databases.clusters.filter((cluster) => cluster !== DEFAULT_CLUSTER);
    const clusters = others.map((cluster) => [cluster, availability.isAway(cluster) ? 'unavailable' : 'ok'] as const);
    const areAllThere = clusters.every(([, state]) => state === 'ok');
    // without the shared limiter, limits are kept in memory; without another cluster, its organisations get 503:
    // degraded, but still able to serve
    const status = !isAnswering ? database : areAllThere ? limiter : 'degraded';
    const checks = { database, limiter, ...(others.length > 0 && { clusters: Object.fromEntries(clusters) }) };
    const body = JSON.stringify({ status, checks });
    if (isAnswering) send(exchange, 200, JSON_TYPE, body);
    else unfit(body);
    return true;
  };
}
