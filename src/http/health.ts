import type { Limiters } from '../access/limiters';
import type { Databases } from '../database/connect';
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
  databases: Pick<Databases, 'findsKeys'>,
  limiters: Pick<Limiters, 'health'>,
  isDraining: () => boolean,
): (exchange: Exchange) => Promise<boolean> {
  async function readiness(): Promise<{ status: string; checks?: object }> {
    // without waiting for the database, because load balancers keep sending requests in the meantime
    if (isDraining()) return { status: 'draining' };
    const [isAnswering, limiter] = await Promise.all([databases.findsKeys(), limiters.health()]);
    const database = isAnswering ? 'ok' : 'unavailable';
    // without the shared limiter, limits are kept in memory: degraded, but still able to serve
    return { status: isAnswering ? limiter : database, checks: { database, limiter } };
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
