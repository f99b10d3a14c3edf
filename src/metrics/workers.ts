import cluster, { type Worker } from 'node:cluster';
import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue, type Registry } from 'prom-client';
import { within } from '../within';

/*
 * One page of metrics for all workers of `serve --workers`: a worker that is asked for it asks the first process, which asks
 * every worker. Each series has the label `worker`, so that a worker that is replaced resets only its own counters.
 */

type Collected = MetricObjectWithValues<MetricValue<string>>[];

type Message =
  | { readonly scopegate: 'ready' | 'all' }
  | { readonly scopegate: 'collect'; readonly id: number }
  | { readonly scopegate: 'collected'; readonly id: number; readonly metrics: Collected }
  /** Without text if it could not be made. */
  | { readonly scopegate: 'page'; readonly text: string | undefined };

/** How long a worker has to tell its metrics, in milliseconds; without them the page lacks its series. */
const ANSWER_WITHIN = 2000;
/** Above that and the time to make the page. */
const PAGE_WITHIN = 5000;

/** Collects the metrics of the workers of this process. */
export function shareMetrics(): void {
  const ready = new Set<Worker>();
  const waiting = new Map<number, (metrics: Collected) => void>();
  let asked = 0;
  let making: Promise<string> | undefined;

  async function collect(worker: Worker): Promise<Collected> {
    const id = (asked += 1);
    const collected = new Promise<Collected>((resolve) => {
      waiting.set(id, resolve);
      tell(worker, { scopegate: 'collect', id });
    });
    try {
      return await within(ANSWER_WITHIN, collected);
    } catch {
      return [];
    } finally {
      waiting.delete(id);
    }
  }

  async function page(): Promise<string> {
    const metrics = await Promise.all([...ready].map(collect));
    return AggregatorRegistry.aggregate(metrics).metrics();
  }

  cluster.on('exit', (worker) => ready.delete(worker));
  cluster.on('message', (worker, message: Message) => {
    switch (message.scopegate) {
      case 'ready':
        ready.add(worker);
        break;
      case 'collected':
        waiting.get(message.id)?.(message.metrics);
        break;
      case 'all':
        // callers at the same time share one collection
        making ??= page().finally(() => (making = undefined));
        void making
          .catch(() => undefined)
          .then((text) => {
            tell(worker, { scopegate: 'page', text });
          });
    }
  });
}

/** Makes a worker tell its metrics; returns what renders those of all workers. */
export function metricsOfAllWorkers(registry: Registry, worker: string): () => Promise<string> {
  registry.setDefaultLabels({ worker });
  let asking: Promise<string> | undefined;
  process.on('message', (message: Message) => {
    if (message.scopegate !== 'collect') return;
    // a page without these series is better than none
    const collected = registry.getMetricsAsJSON().catch(() => []);
    void collected.then((metrics) => {
      say({ scopegate: 'collected', id: message.id, metrics });
    });
  });
  say({ scopegate: 'ready' });
  return () => (asking ??= pageOfAll().finally(() => (asking = undefined)));
}

async function pageOfAll(): Promise<string> {
  let onMessage: (message: Message) => void = () => undefined;
  const page = new Promise<string>((resolve, reject) => {
    onMessage = (message) => {
      if (message.scopegate !== 'page') return;
      if (message.text === undefined) reject(new Error('the metrics of the workers could not be made one page'));
      else resolve(message.text);
    };
    process.on('message', onMessage);
    say({ scopegate: 'all' });
  });
  try {
    return await within(PAGE_WITHIN, page);
  } finally {
    process.off('message', onMessage);
  }
}

function tell(worker: Worker, message: Message): void {
  // one that ends meanwhile needs it no more
  if (worker.isConnected()) worker.send(message, () => undefined);
}

function say(message: Message): void {
  // to a first process that has died it cannot be sent
  process.send?.(message, undefined, undefined, () => undefined);
}
