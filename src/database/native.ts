import type { Model, mongo } from 'mongoose';

/** How long a read may take the database, in milliseconds, so that none goes on when its caller has long left. */
export const READ_WITHIN = 10_000;

interface Native {
  readonly database: mongo.Db;
  readonly collection: unknown;
}

/** Cached by model, since creating a collection merges the driver's options each time. */
const known = new WeakMap<object, Native>();

/**
 * The driver's collection of a model, without mongoose's casting and validation, so filters and documents must be
 * complete. For queries in every request, where mongoose would take most of the time.
 */
export function nativeCollection<T extends { _id: string }>(model: Model<T>): mongo.Collection<T> {
  return nativeOf(model).collection as mongo.Collection<T>;
}

/** The driver's database of a model. */
export function nativeDatabase<T extends { _id: string }>(model: Model<T>): mongo.Db {
  return nativeOf(model).database;
}

function nativeOf<T extends { _id: string }>(model: Model<T>): Native {
  let found = known.get(model);
  if (!found) {
    const { db, collection } = model;
    const database = db.getClient().db(db.name);
    found = { database, collection: database.collection<T>(collection.name) };
    known.set(model, found);
  }
  return found;
}
