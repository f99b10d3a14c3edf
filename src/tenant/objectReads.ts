import type DataLoader from 'dataloader';
import type { mongo } from 'mongoose';
import type { Semaphore } from '../async/semaphore';
import type { Budget } from '../async/yield';
import type { Collection, Projection } from '../mongo/collection';
import type { Reading } from '../mongo/readRows';
import { coalescedRawReads, coalescedRows, type WantedRow } from './coalesce';

/* Reads of an organisation's objects by id, batched: those that are asked for in the same turn of the event loop are read together. */

/** The fastest of 1, 4, 8 and 100 for reads of one object: with unlimited batches, gateway and database wait for each other. */
const POINT_READ_BATCH = 8;

/** More than the rows of a page refer to (100): related rows are read in pieces of bounded size anyway. */
const RELATED_BATCH = 1000;

/** What loads objects by id, and how many it looks for together. */
const LOADERS = {
  point: { load: coalescedRows, maxBatchSize: POINT_READ_BATCH },
  raw: { load: coalescedRawReads, maxBatchSize: POINT_READ_BATCH },
  related: { load: coalescedRows, maxBatchSize: RELATED_BATCH },
  nested: { load: coalescedRows, maxBatchSize: RELATED_BATCH },
} as const;

interface ObjectReadsOptions {
  readonly collection: (definition: Collection) => mongo.Collection<{ readonly _id: string }>;
  /** Limits the commands that read at once. */
  readonly semaphore: Semaphore;
  readonly reading: Omit<Reading, 'hold'>;
  /** The budget of `nested`. */
  readonly nestedBudget: Budget;
}

export type ObjectReads = ReturnType<typeof createObjectReads>;

export function createObjectReads({ collection, semaphore, reading, nestedBudget }: ObjectReadsOptions) {
  /** By collection and kind, then by the projection object, which is a constant or lives as long as the operation that it is for. */
  const loaders = new Map<string, WeakMap<Projection, unknown>>();

  function loaderOf<T, Wanted>(
    kind: keyof typeof LOADERS,
    definition: Collection,
    projection: Projection,
  ): DataLoader<Wanted, T | null> {
    // each time, since that may begin a check of its indexes
    const rows = collection(definition);
    const key = `${definition.name} ${kind}`;
    const byProjection = loaders.get(key) ?? new WeakMap<Projection, unknown>();
    loaders.set(key, byProjection);
    let loader = byProjection.get(projection);
    if (!loader) {
      const { load, maxBatchSize } = LOADERS[kind];
      const budget = kind === 'nested' ? nestedBudget : reading.budget;
      const options = { maxBatchSize, semaphore, reading: { ...reading, budget }, projection };
      loader = load(rows, options);
      byProjection.set(projection, loader);
    }
    return loader as DataLoader<Wanted, T | null>;
  }

  const loadBy =
    (kind: 'point' | 'related' | 'nested') =>
    <T extends { _id: string }>(of: Collection<T>, wanted: WantedRow, projection: Projection): Promise<T | null> =>
      loaderOf<T, WantedRow>(kind, of, projection).load(wanted);
  const loadPoint = loadBy('point');

  return {
    /** Reads an object by id (upper or lower case); null if there is none. */
    read: <T extends { _id: string }>(of: Collection<T>, id: string, projection: Projection): Promise<T | null> =>
      // not counted as held by its request: it is one row, of at most 16 MiB
      loadPoint(of, { id: id.toLowerCase(), hold: undefined }, projection),
    /** The same, as the bytes that the database sent. @throws UnsupportedValue if that is not possible */
    readRaw: (of: Collection, id: string, projection: Projection): Promise<Buffer | null> =>
      loaderOf<Buffer, string>('raw', of, projection).load(id.toLowerCase()),
    /** Reads an object that another refers to; all relations on one level of a query are batched. @throws what `wanted.hold` throws */
    related: loadBy('related'),
    /** The same for a row of a list inside a list, of which a query can have thousands: other work has its turn between two pieces. */
    nested: loadBy('nested'),
  };
}
