/*
 * Which clusters respond. Requests for a cluster that does not are rejected at once, so that memory does not grow and no
 * other cluster's requests wait (docs/decisions/clusters.md).
 */

/** How often a cluster is checked, in milliseconds, and how often while it is away. */
const CHECK_EVERY = 5000;
const ASK_AGAIN = 200;

export interface Availability {
  /** Whether the cluster did not respond when it was last checked. */
  readonly isAway: (cluster: string) => boolean;
  /** Checks the cluster now. */
  ask(cluster: string): Promise<boolean>;
  /** Checks all clusters once, and from then on regularly. */
  start(): Promise<void>;
  stop(): void;
}

export interface AvailabilityOptions {
  readonly clusters: readonly string[];
  /** Whether a cluster responds. */
  readonly answers: (cluster: string) => Promise<boolean>;
  /** Called when a cluster goes away, and when it is back. */
  readonly onChange: (cluster: string, isAway: boolean) => void;
}

export function createAvailability({ clusters, answers, onChange }: AvailabilityOptions): Availability {
  const away = new Set<string>();
  const timers = new Map<string, NodeJS.Timeout>();
  let isStopped = false;

  async function ask(cluster: string): Promise<boolean> {
    const isThere = await answers(cluster);
    if (isThere === away.has(cluster)) {
      if (isThere) away.delete(cluster);
      else away.add(cluster);
      onChange(cluster, !isThere);
    }
    clearTimeout(timers.get(cluster));
    if (!isStopped) {
      timers.set(cluster, setTimeout(() => void ask(cluster), isThere ? CHECK_EVERY : ASK_AGAIN).unref());
    }
    return isThere;
  }

  return {
    isAway: (cluster) => away.has(cluster),
    ask,
    start: async () => {
      await Promise.all(clusters.map(ask));
    },
    stop() {
      isStopped = true;
      for (const timer of timers.values()) clearTimeout(timer);
    },
  };
}
