import type { ControlModels } from './models';
import { MINUTE } from '../units';

/*
 * On which cluster an organisation is placed. What runs out first on a cluster are the files that its server may open, and each
 * collection and index is one, so every organisation has as many reserved as it can use (docs/decisions/files.md).
 */

export interface Fullness {
  readonly cluster: string;
  readonly organisations: number;
  /** Copies that moves have left there, and moves to it that have not ended. */
  readonly copies: number;
  /** Files reserved for both. */
  readonly reserved: number;
  readonly capacity: number;
}

export class FullClusterError extends Error {
  override readonly name = 'FullClusterError';
}

/** `filesEach` are the files of an organisation that uses everything. */
export function placement(
  models: Pick<ControlModels, 'organisations'>,
  clusters: readonly string[],
  capacityOf: (cluster: string) => number,
  filesEach: number,
) {
  async function fullnessOf(cluster: string): Promise<Fullness> {
    const count = (filter: object): Promise<number> => models.organisations.countDocuments(filter).exec();
    const all = [count({ cluster }), count({ 'copies.cluster': cluster }), count({ 'move.to': cluster })] as const;
    const [organisations, left, coming] = await Promise.all(all);
    const copies = left + coming;
    const reserved = (organisations + copies) * filesEach;
    return { cluster, organisations, copies, reserved, capacity: capacityOf(cluster) };
  }

  const fullness = (): Promise<Fullness[]> => Promise.all(clusters.map(fullnessOf));
  const room = ({ reserved, capacity }: Fullness): number => capacity - reserved;

  return {
    /** How full every cluster is; one count each, by an index. */
    fullness,
    /** The same as last counted; empty until it was counted first. */
    lastKnown: lastKnownOf<readonly Fullness[]>([], fullness),
    /**
     * The cluster for a new organisation: the given one, or the one with the most room. Concurrent calls may each find the
     * same last place. @throws FullClusterError
     */
    async choose(cluster: string | undefined): Promise<string> {
      const found = await Promise.all((cluster === undefined ? clusters : [cluster]).map(fullnessOf));
      const [best] = [...found].sort((one, other) => room(other) - room(one));
      if (best && room(best) >= filesEach) return best.cluster;
      throw new FullClusterError(`${found.map((one) => sayFull(one, filesEach)).join('; ')}; ${MAKE_ROOM}`);
    },
  };
}

/** What to do about a full cluster. */
export const MAKE_ROOM = 'add a cluster to MONGODB_CLUSTERS, or raise CLUSTER_FILES and the LimitNOFILE of its servers';

function sayFull({ cluster, organisations, capacity }: Fullness, filesEach: number): string {
  return `cluster ${cluster} is full: ${count(organisations)} organisations of up to ${String(filesEach)} files leave no room for another in its ${count(capacity)} files`;
}

function count(value: number): string {
  return value.toLocaleString('en');
}

/**
 * What was counted at most a minute or a reading ago, for metrics: without waiting, `first` until it was counted, and as it was while
 * the database is away, which is said elsewhere.
 */
export function lastKnownOf<T>(first: T, count: () => Promise<T>): () => T {
  let known = first;
  let counted = -Infinity;
  let counting: Promise<void> | undefined;
  return () => {
    if (performance.now() - counted > MINUTE) {
      counting ??= count()
        .then((found) => {
          [known, counted] = [found, performance.now()];
        })
        .catch(() => undefined)
        .finally(() => (counting = undefined));
    }
    return known;
  };
}
