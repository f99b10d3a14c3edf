import type { Limiters } from '../access/limiters';
import type { Databases } from '../database/connect';
import { type Exchange, send } from './exchange';

export interface HealthOptions {
  readonly databases: Pick<Databases, 'findsKeys'>;
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
    const status = isAnswering ? limiter : database;
    // without the shared limiter, limits are kept in memory: degraded, but still able to serve
    const body = JSON.stringify({ status, checks: { database, limiter } });
    if (isAnswering) send(exchange, 200, JSON_TYPE, body);
    else unfit(body);
    return true;
  };
}
