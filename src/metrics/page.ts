import ipaddr from 'ipaddr.js';
import type { Config } from '../config';
import { type Exchange, send } from '../http/exchange';
import type { Metrics } from './index';

export const METRICS_PATH = '/metrics';

/** Headers that a proxy adds: with one of them the caller is not who the connection says. */
const FORWARDED = ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via'];
const NEAR: readonly string[] = ['loopback', 'private', 'uniqueLocal', 'linkLocal'];

/** GET /metrics, for whoever may read it; anyone else learns nothing of it. Answers whether it did. */
export function createMetricsPage(
  metrics: Metrics,
  access: Config['METRICS'],
): (exchange: Exchange) => Promise<boolean> {
  return async (exchange) => {
    const { path, request } = exchange;
    if (path !== METRICS_PATH || (request.method !== 'GET' && request.method !== 'HEAD')) return false;
    if (access === 'off' || (access === 'loopback' && !isNear(exchange))) return false;
    send(exchange, 200, metrics.contentType, await metrics.render());
    return true;
  };
}

/** Whether the caller connects from this machine or its private network, and not through a proxy there. */
function isNear({ request }: Exchange): boolean {
  if (FORWARDED.some((name) => request.headers[name] !== undefined)) return false;
  const address = request.socket.remoteAddress ?? '';
  return ipaddr.isValid(address) && NEAR.includes(ipaddr.process(address).range());
}
