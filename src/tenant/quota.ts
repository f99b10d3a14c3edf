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

/** How long a size counts, in milliseconds. */
const VALID_FOR = 10 * SECOND;
/** After a measurement, this many times as long as it took passes before the next is due: that takes at most 1/20 of the time, however slow the server. */
const REST = 20;
/**
 * Organisations whose size is remembered, each for a day after its last measurement: another gateway may have erased it. One takes about 0.5 KB, and
 * one that is forgotten, the first to write after 10,000 others, is measured at its next write.
 */
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
interface Size {
  /** As measured last; undefined before that. */
  bytes: number | undefined;
  /** The bytes of uploads that were admitted since. */
  uploaded: number;
  /** The limit of its plan, in bytes. */
  most: number;
  /** When the next measurement is due, and from when it may be earlier because uploads may have failed. */
  due: number;
  mayMeasureFrom: number;
  /** How often something was deleted; and how often when `bytes` was measured, and when that was last tried. */
  deletions: number;
  measuredAfter: number;
  triedAfter: number;
  measuring: Promise<void> | undefined;
}

const newSize = (most: number): Size => ({
  ...{ bytes: undefined, uploaded: 0, most, due: 0, mayMeasureFrom: 0 },
  ...{ deletions: 0, measuredAfter: 0, triedAfter: 0, measuring: undefined },
});

/** With uploads; 0 while it is unknown, so that it refuses nothing. */
const bytesOf = ({ bytes, uploaded }: Size): number => (bytes === undefined ? 0 : bytes + uploaded);

const isFull = (size: Size): boolean => bytesOf(size) >= size.most;

export interface QuotaOptions {
  /** The bytes that an organisation of a plan may store; null for no limit. */
  readonly mostOf: (plan: string) => number | null;
  /** Called if an organisation could not be measured. */
  readonly onFailure?: (database: string, error: unknown) => void;
  /** Measures a database, in bytes. */
  readonly read?: (database: mongo.Db) => Promise<number>;
}

export function createQuota({ mostOf, onFailure, read = storedBytes }: QuotaOptions) {
  const sizes = new LRUCache<string, Size>(KNOWN);

  async function measureNow(database: mongo.Db, size: Size): Promise<void> {
    const begun = performance.now();
    const { uploaded, deletions } = size;
    size.triedAfter = deletions;
    try {
      size.bytes = await read(database);
      size.uploaded -= uploaded;
      size.measuredAfter = deletions;
    } catch (error) {
      // the last size counts, unless something was deleted since
      onFailure?.(database.databaseName, error);
    }
    const now = performance.now();
    size.mayMeasureFrom = now + (now - begun) * REST;
    size.due = Math.max(now + VALID_FOR, size.mayMeasureFrom);
    size.measuring = undefined;
    // for another day, unless its plan has no limit any more
    if (sizes.peek(database.databaseName) === size) sizes.set(database.databaseName, size);
  }

  /** Measures an organisation, together with all who ask while it is measured. */
  const measure = (database: mongo.Db, size: Size): Promise<void> =>
    (size.measuring ??= inBackground(() => measureNow(database, size)));

  return {
    /**
     * `upload` is the size of a file, in bytes: files count at once, and other writes from the next measurement on.
     * @throws AppError quota_exceeded for an organisation that has reached the limit of its plan
     */
    async admit(database: mongo.Db, plan: string, upload = 0): Promise<void> {
      const name = database.databaseName;
      const most = mostOf(plan);
      if (most === null) {
        sizes.delete(name);
        return;
      }
      const size = sizes.get(name) ?? newSize(most);
      if (!sizes.has(name)) sizes.set(name, size);
      size.most = most;
      // what is deleted from now on is not this write's concern: otherwise whoever deletes all the time would never be refused
      const { deletions, bytes, due, mayMeasureFrom, uploaded } = size;
      const now = performance.now();
      // if uploads make it full, it is measured before the time, since one that was counted may have failed
      if (due <= now || (isFull(size) && uploaded > 0 && mayMeasureFrom <= now)) {
        const done = measure(database, size);
        // an old size alone must not refuse a write, and files wait for the first
        if (isFull(size) || (bytes === undefined && upload > 0)) await done;
      }
      // a measurement from before a deletion refuses nothing; the first of two may have been under way then
      for (let tries = 0; tries < 2 && isFull(size) && size.triedAfter < deletions; tries += 1)
        await measure(database, size);
      if (!isFull(size) || size.measuredAfter < deletions) {
        size.uploaded += upload;
        return;
      }
      const detail = `The organisation stores ${String(bytesOf(size))} bytes, and its limit is ${String(size.most)}; nothing was stored.`;
      throw new AppError('quota_exceeded', detail);
    },
    /** Notes that something was deleted: no later write is refused before the organisation has been measured again. */
    noteDeletion({ databaseName }: mongo.Db): void {
      const size = sizes.get(databaseName);
      if (size) size.deletions += 1;
    },
    state(): QuotaState {
      const all = [...sizes.values()];
      return {
        largest: Math.max(0, ...all.map(bytesOf)),
        fullest: Math.max(0, ...all.map((size) => bytesOf(size) / size.most)),
        full: all.filter(isFull).length,
      };
    },
  };
}
