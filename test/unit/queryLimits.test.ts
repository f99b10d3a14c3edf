import { type ASTVisitor, buildSchema, parse, specifiedRules, validate } from 'graphql';
import { QUERY_LIMITS, queryLimitsRule } from '../../src/graphql/queryLimits';

const SCHEMA = buildSchema('type Query { a: Query b: Int } type Mutation { c: Int }');

/** The rule's errors for a document. */
function refusals(text: string): string[] {
  return validate(SCHEMA, parse(text), [queryLimitsRule]).map(({ message }) => message);
}

test('the limits are those of the contract', () => {
  expect(QUERY_LIMITS).toEqual({
    ...{ depth: 10, aliases: 30, rootFields: 20, fields: 5000, spreads: 10_000, nesting: 10, repeats: 100 },
    ...{ tokens: 2000, lines: 2000, bytes: 102_400, rows: 20_000 },
    // of one event each
    subscription: 100,
  });
});

/** Fragments that each spread the next one twice, so that the last is spread 2^levels times. */
function doubling(levels: number, last: string): string {
  const name = (at: number): string => `F${String(at)}`;
  const fragments = Array.from(
    { length: levels },
    (_, at) => `fragment ${name(at)} on Query { ...${name(at + 1)} ...${name(at + 1)} }`,
  );
  return `${fragments.join(' ')} fragment ${name(levels)} on Query { ${last} }`;
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
      'with fragments that double at each of 60 levels',
      `{ a { ...F0 } } ${doubling(60, 'b')}`,
      [
        'The operation has too many fields after its fragments are expanded: over 1,000,000,000; the limit is 5,000.',
        'The operation has too many fragment spreads, including those inside fragments: over 1,000,000,000; the limit is 10,000.',
      ],
    ],
    [
      'with fragments that contain only unknown fragments',
      `{ a { ...F0 } } ${doubling(12, '...Missing')}`,
      ['The operation has too many fragment spreads, including those inside fragments: 12,287; the limit is 10,000.'],
    ],
    [
      'next to unused fragments',
      `{ b } ${doubling(12, 'b b')}`,
      ['The fragment "F0" has too many fields after its fragments are expanded: 8,192; the limit is 5,000.'],
    ],
    [
      'with a fragment that spreads itself',
      '{ ...F } fragment F on Query { b ...G } fragment G on Query { ...F }',
      ['Cannot spread fragment "F" within itself.'],
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

  test('over the limits is rejected before other rules visit it', () => {
    let selectionSets = 0;
    const lookIntoIt = (): ASTVisitor => ({
      SelectionSet: () => {
        selectionSets += 1;
      },
    });
    const rules = [...specifiedRules, lookIntoIt, queryLimitsRule];
    const refused = validate(SCHEMA, parse(`{ a { ...F0 } } ${doubling(60, 'b')}`), rules);
    expect(refused).toHaveLength(2);
    expect(selectionSets).toBe(0);
    expect(validate(SCHEMA, parse('{ a { b } }'), rules)).toEqual([]);
    expect(selectionSets).toBe(2);
  });
});
