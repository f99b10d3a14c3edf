import { LRUCache } from 'lru-cache';
import type { mongo } from 'mongoose';
import { inBackground } from '../async/background';
import { AppError } from '../errors';
import { SECOND } from '../units';
import { READ_TIMEOUT } from '../mongo/native';

/*
 * How much an organisation may store (docs/decisions/quota.md). Its size is measured in the background while it writes, not at
 * each write.
 */

/** How old a measurement may be, in milliseconds. */
const EVERY = 10 * SECOND;
/** At most 1/20 of the time is spent measuring, however slowly the server answers. */
const SHARE = 20;
/** Organisations whose size is remembered. */
const MAX_KNOWN = 10_000;

/** The bytes of an organisation's uncompressed documents and its indexes. Unlike the size of files, they drop as soon as rows are deleted. */
export async function storedBytes(database: mongo.Db): Promise<number> {
  const stats = (await database.command({ dbStats: 1, maxTimeMS: READ_TIMEOUT })) as Sizes & ByShard;
  const total = sizeOf(stats) ?? sumOf(Object.values(stats.raw ?? {}).map(sizeOf));
  if (total === undefined) throw new Error(`dbStats of ${database.databaseName} does not say its size`);
  return total;
}

interface Sizes {
  readonly dataSize?: unknown;
  readonly indexSize?: unknown;
}

/** What mongos adds to its answer, and not all versions sum up. */
interface ByShard {
  readonly raw?: Readonly<Record<string, Sizes>>;
}

function sizeOf({ dataSize, indexSize }: Sizes): number | undefined {
  const size = Number(dataSize) + Number(indexSize);
  return Number.isFinite(size) ? size : undefined;
}

/** The sum of sizes; undefined if there are none, or one is unknown. */
function sumOf(sizes: readonly (number | undefined)[]): number | undefined {
  const knownSizes = sizes.filter((size) => size !== undefined);
  return knownSizes.length === 0 || knownSizes.length < sizes.length
    ? undefined
    : knownSizes.reduce((sum, size) => sum + size, 0);
}

export type Quota = ReturnType<typeof createQuota>;

export interface QuotaState {
  /** In bytes. */
  readonly largest: number;
  /** From 0, and from 1 on for an organisation that has reached its limit. */
  readonly fullest: number;
  readonly full: number;
}

/** What is known of an organisation that writes: its size, its limit, and until when (performance.now()) the size is valid. */
interface Known {
  readonly bytes: number;
  /** The bytes of uploads that were admitted since. */
  readonly uploaded: number;
  readonly most: number;
  readonly until: number;
}

/** Organisations may store fewer bytes than `mostOf` their plan, without which there is no limit. */
export function createQuota(mostOf: (plan: string) => number | null, read = storedBytes) {
  const cache = new LRUCache<string, Known>({ max: MAX_KNOWN });
  const measuring = new Map<string, Promise<void>>();

  async function measure(database: mongo.Db, most: number): Promise<void> {
    const begun = performance.now();
    const before = cache.get(database.databaseName)?.uploaded ?? 0;
    const measured = await read(database).catch(() => undefined);
    const now = performance.now();
    const last = cache.get(database.databaseName);
    // if measuring fails, the last size counts
    const bytes = measured ?? last?.bytes ?? 0;
    const uploaded = Math.max(0, (last?.uploaded ?? 0) - (measured === undefined ? 0 : before));
    cache.set(database.databaseName, { bytes, uploaded, most, until: now + Math.max(EVERY, (now - begun) * SHARE) });
    measuring.delete(database.databaseName);
  }

  return {
    /**
     * `upload` is the size of a file, in bytes: files count at once, and other writes from the next measurement on.
     * @throws AppError quota_exceeded for an organisation that has reached the limit of its plan
     */
    async admit(database: mongo.Db, plan: string, upload = 0): Promise<void> {
      const most = mostOf(plan);
      if (most === null) {
        cache.delete(database.databaseName);
        return;
      }
      const last = cache.get(database.databaseName);
      const isFull = last !== undefined && last.bytes + last.uploaded >= most;
      // an upload that counted may have failed
      if (!last || last.until < performance.now() || (isFull && last.uploaded > 0)) {
        const measurement = measuring.get(database.databaseName) ?? inBackground(() => measure(database, most));
        measuring.set(database.databaseName, measurement);
        // an outdated measurement alone must not refuse a write, and an unknown size not admit files
        if (isFull || (!last && upload > 0)) await measurement;
      }
      const known = cache.get(database.databaseName);
      // its plan has changed
      if (known && known.most !== most) cache.set(database.databaseName, { ...known, most });
      const bytes = known ? known.bytes + known.uploaded : 0;
      if (bytes < most) {
        if (known && upload > 0)
          cache.set(database.databaseName, { ...known, most, uploaded: known.uploaded + upload });
        return;
      }
      const detail = `The organisation stores ${String(bytes)} bytes, and its limit is ${String(most)}; nothing was stored.`;
      throw new AppError('quota_exceeded', detail);
    },
    /** Has the size of an organisation measured before a write of its next is refused. */
    outdate({ databaseName }: mongo.Db): void {
      const last = cache.get(databaseName);
      if (last) cache.set(databaseName, { ...last, until: 0 });
    },
    /** Among the organisations that wrote here and have a limit: the largest size, the largest part of a limit, and how many have reached it. */
    state(): QuotaState {
      const all = [...cache.values()];
      return {
        largest: Math.max(0, ...all.map(({ bytes }) => bytes)),
        fullest: Math.max(0, ...all.map(({ bytes, most }) => bytes / most)),
        full: all.filter(({ bytes, most }) => bytes >= most).length,
      };
    },
  };
}
