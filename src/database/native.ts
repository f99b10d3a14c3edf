import type { Model, mongo } from 'mongoose';

/**
 * The driver's own collection of a model: nothing is cast or checked on the way, so filters and documents must be whole as
 * they are. For what is done with every request, where mongoose's part would be the larger one.
 */
export function nativeCollection<T extends { _id: string }>(model: Model<T>): mongo.Collection<T> {
  const { db, collection } = model;
  return db.getClient().db(db.name).collection<T>(collection.name);
}
