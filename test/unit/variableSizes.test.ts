import { areTooLarge } from '../../src/graphql/variables';

const many = (count: number, value: unknown = {}): unknown[] => Array.from({ length: count }, () => value);

test.each<[string, Record<string, unknown>, boolean]>([
  ['elements', { p: many(20_001) }, true],
  ['values', { s: many(20_001, 'a') }, true],
  ['elements of several variables', { s: many(10_001, 'a'), t: many(10_000, 'a') }, true],
  ['elements of lists in elements', { c: many(1000, { contacts: many(19) }) }, true],
  ['objects in elements', { c: many(10_001, { address: {} }) }, true],
  ['lists in lists', { c: many(2, many(10_000, [])) }, true],
  ['customers with contacts, nearly too many', { c: many(1000, { contacts: many(18) }) }, false],
  ['values, as many as there may be', { s: many(20_000, 'a') }, false],
  ['null', { p: null }, false],
  ['no variables', {}, false],
])('%s are refused for their number before they are coerced, or not', (_title, values, expected) => {
  expect(areTooLarge(values)).toBe(expected);
});
