import mongoose, { type mongo } from 'mongoose';
import { readByKeys, RowSizes } from '../../src/database/readRows';

const { BSON, Long } = mongoose.mongo;

/* Rows that are found as bytes, and decoded here. */

interface Row {
  readonly _id: string;
}

const ROWS: readonly Row[] = ['a', 'b', 'c'].map((_id) => ({ _id, at: new Date(0), n: 2 ** 40, list: [{ x: null }] }));
const MIB = 1024 * 1024;

/** A collection whose replies have at most so many rows. */
function collectionOf(most: number, asked: string[][]): mongo.Collection<Row> {
  const command = ({ find, filter }: { find?: string; filter?: { _id: string | { $in: string[] } } }): unknown => {
    if (find === undefined || !filter) return Promise.resolve({});
    const { _id } = filter;
    const ids = typeof _id === 'string' ? [_id] : _id.$in;
    asked.push(ids);
    const rows = ROWS.filter((row) => ids.includes(row._id));
    const id = rows.length > most ? Long.fromNumber(7) : Long.ZERO;
    return Promise.resolve({ cursor: Buffer.from(BSON.serialize({ firstBatch: rows.slice(0, most), id })) });
  };
  return { collectionName: 'rows', db: { command, client: { options: {} } } } as unknown as mongo.Collection<Row>;
}

test.each([
  ['fit into one reply', 3, [['a', 'b', 'c', 'none']]],
  [
    'do not',
    2,
    [
      ['a', 'b', 'c', 'none'],
      ['c', 'none'],
    ],
  ],
])('rows that %s are decoded as the driver does, each within the budget', async (_title, most, commands) => {
  const [asked, bytes, found]: [string[][], number[], Row[]] = [[], [], []];
  const reading = {
    sizes: new RowSizes(),
    budget: (work: object) => {
      if ('bytes' in work) bytes.push(Number(work.bytes));
      return undefined;
    },
  };
  const keys = ['a', 'b', 'c', 'none'];
  for await (const piece of readByKeys(collectionOf(most, asked), { member: '_id', keys }, reading))
    found.push(...piece.rows);
  expect(found).toEqual(ROWS);
  expect(bytes).toEqual(ROWS.map((row) => BSON.calculateObjectSize(row)));
  expect(asked).toEqual(commands);
});

test('a command reads as many rows as fit into 2 MiB by the largest that were read lately', () => {
  const sizes = new RowSizes();
  expect(sizes.rowsPerPiece('rows')).toBe(1024);
  sizes.note('rows', 100, 50 * MIB);
  expect(sizes.rowsPerPiece('rows')).toBe(4);
  sizes.note('rows', 100, MIB);
  expect(sizes.rowsPerPiece('rows')).toBe(4);
  sizes.note('rows', 1, 15 * MIB);
  expect(sizes.rowsPerPiece('rows')).toBe(1);
  expect(sizes.rowsPerPiece('others')).toBe(1024);
});
