import { Registry } from 'prom-client';
import { addWebhooks } from '../../src/metrics/webhooks';

const IDLE = { waited: () => 0, posting: () => 0, postsWaiting: () => 0 };

test('the metrics do not wait for a database that does not respond, and have its counts once it did', async () => {
  const registry = new Registry();
  let respond: (counts: ReadonlyMap<string, number>) => void = () => undefined;
  const counts = new Promise<ReadonlyMap<string, number>>((resolve) => (respond = resolve));
  addWebhooks(registry, { webhooks: () => IDLE, webhookEndpoints: () => counts });
  const without = await registry.metrics();
  expect(without).toContain('scopegate_webhook_posts 0');
  expect(without).not.toContain('scopegate_webhook_endpoints{');
  respond(new Map([['enabled', 3]]));
  expect(await registry.metrics()).toContain('scopegate_webhook_endpoints{state="enabled"} 3');
});

test('the last counts stay while the database fails', async () => {
  const registry = new Registry();
  let count = (): Promise<ReadonlyMap<string, number>> => Promise.resolve(new Map([['enabled', 3]]));
  addWebhooks(registry, { webhooks: () => IDLE, webhookEndpoints: () => count() });
  await registry.metrics();
  count = () => Promise.reject(new Error('the database is away'));
  expect(await registry.metrics()).toContain('scopegate_webhook_endpoints{state="enabled"} 3');
});
