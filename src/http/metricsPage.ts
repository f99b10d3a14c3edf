import ipaddr from 'ipaddr.js';
import type { Config } from '../config';
import { type Exchange, send } from './exchange';
import type { Metrics } from '../metrics/index';

export const METRICS_PATH = '/metrics';

/** Headers that a proxy adds: with one of them the caller is not who the connection says. */
const FORWARDED = ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via'];
/** Ranges of addresses that may read, by METRICS; the others are judged by nothing. */
const NEAR = {
  loopback: ['loopback'],
  // a Prometheus in another container or on another machine of the network
  private: ['loopback', 'private', 'uniqueLocal', 'linkLocal'],
} as const satisfies Partial<Record<Config['METRICS'], readonly string[]>>;

/** GET /metrics, for whoever may read it; anyone else learns nothing of it. Answers whether it did. */
export function createMetricsPage(
  metrics: Metrics,
  access: Config['METRICS'],
): (exchange: Exchange) => Promise<boolean> {
  return async (exchange) => {
    const { path, request } = exchange;
    if (path !== METRICS_PATH || (request.method !== 'GET' && request.method !== 'HEAD')) return false;
    if (access === 'off' || (access !== 'public' && !isNear(exchange, NEAR[access]))) return false;
    send(exchange, 200, metrics.contentType, await metrics.render());
    return true;
  };
}

/** Whether the caller connects from one of some ranges, and not through a proxy there. */
function isNear({ request }: Exchange, ranges: readonly string[]): boolean {
  if (FORWARDED.some((name) => request.headers[name] !== undefined)) return false;
  const address = request.socket.remoteAddress ?? '';
  return ipaddr.isValid(address) && ranges.includes(ipaddr.process(address).range());
}
