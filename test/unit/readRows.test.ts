import mongoose, { type mongo } from 'mongoose';
import { findRaw } from '../../src/mongo/rawRows';
import { partOf, readByKeys, RowSizes } from '../../src/mongo/readRows';

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
  expect(sizes.rowsPerPiece(partOf('rows'))).toBe(1024);
  sizes.note(partOf('rows'), 100, 50 * MIB);
  expect(sizes.rowsPerPiece(partOf('rows'))).toBe(4);
  sizes.note(partOf('rows'), 100, MIB);
  expect(sizes.rowsPerPiece(partOf('rows'))).toBe(4);
  sizes.note(partOf('rows'), 8, 15 * MIB);
  expect(sizes.rowsPerPiece(partOf('rows'))).toBe(1);
  expect(sizes.rowsPerPiece(partOf('others'))).toBe(1024);
});

test('the size of whole rows is unknown after their ids were read, and of a part that was read long before others', () => {
  const sizes = new RowSizes();
  const [ids, whole] = [partOf('rows', { _id: 1 }), partOf('rows', { search: 0 })];
  sizes.note(ids, 100, 5000);
  expect([sizes.rowsPerPiece(ids), sizes.rowsPerPiece(whole)]).toEqual([Math.floor((2 * MIB) / 50), 1024]);
  sizes.note(whole, 100, 50 * MIB);
  for (let other = 0; other < 63; other += 1) sizes.note(partOf(`rows ${String(other)}`), 100, MIB);
  expect([sizes.rowsPerPiece(ids), sizes.rowsPerPiece(whole)]).toEqual([1024, 4]);
  // noted again, it is no longer the first to be forgotten
  sizes.note(whole, 100, 50 * MIB);
  sizes.note(partOf('one more'), 100, MIB);
  expect(sizes.rowsPerPiece(whole)).toBe(4);
});

test('a read notes the size of what it reads, not of whole rows', async () => {
  const sizes = new RowSizes();
  const [_id, whole] = [{ _id: 1 } as const, { search: 0 } as const];
  const reading = { sizes, budget: () => undefined };
  const find = { member: '_id', keys: ['a'], projection: _id };
  for await (const piece of readByKeys(collectionOf(3, []), find, reading)) expect(piece.rows).toHaveLength(1);
  expect(sizes.rowsPerPiece(partOf('rows', _id))).toBeGreaterThan(1024);
  expect(sizes.rowsPerPiece(partOf('rows', whole))).toBe(1024);
});

test('one command reads at a time whose size is unknown, whatever it reads of the rows', async () => {
  const sizes = new RowSizes();
  let [running, most] = [0, 0];
  const read = (name: string): Promise<void> => {
    const part = partOf(name);
    return sizes.oneWhileUnknown('rows', part, async () => {
      most = Math.max(most, (running += 1));
      await new Promise((resolve) => setImmediate(resolve));
      sizes.note(part, 1, 1);
      running -= 1;
    });
  };
  await Promise.all(['a', 'b', 'c'].map(read));
  expect(most).toBe(1);
  await Promise.all(['a', 'b', 'c'].map(read));
  expect(most).toBe(3);
});

test('reads that find nothing run at the same time once one has', async () => {
  const sizes = new RowSizes();
  const reading = { sizes, budget: () => undefined };
  const asked: string[][] = [];
  const readNone = async (): Promise<void> => {
    const find = { member: '_id', keys: ['none'] };
    for await (const piece of readByKeys(collectionOf(3, asked), find, reading)) expect(piece.rows).toEqual([]);
  };
  await readNone();
  const three = [readNone(), readNone(), readNone()];
  expect(asked).toHaveLength(4);
  await Promise.all(three);
  expect(sizes.rowsPerPiece(partOf('rows'))).toBe(1024);
});

test('one very large row makes lists of small rows take four commands, not one for each row', () => {
  const sizes = new RowSizes();
  sizes.note(partOf('rows'), 1, MIB);
  expect(sizes.rowsPerPiece(partOf('rows'))).toBe(16);
});

test('the rest of a cursor is given up before a transaction goes on, which runs one command at a time', async () => {
  let killed = false;
  const rows = collectionOf(2, []);
  const command = async (sent: { find?: string }): Promise<unknown> => {
    if (sent.find !== undefined) return rows.db.command(sent);
    await new Promise((resolve) => setImmediate(resolve));
    killed = true;
    return {};
  };
  const db = { command, client: { options: {} } };
  const collection = { collectionName: 'rows', db } as unknown as mongo.Collection<Row>;
  const session = {} as mongo.ClientSession;
  const find = { filter: { _id: { $in: ['a', 'b', 'c'] } }, most: 3 };
  const { isWhole } = await findRaw(collection, { ...find, session });
  expect({ isWhole, killed }).toEqual({ isWhole: false, killed: true });
});

test('while the size of rows is unknown, one command reads at a time, and the next ask for what fits', async () => {
  const sizes = new RowSizes();
  const asked: number[] = [];
  let running = 0;
  const read = (): Promise<number> =>
    sizes.oneWhileUnknown('rows', partOf('rows'), async () => {
      running += 1;
      asked.push(sizes.rowsPerPiece(partOf('rows')));
      await new Promise((resolve) => setImmediate(resolve));
      if (asked.length === 1) throw new Error('away');
      sizes.note(partOf('rows'), 100, 50 * MIB);
      return running--;
    });
  const outcomes = await Promise.allSettled([read(), read(), read(), read()]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled', 'fulfilled']);
  // the first failed, so the second did not know either
  expect(asked).toEqual([1024, 1024, 4, 4]);
});
