import cluster, { type Worker } from 'node:cluster';
import { Counter, Registry } from 'prom-client';
import { shareMetrics } from '../../src/metrics/workers';
import { eventually } from '../http/eventually';

/* The first process of `serve --workers`, with workers that are none. */

const before = ['message', 'exit'].map((name) => [name, cluster.listeners(name)] as const);
afterAll(() => {
  for (const [name, listeners] of before) {
    for (const one of cluster.listeners(name)) {
      if (!listeners.includes(one)) cluster.off(name, one as () => void);
    }
  }
});

test('a page that cannot be made is told to whoever asked for it, and the next one is made', async () => {
  shareMetrics();
  const registry = new Registry();
  new Counter({ name: 'counted', help: 'counted', registers: [registry] }).inc(3);
  const answers: unknown[] = [{ broken: true }, await registry.getMetricsAsJSON()];
  const pages: unknown[] = [];
  const worker = {
    isConnected: () => true,
    send(message: { readonly scopegate: string; readonly id?: number; readonly text?: string }) {
      if (message.scopegate === 'page') pages.push(message.text);
      else cluster.emit('message', worker, { scopegate: 'collected', id: message.id, metrics: answers.shift() });
    },
  } as unknown as Worker;
  cluster.emit('message', worker, { scopegate: 'ready' });
  for (const count of [1, 2]) {
    cluster.emit('message', worker, { scopegate: 'all' });
    await eventually(() => pages.length === count, 5000);
  }
  expect(pages).toEqual([undefined, expect.stringMatching(/^counted 3$/m)]);
});
