import mongoose from 'mongoose';
import { areDuplicateKeys } from '../../src/database/faults';

const { MongoBulkWriteError, MongoServerError } = mongoose.mongo;

function bulkError(...codes: number[]): unknown {
  const writeErrors = codes.map((code) => ({ code })) as never;
  return new MongoBulkWriteError({ message: 'failed', code: codes[0]!, writeErrors }, {} as never);
}

test.each([
  ['one row is there', bulkError(11000), true],
  ['all rows are there', bulkError(11000, 11000), true],
  ['one row is there, and another cannot be stored', bulkError(11000, 121), false],
  ['nothing is wrong with a row', bulkError(), false],
  ['another write', new MongoServerError({ message: 'E11000', code: 11000 }), false],
  ['no error of the database', new Error('x'), false],
])('a bulk write failed only because of existing rows: %s', (_, error, expected) => {
  expect(areDuplicateKeys(error)).toBe(expected);
});
