import mongoose, { type mongo } from 'mongoose';
import { findRows } from '../../src/database/decoding';

const { BSON, Long } = mongoose.mongo;

/* Rows that are found as bytes, and decoded here. */

interface Row {
  readonly _id: string;
}

const ROWS: readonly Row[] = ['a', 'b', 'c'].map((_id) => ({ _id, at: new Date(0), n: 2 ** 40, list: [{ x: null }] }));

/** A collection whose first reply has its first rows, and whose cursor has all. */
function collectionOf(first: number, options: object[] = []): mongo.Collection<Row> {
  const cursor = BSON.serialize({
    firstBatch: ROWS.slice(0, first),
    id: first < ROWS.length ? Long.fromNumber(7) : Long.ZERO,
  });
  const all = ROWS.map((row) => BSON.serialize(row));
  const find = (_filter: object, option: object): object => {
    options.push(option);
    let read = 0;
    return {
      readBufferedDocuments: () => all.slice(read, (read += 1)),
      async *[Symbol.asyncIterator]() {
        while (read < all.length) yield await Promise.resolve(all[read++]);
      },
    };
  };
  return { db: { command: () => Promise.resolve({ cursor }) }, find } as unknown as mongo.Collection<Row>;
}

test.each([
  ['fit into one reply', 3, []],
  ['do not, so that they are read through a cursor', 2, [{ limit: 3, raw: true, sort: { at: 1 } }]],
])('rows that %s are decoded as the driver does, each within the budget', async (_title, first, cursors) => {
  const opened: object[] = [];
  const bytes: number[] = [];
  const found = await findRows(collectionOf(first, opened), { filter: {}, sort: { at: 1 }, most: 3 }, (work) => {
    if ('bytes' in work) bytes.push(work.bytes);
    return undefined;
  });
  expect(found).toEqual(ROWS);
  expect(bytes).toEqual(ROWS.map((row) => BSON.calculateObjectSize(row)));
  expect(opened).toMatchObject(cursors);
});
