import type { Connection, Model, mongo } from 'mongoose';

/** How long the database may take for a read, in milliseconds (`maxTimeMS`), so that none outlives its caller for long. */
export const READ_TIMEOUT = 10_000;

/** Options of a command that takes as long as the data is large; the driver's own checks notice if the server goes away. */
export const PATIENT = { socketTimeoutMS: 0 } as const;

/**
 * Options for finding at most so many rows in one command: the first batch has 101 rows by default, and a batch that the rows fill exactly
 * leaves the cursor open.
 */
export function atMost(rows: number): { readonly limit: number; readonly batchSize: number } {
  return { limit: rows, batchSize: rows + 1 };
}

/** Cached by model, since creating a collection merges the driver's options each time. */
const collections = new WeakMap<object, unknown>();

/** The driver's database of a connection. */
export function databaseOf(connection: Connection): mongo.Db {
  return connection.getClient().db(connection.name);
}

/**
 * The driver's collection of a model of the control database, without mongoose's casting and validation, so filters and documents
 * must be complete. For queries in every request and bulk writes, where mongoose would take most of the time
 * (docs/decisions/control-models.md).
 */
export function nativeCollection<T extends { _id: string }>(model: Model<T>): mongo.Collection<T> {
  const collection = collections.get(model) ?? databaseOf(model.db).collection(model.collection.name);
  collections.set(model, collection);
  return collection as mongo.Collection<T>;
}
