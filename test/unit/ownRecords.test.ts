// before everything that reads the schema
import '../support/ownLines';
import { recordReaders } from '../../src/cli/records';
import { recordKinds } from '../../src/resources';
import type { Json } from '../support/client';
import { northwind } from '../support/factories';

/* Records from before a member was added, at any depth. */

const [order] = northwind('orders') as Json[];
const read = recordReaders(recordKinds)(recordKinds.find(({ file }) => file === 'orders')!);
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
