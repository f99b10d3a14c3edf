import type { Config } from '../../src/config';
import type { Exchange } from '../../src/http/exchange';
import type { Metrics } from '../../src/metrics';
import { createMetricsPage } from '../../src/gateway/health';

/** Whether /metrics answers a caller at this address (test/operations/metrics.test.ts: never through a proxy). */
async function answers(access: Config['METRICS'], remoteAddress: string): Promise<boolean> {
  const rendered = new Error('it answers');
  const metrics = { contentType: 'text/plain', render: () => Promise.reject(rendered) } as unknown as Metrics;
  const request = { method: 'GET', headers: {}, socket: { remoteAddress } };
  const exchange = { path: '/metrics', request } as unknown as Exchange;
  return createMetricsPage(
    metrics,
    access,
  )(exchange).catch((error: unknown) => {
    if (error === rendered) return true;
    throw error;
  });
}

const LOOPBACK = ['127.0.0.1', '127.8.0.1', '::1', '::ffff:127.0.0.1'];
const PRIVATE = ['10.0.0.5', '192.168.1.1', '172.17.0.1', '::ffff:10.0.0.5', '169.254.0.1', 'fe80::1', 'fd00::1'];
const PUBLIC = ['8.8.8.8', '::ffff:8.8.8.8', '2001:4860:4860::8888', '', 'nonsense'];

test.each([
  ['loopback', LOOPBACK, [...PRIVATE, ...PUBLIC]],
  ['private', [...LOOPBACK, ...PRIVATE], PUBLIC],
  ['public', [...LOOPBACK, ...PRIVATE, ...PUBLIC], []],
  ['off', [], [...LOOPBACK, ...PRIVATE, ...PUBLIC]],
] as const)('METRICS=%s allows only the addresses it names', async (access, those, others) => {
  for (const address of those) expect([address, await answers(access, address)]).toEqual([address, true]);
  for (const address of others) expect([address, await answers(access, address)]).toEqual([address, false]);
});
