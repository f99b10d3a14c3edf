import type { Config } from '../config';
import { type Exchange, send } from './exchange';
import type { Metrics } from '../metrics';
import { isNear } from './requestHead';

export const METRICS_PATH = '/metrics';

/** Address ranges that may read the metrics, by METRICS; other values do not depend on the address. */
const NEAR = {
  loopback: ['loopback'],
  // for a Prometheus in another container or on another machine in the network
  private: ['loopback', 'private', 'uniqueLocal', 'linkLocal'],
} as const satisfies Partial<Record<Config['METRICS'], readonly string[]>>;

/** GET /metrics for allowed callers; for others it looks like any unknown page. Resolves to whether it answered. */
export function createMetricsPage(
  metrics: Metrics,
  access: Config['METRICS'],
): (exchange: Exchange) => Promise<boolean> {
  return async (exchange) => {
    const { path, request } = exchange;
    if (path !== METRICS_PATH || (request.method !== 'GET' && request.method !== 'HEAD')) return false;
    if (access === 'off' || (access !== 'public' && !isNear(request, NEAR[access]))) return false;
    send(exchange, 200, metrics.contentType, await metrics.render());
    return true;
  };
}
