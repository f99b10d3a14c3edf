import type { Limiters } from './access/limiters';
import type { Databases } from './database/connect';
import { type Exchange, send } from './http/exchange';

export interface HealthOptions {
  readonly databases: Pick<Databases, 'ping'>;
  readonly limiters: Pick<Limiters, 'health'>;
  readonly isDraining: () => boolean;
}

const JSON_TYPE = 'application/json; charset=utf-8';

/** GET /livez: the process is up. GET /readyz: it can answer; 503 while the database is away or the server drains. */
export function createHealth({
  databases,
  limiters,
  isDraining,
}: HealthOptions): (exchange: Exchange) => Promise<boolean> {
  return async (exchange) => {
    const { path, request } = exchange;
    if ((path !== '/livez' && path !== '/readyz') || (request.method !== 'GET' && request.method !== 'HEAD'))
      return false;
    if (path === '/livez') {
      send(exchange, 200, JSON_TYPE, '{"status":"ok"}');
      return true;
    }
    const [database, limiter] = await Promise.all([databaseHealth(databases), limiters.health()]);
    const status = isDraining() ? 'draining' : database === 'ok' ? limiter : database;
    // with the shared limiter away, memory limits: degraded, and still fit to serve
    const isReady = status === 'ok' || status === 'degraded';
    send(exchange, isReady ? 200 : 503, JSON_TYPE, JSON.stringify({ status, checks: { database, limiter } }));
    return true;
  };
}

function databaseHealth(databases: Pick<Databases, 'ping'>): Promise<'ok' | 'unavailable'> {
  return databases.ping().then(
    () => 'ok',
    () => 'unavailable',
  );
}
