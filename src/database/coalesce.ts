import DataLoader from 'dataloader';
import type { Model } from 'mongoose';
import type { Projection } from './collection';
import type { Gate } from './gate';
import { nativeCollection } from './native';

/**
 * Batches reads by id in one turn of the event loop into one `$in`, since most of a point read is the driver's fixed cost
 * (docs/decisions/speed.md). Nothing is cached, and queries already sent are not shared, so callers see their own writes.
 * Uses the driver directly, since ids are always strings and mongoose has nothing to cast.
 */
export function coalescedReads<T extends { _id: string }>(
  model: Model<T>,
  options: { projection?: Projection; maxBatchSize: number; gate?: Gate },
): DataLoader<string, T | null> {
  const { projection, gate } = options;
  const rows = nativeCollection<{ _id: string }>(model as unknown as Model<{ _id: string }>);

  async function readAlone(id: string): Promise<T | null> {
    return rows.findOne<T>({ _id: id }, projection && { projection });
  }

  async function readAll(ids: readonly string[]): Promise<(T | null)[]> {
    const [first] = ids;
    if (!ids.every((id) => typeof id === 'string')) throw new TypeError('an id is a text');
    if (ids.length === 1 && first !== undefined) return [await readAlone(first)];
    // everything in the first batch, which has 101 rows by default
    const found = rows.find(
      { _id: { $in: [...new Set(ids)] } },
      { batchSize: ids.length + 1, ...(projection && { projection }) },
    );
    const byId = new Map((await found.toArray()).map((row) => [row._id, row as T]));
    return ids.map((id) => byId.get(id) ?? null);
  }

  return new DataLoader<string, T | null>(gate ? (ids) => gate(() => readAll(ids)) : readAll, {
    cache: false,
    maxBatchSize: options.maxBatchSize,
    batchScheduleFn: (dispatch) => setImmediate(dispatch),
  });
}
