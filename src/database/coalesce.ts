import DataLoader from 'dataloader';
import { type Model, type ProjectionType, trusted } from 'mongoose';

/**
 * Reads by id that arrive in one turn of the event loop go out as one `$in`: most of a point read is the driver's fixed
 * cost (docs/decisions). Nothing is cached and no query that was already sent is joined, so a caller sees its own write.
 */
export function coalescedReads<T extends { _id: string }>(
  model: Model<T>,
  options: { projection?: ProjectionType<T>; maxBatchSize: number },
): DataLoader<string, T | null> {
  return new DataLoader<string, T | null>(
    async (ids) => {
      const [first] = ids;
      const only = ids.length === 1 && first !== undefined;
      const rows = (await model
        .find({ _id: only ? first : trusted({ $in: [...new Set(ids)] }) } as object, options.projection)
        // all in the first batch, which would otherwise end after 101
        .batchSize(ids.length + 1)
        .lean()) as T[];
      const byId = new Map(rows.map((row) => [row._id, row]));
      return ids.map((id) => byId.get(id) ?? null);
    },
    { cache: false, maxBatchSize: options.maxBatchSize, batchScheduleFn: (dispatch) => setImmediate(dispatch) },
  );
}
