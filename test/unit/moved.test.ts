import mongoose from 'mongoose';
import { withoutMoved } from '../../src/events/tail/moved';

const drop = { change: { operationType: 'drop', ns: { db: 'org_1', coll: 'products' }, wallTime: new Date() } };

/** The changes that are left of a drop while its organisation is moved, if its collections cannot be listed. */
const left = (error: Error) => {
  const database = { listCollections: () => ({ toArray: () => Promise.reject(error) }) };
  return withoutMoved({ database } as never, { writeState: 'moving' } as never, [drop] as never);
};

test('a drop during a move is kept if MongoDB refuses to list the collections, and read again if it does not respond', async () => {
  expect(await left(new mongoose.mongo.MongoServerError({ code: 13, message: 'not authorised' }))).toEqual([drop]);
  await expect(left(new mongoose.mongo.MongoNetworkError('closed'))).rejects.toThrow('closed');
});
