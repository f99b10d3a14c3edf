import type { Worker } from 'node:cluster';

interface Handle {
  close?(): void;
}

/** An internal message of node:cluster about a port of a worker; there is no public event for it. */
interface PortMessage {
  readonly act?: string;
  readonly key?: string;
}

/**
 * Closes connections that no worker will take; node:cluster would keep them open, with their callers waiting. These are connections on
 * their way to a worker when it dies, at most one per port, and those that workers hand back once none of them listens any more.
 * Connections that a worker took close with it. Returns a function that watches one worker; `workers` are all those that run.
 */
export function closeUntakenConnections(workers: ReadonlySet<Worker>): (worker: Worker) => void {
  /** By port, the last connection sent to each worker. */
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
