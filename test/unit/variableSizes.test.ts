import type { AppError } from '../../src/errors';
import { refuseLargeVariables } from '../../src/graphql/variables';

const many = (count: number, value: unknown = {}): unknown[] => Array.from({ length: count }, () => value);

function refusalOf(values: Record<string, unknown>): unknown {
  try {
    refuseLargeVariables(values);
  } catch (error) {
    return (error as AppError).extras.errors;
  }
  return undefined;
}

test.each<[string, Record<string, unknown>]>([
  ['elements', { p: many(20_001) }],
  ['values', { s: many(20_001, 'a') }],
  ['elements of several variables', { s: many(10_001, 'a'), t: many(10_000, 'a') }],
  ['elements of lists in elements', { c: many(1000, { contacts: many(19) }) }],
  ['objects in elements', { c: many(10_001, { address: {} }) }],
  ['lists in lists', { c: many(2, many(10_000, [])) }],
])('too many %s are refused before they are coerced', (_title, values) => {
  expect(refusalOf(values)).toMatchObject([{ parameter: 'variables', code: 'size' }]);
});

test.each<[string, Record<string, unknown>]>([
  ['customers with contacts', { c: many(1000, { contacts: many(18) }) }],
  ['values', { s: many(20_000, 'a') }],
  ['null', { p: null }],
  ['no variables', {}],
])('%s are not refused for their size', (_title, values) => {
  expect(refusalOf(values)).toBeUndefined();
});
