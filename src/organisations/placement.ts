import type { mongo } from 'mongoose';
import { nativeCollection } from '../database/native';
import { MINUTE } from '../units';
import type { ControlModels, OrganisationDocument } from './models';

/*
 * Chooses clusters for organisations. What a cluster runs out of first is files that its server can open: one for each collection
 * and index (docs/decisions/files.md).
 */

/** Files to reserve for an organisation that has fewer: as many as a small one takes once it is in use. */
export const MIN_FILES = 22;
/** New organisations leave one twelfth of each cluster free for the growth of others. */
const GROWTH = 12;
/** A cluster is nearly full beyond this share of its capacity; the alert uses the same. */
const NEARLY = 0.85;

export interface Fullness {
  readonly cluster: string;
  readonly organisations: number;
  /** Copies left by moves, and moves to it in progress. */
  readonly copies: number;
  /** Files that the organisations and copies take, as last recorded. */
  readonly used: number;
  /** Files reserved for them. */
  readonly reserved: number;
  readonly capacity: number;
}

export class FullClusterError extends Error {
  override readonly name = 'FullClusterError';
}

type Row = Pick<OrganisationDocument, 'files' | 'copies' | 'move'>;
type Counted = Pick<Fullness, 'organisations' | 'used' | 'reserved'>;

/** A cluster that is away is chosen only if all are. */
export function placement(
  models: Pick<ControlModels, 'organisations'>,
  { clusters, away }: { readonly clusters: readonly string[]; readonly away: ReadonlySet<string> },
  capacityOf: (cluster: string) => number,
) {
  const rows = nativeCollection(models.organisations) as unknown as mongo.Collection;

  /** How full clusters are. Takes two commands: one reads only an index, the other the few organisations with moves or copies. */
  async function fullness(of = clusters): Promise<Fullness[]> {
    const each = { $max: ['$files', MIN_FILES] };
    const sums = { organisations: { $sum: 1 }, used: { $sum: '$files' }, reserved: { $sum: each } };
    const given = { $gt: '' };
    const [counted, moved] = await Promise.all([
      rows
        .aggregate<Counted & { _id: string }>([
          { $match: { cluster: { $in: [...of] } } },
          { $group: { _id: '$cluster', ...sums } },
        ])
        .toArray(),
      rows
        .find<Row>(
          { $or: [{ 'copies.cluster': given }, { 'move.to': given }] },
          { projection: { files: 1, copies: 1, move: 1 } },
        )
        .toArray(),
    ]);
    return of.map((cluster) => {
      const { organisations = 0, used = 0, reserved = 0 } = counted.find(({ _id }) => _id === cluster) ?? {};
      const there = moved.flatMap(({ files = 0, copies = [], move }) =>
        [...copies.map((copy) => copy.cluster), move?.to].filter((place) => place === cluster).map(() => files),
      );
      const sum = (files: readonly number[]): number => files.reduce((total, one) => total + one, 0);
      return {
        ...{ cluster, organisations, copies: there.length, capacity: capacityOf(cluster) },
        used: used + sum(there),
        reserved: reserved + sum(there.map(reservedFiles)),
      };
    });
  }

  return {
    /** How full every cluster is. */
    fullness: () => fullness(),
    /** The same, as last counted; empty before the first count. */
    lastKnown: lastKnownOf<readonly Fullness[]>([], () => fullness()),
    /**
     * The cluster for an organisation with this many files: the given one, or the one with the most room. Concurrent calls may find the
     * same last place; the room left for growth covers that. @throws FullClusterError
     */
    async choose(cluster: string | undefined, files?: number): Promise<string> {
      const there = clusters.filter((name) => !away.has(name));
      const found = await fullness(cluster !== undefined ? [cluster] : there.length > 0 ? there : clusters);
      const [best] = found.toSorted((one, other) => roomOf(other) - roomOf(one));
      if (best && roomOf(best) >= reservedFiles(files)) return best.cluster;
      throw new FullClusterError(`${found.map(sayFull).join('; ')}; ${MAKE_ROOM}`);
    },
  };
}

export const reservedFiles = (files = 0): number => Math.max(files, MIN_FILES);

/** Files left for new organisations. */
const roomOf = ({ reserved, capacity }: Fullness): number => capacity - Math.floor(capacity / GROWTH) - reserved;

export const isNearlyFull = ({ reserved, capacity }: Fullness): boolean => reserved > NEARLY * capacity;

/** What to do about a full cluster. */
export const MAKE_ROOM = 'add a cluster to MONGODB_CLUSTERS, or raise CLUSTER_FILES and the LimitNOFILE of its servers';

function sayFull({ cluster, organisations, copies, reserved, capacity }: Fullness): string {
  const count = (value: number): string => value.toLocaleString('en');
  if (capacity === 0) return `CLUSTER_FILES keeps cluster ${cluster} free of organisations`;
  return `cluster ${cluster} is full: ${count(reserved)} of its ${count(capacity)} files are reserved for ${count(organisations + copies)} organisations, and the rest is left for their growth`;
}

/**
 * Returns a function that gives metrics the last count without waiting, and counts again in the background if that is more than a
 * minute old. It returns `first` before the first count, and the last count while the database is down.
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
