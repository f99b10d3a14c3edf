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
const VALID_FOR = 10 * SECOND;
/** After a measurement, this many times as long as it took passes before the next: measuring takes at most 1/20 of the time, however slow the server. */
const REST = 20;
/** Organisations whose size is remembered, each for a day after its last measurement: another gateway may have erased it. */
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

/** What mongos adds to its answer: the sizes by shard, which not all versions sum up. */
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

/** Of the organisations that wrote by this process and have a limit. */
export interface QuotaState {
  /** The largest size, in bytes. */
  readonly largest: number;
  /** The largest part of a limit that is used: 1 or more if it is reached. */
  readonly fullest: number;
  /** How many have reached their limit. */
  readonly full: number;
}

/** What is known of an organisation that writes. Times are those of performance.now(). */
interface Known {
  readonly bytes: number;
  /** The bytes of uploads that were admitted since. */
  readonly uploaded: number;
  /** The limit of its plan, in bytes. */
  readonly most: number;
  readonly validUntil: number;
  readonly mayMeasureFrom: number;
  /** Whether rows were deleted since it was measured, so that it refuses nothing. */
  readonly isOutdated: boolean;
}

/** A measurement in progress. */
interface Measurement {
  /** Resolves with whether it succeeded. */
  done?: Promise<boolean>;
  /** Whether rows were deleted since it began. */
  isOutdated: boolean;
}

const sizeWithUploads = ({ bytes, uploaded }: Known): number => bytes + uploaded;

const isFullAt = (most: number, known: Known | undefined): boolean =>
  known !== undefined && sizeWithUploads(known) >= most;

export interface QuotaOptions {
  /** The bytes that an organisation of a plan may store; null for no limit. */
  readonly mostOf: (plan: string) => number | null;
  /** Called if an organisation could not be measured. */
  readonly onFailure?: (database: string, error: unknown) => void;
  /** Measures a database, in bytes. */
  readonly read?: (database: mongo.Db) => Promise<number>;
}

export function createQuota({ mostOf, onFailure, read = storedBytes }: QuotaOptions) {
  const cache = new LRUCache<string, Known>(KNOWN);
  const measuring = new Map<string, Measurement>();

  async function measure(database: mongo.Db, most: number, measurement: Measurement): Promise<boolean> {
    const name = database.databaseName;
    const begun = performance.now();
    const before = cache.get(name)?.uploaded ?? 0;
    const measured = await read(database).catch((error: unknown) => {
      onFailure?.(name, error);
      return undefined;
    });
    // `admit` has removed it: the plan has no limit any more
    if (!measuring.delete(name)) return false;
    const now = performance.now();
    const last = cache.get(name);
    // if measuring fails, the last size counts unless it is outdated, and one that was never known refuses nothing
    const bytes = measured ?? last?.bytes ?? 0;
    const uploaded = Math.max(0, (last?.uploaded ?? 0) - (measured === undefined ? 0 : before));
    const rest = (now - begun) * REST;
    const validUntil = measurement.isOutdated ? 0 : now + Math.max(VALID_FOR, rest);
    const isOutdated = measurement.isOutdated || (measured === undefined && (last?.isOutdated ?? false));
    cache.set(name, { bytes, uploaded, most, validUntil, mayMeasureFrom: now + rest, isOutdated });
    return measured !== undefined;
  }

  /** Measures an organisation, together with all who ask while it is measured. Resolves as {@link Measurement.done}. */
  function measureOnce(database: mongo.Db, most: number): Promise<boolean> {
    const measurement = measuring.get(database.databaseName) ?? { isOutdated: false };
    measuring.set(database.databaseName, measurement);
    measurement.done ??= inBackground(() => measure(database, most, measurement));
    return measurement.done;
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
      const isFull = isFullAt(most, last);
      /** Whether what is known was measured after this write began, and so after all deletions before it. */
      let isCurrent = false;
      // if uploads make it full, it is measured before the time, since one that was counted may have failed
      if (!last || last.validUntil < now || (isFull && last.uploaded > 0 && last.mayMeasureFrom <= now)) {
        const done = measureOnce(database, most);
        // an old measurement alone must not refuse a write, and files wait for the first
        const isMeasured = (isFull || (!last && upload > 0)) && (await done);
        const measured = cache.get(name);
        // one more, which counts though rows are deleted again meanwhile: otherwise whoever deletes all the time would never be refused
        if (isMeasured && measured?.isOutdated === true && isFullAt(most, measured))
          isCurrent = await measureOnce(database, most);
      }
      const known = cache.get(name);
      // its plan has changed
      if (known && known.most !== most) cache.set(name, { ...known, most });
      const bytes = known ? sizeWithUploads(known) : 0;
      if (bytes < most || (known?.isOutdated === true && !isCurrent)) {
        if (known && upload > 0) cache.set(name, { ...known, most, uploaded: known.uploaded + upload });
        return;
      }
      const detail = `The organisation stores ${String(bytes)} bytes, and its limit is ${String(most)}; nothing was stored.`;
      throw new AppError('quota_exceeded', detail);
    },
    /** Makes the size of an organisation invalid, so that no later write is refused before it has been measured again. */
    outdate({ databaseName }: mongo.Db): void {
      const last = cache.get(databaseName);
      if (last) cache.set(databaseName, { ...last, validUntil: 0, isOutdated: true });
      const measurement = measuring.get(databaseName);
      if (measurement) measurement.isOutdated = true;
    },
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
