import type { Model, mongo } from 'mongoose';

/** By model: the driver takes its options together anew for each. */
const known = new WeakMap<object, unknown>();

/**
 * The driver's own collection of a model: nothing is cast or checked on the way, so filters and documents must be whole as
 * they are. For what is done with every request, where mongoose's part would be the larger one.
 */
export function nativeCollection<T extends { _id: string }>(model: Model<T>): mongo.Collection<T> {
  let found = known.get(model) as mongo.Collection<T> | undefined;
  if (!found) {
    const { db, collection } = model;
    found = db.getClient().db(db.name).collection<T>(collection.name);
    known.set(model, found);
  }
  return found;
}
