import { Registry } from 'prom-client';
import { addGauges, type GaugeOptions } from '../../src/metrics/gauges';

const none = () => [];
const IDLE: Omit<GaugeOptions, 'webhookEndpoints'> = {
  ...{ pools: none, clusters: none, clocks: none, files: none, tails: none, version: '0', bytesLimit: undefined },
  ...{ openConnections: () => 0, requestsInFlight: () => 0, bodyBytes: () => 0 },
  quotas: () => ({ largest: 0, full: 0 }),
  moves: () => ({ moving: 0, stopped: 0 }),
  waiting: () => ({ requests: 0, streams: 0 }),
  webhooks: () => ({ waited: () => 0, posting: () => 0, postsWaiting: () => 0 }),
};

test('the metrics do not wait for a database that does not respond, and keep its last counts while it fails', async () => {
  const registry = new Registry();
  let respond: (counts: ReadonlyMap<string, number>) => void = () => undefined;
  let counts = new Promise<ReadonlyMap<string, number>>((resolve) => (respond = resolve));
  addGauges(registry, { ...IDLE, webhookEndpoints: () => counts });
  const without = await registry.metrics();
  expect(without).toContain('scopegate_webhook_posts 0');
  expect(without).not.toContain('scopegate_webhook_endpoints{');
  respond(new Map([['enabled', 3]]));
  expect(await registry.metrics()).toContain('scopegate_webhook_endpoints{state="enabled"} 3');
  counts = Promise.reject(new Error('the database is away'));
  expect(await registry.metrics()).toContain('scopegate_webhook_endpoints{state="enabled"} 3');
});
