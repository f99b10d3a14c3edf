import type { Databases } from './database/connect';
import { type Exchange, send } from './http/exchange';

export interface HealthOptions {
  readonly databases: Pick<Databases, 'ping'>;
  readonly isDraining: () => boolean;
}

/** GET /livez: the process is up. GET /readyz: it can answer; 503 while the database is away or the server drains. */
export function createHealth({ databases, isDraining }: HealthOptions): (exchange: Exchange) => Promise<boolean> {
  return async (exchange) => {
    const { path, request } = exchange;
    if ((path !== '/livez' && path !== '/readyz') || (request.method !== 'GET' && request.method !== 'HEAD'))
      return false;
    if (path === '/livez') {
      send(exchange, 200, 'application/json; charset=utf-8', '{"status":"ok"}');
      return true;
    }
    const database = await databases.ping().then(
      () => 'ok',
      () => 'unavailable',
    );
    const status = isDraining() ? 'draining' : database;
    send(
      exchange,
      status === 'ok' ? 200 : 503,
      'application/json; charset=utf-8',
      JSON.stringify({ status, checks: { database, limiter: 'ok' } }),
    );
    return true;
  };
}
