// before everything that reads the schema
import '../support/ownLines';
import { recordReaders } from '../../src/cli/records';
import { recordKinds } from '../../src/resources';
import type { Json } from '../support/client';
import { northwind } from '../support/factories';

/* Records from before a member was added, at any depth. */

const [order] = northwind('orders') as Json[];
const read = recordReaders(recordKinds)(recordKinds.find(({ file }) => file === 'orders')!);
const recordOf = (record: object): Json => {
  const found = read({ text: JSON.stringify(record) });
  return 'record' in found ? found.record : found.faults;
};
const faultsOf = (record: object): unknown => {
  const found = read({ text: JSON.stringify(record) });
  return 'faults' in found ? found.faults.map(({ pointer, code }) => [pointer, code]) : [];
};
const withLine = (members: object): object => ({ ...order, lines: [{ ...order.lines[0], ...members }] });

test('a record, and an object in it, may lack what was added', () => {
  expect(order).not.toHaveProperty('tags');
  expect(faultsOf(order)).toEqual([]);
  expect(faultsOf({ ...order, tags: ['a'] })).toEqual([]);
  expect(faultsOf(withLine({ weight: 1.5 }))).toEqual([]);
});

test('what was added is checked, and what ours require stays required', () => {
  expect(faultsOf(withLine({ weight: -1 }))).toEqual([['/lines/0/weight', 'range']]);
  expect(faultsOf({ ...order, tags: [1] })).toEqual([['/tags/0', 'type']]);
  expect(faultsOf(withLine({ sku: undefined }))).toEqual([['/lines/0/sku', 'required']]);
});

test('ids are put in lower case by their type, also in lists; texts of the same name stay', () => {
  const id = '0C8B4D6A-6F1E-4B63-8D1C-3F6C9F3F6C55';
  const { lines, code, mark_ids } = recordOf({ ...withLine({ code: id }), code: 'AB', mark_ids: [id] });
  expect([lines[0].code, code, mark_ids]).toEqual([id.toLowerCase(), 'AB', [id.toLowerCase()]]);
});

test('texts and -0 are checked and replaced at any depth', () => {
  const labelled = (label: object): object => ({ ...order, boxes: [{ parts: [{ packs: [{ labels: [label] }] }] }] });
  expect(faultsOf(labelled({ text: 'a\u0000' }))).toEqual([['/boxes/0/parts/0/packs/0/labels/0/text', 'format']]);
  const negative = JSON.stringify(labelled({ size: 0 })).replace('"size":0', '"size":-0');
  expect(read({ text: negative })).toEqual({ record: recordOf(labelled({ size: 0 })) });
});
