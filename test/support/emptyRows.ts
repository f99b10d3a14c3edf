import mongoose, { type mongo } from 'mongoose';

/** A collection without rows that keeps the filter of its last query. */
export function emptyRows<T extends { _id: string }>(): { rows: mongo.Collection<T>; asked: () => object } {
  let asked: object = {};
  const reply = Buffer.from(mongoose.mongo.BSON.serialize({ firstBatch: [], id: mongoose.mongo.Long.ZERO, ns: 'a.b' }));
  const command = ({ filter }: { filter: object }): Promise<object> => {
    asked = filter;
    return Promise.resolve({ cursor: reply });
  };
  const rows = { collectionName: 'b', db: { command, client: { options: {} } } };
  return { rows: rows as unknown as mongo.Collection<T>, asked: () => asked };
}
