import type { Worker } from 'node:cluster';

interface Handle {
  close?(): void;
}

/** An internal message of node:cluster about a worker's port, since there is no event for it. */
interface PortMessage {
  readonly act?: string;
  readonly key?: string;
}

/**
 * Closes connections that nobody will take, which node:cluster would keep open, and their callers waiting: those on their way to a worker
 * when it dies, one a port at most, and those that come back from workers of which none listens any more. Those that were taken are closed
 * already. Watches a worker; `workers` are all that run.
 */
export function closeUntakenConnections(workers: ReadonlySet<Worker>): (worker: Worker) => void {
  /** By port, what each worker was sent last. */
  const sent = new Map<string | undefined, Map<Worker, Handle>>();
  /** By port, the workers that have closed it. */
  const closed = new Map<string | undefined, Set<Worker>>();

  function portClosed(worker: Worker, key: string | undefined): void {
    const by = closed.get(key) ?? new Set();
    closed.set(key, by.add(worker));
    if ([...workers].every((one) => by.has(one))) for (const handle of sent.get(key)?.values() ?? []) handle.close?.();
  }

  return (worker) => {
    const { process } = worker;
    const send = process.send.bind(process) as (...args: unknown[]) => boolean;
    process.send = (message: PortMessage, ...others: unknown[]): boolean => {
      const [handle] = others as (Handle | undefined)[];
      if (handle) sent.set(message.key, (sent.get(message.key) ?? new Map<Worker, Handle>()).set(worker, handle));
      return send(message, ...others);
    };
    process.on('internalMessage' as never, ({ act, key }: PortMessage) => {
      if (act === 'close') portClosed(worker, key);
    });
    worker.once('exit', () => {
      for (const handles of sent.values()) {
        handles.get(worker)?.close?.();
        handles.delete(worker);
      }
      for (const by of closed.values()) by.delete(worker);
    });
  };
}
