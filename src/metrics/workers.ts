import cluster, { type Worker } from 'node:cluster';
import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue, type Registry } from 'prom-client';
import { ask, onAsked } from '../workerChannel';

/*
 * One page of metrics for all workers of `serve --workers`: a worker that is asked for the page asks the primary process, which
 * asks every worker. Each series has the label `worker`, so that a worker that is replaced resets only its own counters. prom-client's own
 * clusterMetrics is not used, since it returns no page if one worker does not answer.
 */

type Collected = MetricObjectWithValues<MetricValue<string>>[];

const [PAGE, METRICS] = ['page of metrics', 'metrics'];
/** How long a worker has to answer, in milliseconds; the page lacks the series of a worker that does not. */
const ANSWER_WITHIN = 2000;
/** How long a worker waits for the page: longer than the other workers have to answer and than making the page takes. */
const PAGE_WITHIN = 5000;

/** Collects the metrics of the workers of this process. */
export function shareMetrics(): void {
  const listening = new Set<Worker>();
  cluster.on('listening', (worker) => listening.add(worker)).on('exit', (worker) => listening.delete(worker));
  const metricsOf = (worker: Worker): Promise<Collected> =>
    ask<Collected>(METRICS, undefined, ANSWER_WITHIN, worker).catch(() => []);
  onAsked(PAGE, async () => AggregatorRegistry.aggregate(await Promise.all([...listening].map(metricsOf))).metrics());
}

/** Lets a worker answer with its metrics; returns a function that renders those of all workers. */
export function metricsOfAllWorkers(registry: Registry, worker: string): () => Promise<string> {
  registry.setDefaultLabels({ worker });
  onAsked(METRICS, () => registry.getMetricsAsJSON());
  return () => ask(PAGE, undefined, PAGE_WITHIN);
}
