import type { Model, mongo } from 'mongoose';

/** Cached by model, since creating a collection merges the driver's options each time. */
const known = new WeakMap<object, unknown>();

/**
 * The driver's collection of a model, without mongoose's casting and validation, so filters and documents must be
 * complete. For queries in every request, where mongoose would take most of the time.
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
