import mongoose from 'mongoose';
import { areDuplicateKeys } from '../../src/mongo/faults';

const { MongoBulkWriteError, MongoServerError } = mongoose.mongo;

function bulkError(...codes: number[]): unknown {
  const writeErrors = codes.map((code) => ({ code })) as never;
  return new MongoBulkWriteError({ message: 'failed', code: codes[0]!, writeErrors }, {} as never);
}

test.each([
  ['one row exists', bulkError(11000), true],
  ['all rows exist', bulkError(11000, 11000), true],
  ['one row exists, and another cannot be stored', bulkError(11000, 121), false],
  ['nothing is wrong with a row', bulkError(), false],
  ['a single write', new MongoServerError({ message: 'E11000', code: 11000 }), false],
  ['not a database error', new Error('x'), false],
])('decides whether a bulk write failed only because of existing rows: %s', (_, error, expected) => {
  expect(areDuplicateKeys(error)).toBe(expected);
});
