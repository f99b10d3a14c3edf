import { buildSchema, parse, validate } from 'graphql';
import { queryLimitsRule } from '../../src/graphql/queryLimits';

const SCHEMA = buildSchema('type Query { a: Query b: Int } type Mutation { c: Int }');

/** The rule's errors for a document. */
function refusals(text: string): string[] {
  return validate(SCHEMA, parse(text), [queryLimitsRule]).map(({ message }) => message);
}

describe('an operation', () => {
  const nested = (depth: number): string => `{ ${'a { '.repeat(depth - 1)} b ${'}'.repeat(depth - 1)} }`;

  test.each([
    [
      'that selects one object 100 times in one place, and again in another',
      `{ a { ${'a { b } '.repeat(100)} b x: a { a { b } } ...F ...F } } fragment F on Query { y: a { b } }`,
    ],
    ['with an unknown fragment', '{ b ...Missing }'],
    ['next to another', 'query A { b } query B { b }'],
  ])('%s is within the limits', (_title, text) => {
    expect(refusals(text)).toEqual([]);
  });

  test.each([
    [
      'next to another that is not',
      `query A { b } query B ${nested(11)}`,
      ['The operation has a depth of 11; the limit is 10.'],
    ],
    [
      'that selects one object repeatedly',
      `{ a { ${'a { b } '.repeat(50)} ... { ...F } } x: a { a { b } } } fragment F on Query { ${'a { b } '.repeat(51)} }`,
      ['The operation selects one object too many times in one place: 101; the limit is 100.'],
    ],
    [
      'next to a fragment that does',
      `{ b } fragment F on Query { ${'a { b } '.repeat(101)} }`,
      ['The fragment "F" selects one object too many times in one place: 101; the limit is 100.'],
    ],
  ])('%s is rejected with each limit it exceeds', (_title, text, messages) => {
    expect(refusals(text)).toEqual(messages);
  });
});

test('a document with many faults costs no more errors than are listed', () => {
  const made = jest.spyOn(Error, 'captureStackTrace');
  const fragments = Array.from(
    { length: 181 },
    (_, at) => `fragment F${String(at)} on Query { b ...F${String(at + 1)} }`,
  );
  expect(refusals(`{ a { ...F0 } } ${fragments.join(' ')} fragment F181 on Query { b }`)).toHaveLength(10);
  expect(made).toHaveBeenCalledTimes(10);
  made.mockRestore();
});
