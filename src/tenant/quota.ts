import { LRUCache } from 'lru-cache';
import type { mongo } from 'mongoose';
import { inBackground } from '../async/background';
import { AppError } from '../errors';
import { DAY, SECOND } from '../units';
import { READ_TIMEOUT } from '../mongo/native';

/*
 * How much an organisation may store (docs/decisions/quota.md). Its size is measured in the background while it writes, not at
 * each write.
 */

/** How old a measurement may be, in milliseconds. */
const EVERY = 10 * SECOND;
/** At most 1/20 of the time is spent measuring, however slowly the server answers. */
const SHARE = 20;
/** Organisations whose size is remembered, until a day after the last that was measured: it may have been erased by another gateway. */
const KNOWN = { max: 10_000, ttl: DAY };

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

/** What is known of an organisation that writes. Times are those of performance.now(). */
interface Known {
  readonly bytes: number;
  /** The bytes of uploads that were admitted since. */
  readonly uploaded: number;
  readonly most: number;
  /** Until when the size is valid. */
  readonly until: number;
  /** From when on it may be measured again. */
  readonly again: number;
}

const sizeWithUploads = ({ bytes, uploaded }: Known): number => bytes + uploaded;

export interface QuotaOptions {
  /** The bytes that an organisation of a plan may store; null for no limit. */
  readonly mostOf: (plan: string) => number | null;
  /** Called if an organisation could not be measured. */
  readonly onFailure?: (database: string, error: unknown) => void;
  readonly read?: (database: mongo.Db) => Promise<number>;
}

export function createQuota({ mostOf, onFailure, read = storedBytes }: QuotaOptions) {
  const cache = new LRUCache<string, Known>(KNOWN);
  const measuring = new Map<string, Promise<void>>();

  async function measure(database: mongo.Db, most: number): Promise<void> {
    const name = database.databaseName;
    const begun = performance.now();
    const before = cache.get(name)?.uploaded ?? 0;
    const measured = await read(database).catch((error: unknown) => {
      onFailure?.(name, error);
      return undefined;
    });
    // its plan has no limit any more
    if (!measuring.delete(name)) return;
    const now = performance.now();
    const last = cache.get(name);
    // if measuring fails, the last size counts, and one that was never known refuses nothing
    const bytes = measured ?? last?.bytes ?? 0;
    const uploaded = Math.max(0, (last?.uploaded ?? 0) - (measured === undefined ? 0 : before));
    const rest = (now - begun) * SHARE;
    cache.set(name, { bytes, uploaded, most, until: now + Math.max(EVERY, rest), again: now + rest });
  }

  return {
    /**
     * `upload` is the size of a file, in bytes: files count at once, and other writes from the next measurement on.
     * @throws AppError quota_exceeded for an organisation that has reached the limit of its plan
     */
    async admit(database: mongo.Db, plan: string, upload = 0): Promise<void> {
      const name = database.databaseName;
      const most = mostOf(plan);
      if (most === null) {
        cache.delete(name);
        measuring.delete(name);
        return;
      }
      const last = cache.get(name);
      const now = performance.now();
      const isFull = last !== undefined && sizeWithUploads(last) >= most;
      // an upload that counted may have failed
      if (!last || last.until < now || (isFull && last.uploaded > 0 && last.again <= now)) {
        const measurement = measuring.get(name) ?? inBackground(() => measure(database, most));
        measuring.set(name, measurement);
        // an outdated measurement alone must not refuse a write, and files wait for the first
        if (isFull || (!last && upload > 0)) await measurement;
      }
      const known = cache.get(name);
      // its plan has changed
      if (known && known.most !== most) cache.set(name, { ...known, most });
      const bytes = known ? sizeWithUploads(known) : 0;
      if (bytes < most) {
        if (known && upload > 0) cache.set(name, { ...known, most, uploaded: known.uploaded + upload });
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
      const all = [...cache.values()].map((known) => ({ bytes: sizeWithUploads(known), most: known.most }));
      return {
        largest: Math.max(0, ...all.map(({ bytes }) => bytes)),
        fullest: Math.max(0, ...all.map(({ bytes, most }) => bytes / most)),
        full: all.filter(({ bytes, most }) => bytes >= most).length,
      };
    },
  };
}
