import { setImmediate } from 'node:timers/promises';
import { mongo } from 'mongoose';
import { UnsupportedValue } from '../../src/mongo/bson';
import { type Reading, RowSizes } from '../../src/mongo/readRows';
import { createPageWriter, createSingleWriter, writePage } from '../../src/fastReads/answerWriter';
import type { Shape } from '../../src/fastReads/rowWriter';
import { STORED_ID } from '../../src/units';
import { collectGarbage } from '../support/collectGarbage';

const SHAPE: Shape = {
  wanted: [{ key: 'name', from: { member: 'name', value: { kind: 'string', isRequired: true } } }],
  others: ['_id'],
};
const single = createSingleWriter(SHAPE);
const page = createPageWriter({ parts: [{ key: 'data', from: 'data' }], row: SHAPE });

const reply = (row: object): Buffer => Buffer.from(mongo.BSON.serialize(row));
const pageOf = (bytes: Buffer) => ({ bytes, places: [0, bytes.length], isWhole: true });

test.each<[string, string, (bytes: Buffer) => unknown]>([
  ['an object', '{"name":"Ada"}', (bytes) => single.write(bytes).toString()],
  ['a page', '{"data":[{"name":"Ada"}]}', (bytes) => page.write(pageOf(bytes), 1, null).toString()],
  ['a position', 'Ada,1', (bytes) => page.positionOf(pageOf(bytes), 0, 'name').join()],
])('a writer of %s keeps nothing of a reply, not even of one that it cannot write', async (_, written, write) => {
  const used = [{ name: 'Ada' }, { name: {} }].map((row) => {
    const bytes = reply({ _id: '1', ...row });
    if (typeof row.name === 'object') expect(() => write(bytes)).toThrow();
    else expect(write(bytes)).toBe(written);
    return new WeakRef(bytes);
  });
  // what was used by a function that has just ended is not collected each time
  for (let round = 0; round < 50 && used.some((one) => one.deref()); round += 1) {
    await setImmediate();
    collectGarbage();
  }
  expect(used.map((one) => one.deref())).toEqual([undefined, undefined]);
});

const ID = '01234567-89ab-cdef-0123-456789abcdef';
const withId = createSingleWriter({
  wanted: [{ key: 'id', from: { member: '_id', value: { kind: 'id', isRequired: true } } }],
  others: [],
});
const changedAt = (at: number, by: string): string => ID.slice(0, at) + by + ID.slice(at + 1);

test('an id is written if it is one that is looked for, whichever of its characters is another', () => {
  expect(withId.write(reply({ _id: ID })).toString()).toBe(`{"id":"${ID}"}`);
  const wrong = ['', ID.slice(1), `${ID}0`, ID.replaceAll('-', ''), ID.toUpperCase()];
  for (let at = 0; at < ID.length; at += 1)
    wrong.push(...['-', '0', 'g', '`', ':', '/', 'A', '\0', 'é'].map((by) => changedAt(at, by)));
  for (const _id of wrong)
    if (STORED_ID.test(_id)) expect(withId.write(reply({ _id })).toString()).toBe(`{"id":"${_id}"}`);
    else expect(() => withId.write(reply({ _id }))).toThrow(UnsupportedValue);
});

let size = 0;
jest.mock('../../src/mongo/rawRows', () => ({
  ...jest.requireActual<object>('../../src/mongo/rawRows'),
  findRaw: () => Promise.resolve({ bytes: Buffer.alloc(size), places: [0, size], isWhole: true }),
}));

test.each([
  ['rows of many megabytes, whose size was unknown', 5, 1],
  ['rows whose members are selected many times', 1, 5],
])('%s are not written in one go', async (_, mebibytes, copies) => {
  size = mebibytes * 1024 * 1024;
  const rows = { collectionName: 'large' } as mongo.Collection<{ _id: string }>;
  const request = { organisationId: 'one', operation: 'large', args: {}, filters: {}, conditions: [] };
  const reading: Reading = { sizes: new RowSizes(), budget: () => undefined };
  const yieldTurn = jest.fn(() => Promise.resolve());
  const writer = createPageWriter({ parts: [{ key: 'data', from: 'data' }], row: SHAPE }, copies);
  await expect(writePage(rows, request, writer, { reading, yieldTurn })).rejects.toBeInstanceOf(UnsupportedValue);
  expect(yieldTurn).not.toHaveBeenCalled();
});
