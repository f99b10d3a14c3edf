import { buildSchema, type DocumentNode, Kind, type OperationDefinitionNode, parse, validate } from 'graphql';
import { countRootFields, isIntrospection, QUERY_LIMITS, queryLimitsRule } from '../../src/graphql/queryLimits';

const SCHEMA = buildSchema('type Query { a: Query b: Int } type Mutation { c: Int }');

function operationOf(document: DocumentNode): OperationDefinitionNode {
  return document.definitions.find((node) => node.kind === Kind.OPERATION_DEFINITION)!;
}

/** What the rule says against a document. */
function refusals(text: string): string[] {
  return validate(SCHEMA, parse(text), [queryLimitsRule]).map(({ message }) => message);
}

test('the limits are those of the contract', () => {
  expect(QUERY_LIMITS).toEqual({ depth: 10, aliases: 30, rootFields: 20, tokens: 2000, bytes: 102_400 });
});

describe('root fields', () => {
  test.each([
    [1, '{ a { b } }'],
    [2, '{ a { b } b }'],
    [2, '{ x: b y: b }'],
    [2, '{ b b }'],
    [1, '{ __typename }'],
    [2, '{ ...F } fragment F on Query { a { b b b } b }'],
    [4, '{ ...F ...F } fragment F on Query { a { b } b }'],
    [4, '{ ...F } fragment F on Query { ...G ...G } fragment G on Query { b b }'],
    [3, '{ ... { b ... on Query { b b } } }'],
    [1, '{ b @skip(if: true) }'],
    [0, '{ ...Missing }'],
    [1, '{ b ...F } fragment F on Query { ...F }'],
    [2, 'query A { b b } query B { b }'],
  ])('are %i in %s', (count, text) => {
    const document = parse(text);
    expect(countRootFields(document, operationOf(document))).toBe(count);
  });

  test('are counted in a moment where fragments double 1,000 times', () => {
    const fragments = Array.from({ length: 1000 }, (_, at) => {
      const next = `...F${String(at + 1)}`;
      return `fragment F${String(at)} on Query { ${next} ${next} }`;
    });
    const document = parse(`{ ...F0 } ${fragments.join(' ')} fragment F1000 on Query { b }`);
    const start = process.cpuUsage();
    expect(countRootFields(document, operationOf(document))).toBe(2 ** 1000);
    expect(process.cpuUsage(start).user).toBeLessThan(1_000_000);
  });
});

describe('introspection is', () => {
  test.each([
    ['{ __schema { types { name } } }', true],
    ['{ __type(name: "A") { name } __typename }', true],
    ['query Q { ...F } fragment F on Query { __schema { types { name } } }', true],
    ['{ ... { __typename } }', true],
    ['{ __typename b }', false],
    ['{ ...F } fragment F on Query { __typename ...G } fragment G on Query { b }', false],
    ['{ ... on Query { a { __typename } } }', false],
    ['{ __schema: b }', false],
    ['{ b @skip(if: true) }', false],
    ['mutation { __typename }', false],
    ['subscription { __typename }', false],
  ])('%s: %s', (text, expected) => {
    const document = parse(text);
    expect(isIntrospection(document, operationOf(document))).toBe(expected);
  });
});

describe('an operation', () => {
  const nested = (depth: number): string => `{ ${'a { '.repeat(depth - 1)} b ${'}'.repeat(depth - 1)} }`;

  test.each([
    ['of depth 10', nested(10)],
    ['of any depth of introspection', `{ __schema { ${'a { '.repeat(50)} b ${'}'.repeat(50)} } }`],
    ['with a cycle of fragments', '{ ...F } fragment F on Query { b ...F }'],
    ['with a fragment that is none', '{ b ...Missing }'],
    ['beside another', 'query A { b } query B { b }'],
  ])('%s is within the limits', (_title, text) => {
    expect(refusals(text)).toEqual([]);
  });

  test.each([
    ['of depth 11', nested(11), ['The operation has a depth of 11; the limit is 10.']],
    [
      'with too many aliases and root fields',
      `{ ${Array.from({ length: 31 }, (_, at) => `a${String(at)}: b`).join(' ')} }`,
      [
        'The operation has this many aliases: 31; the limit is 30.',
        'The operation has this many root fields: 31; the limit is 20.',
      ],
    ],
    [
      'beside another that is not',
      `query A { b } query B ${nested(11)}`,
      ['The operation has a depth of 11; the limit is 10.'],
    ],
  ])('%s is refused, with each limit that it breaks', (_title, text, messages) => {
    expect(refusals(text)).toEqual(messages);
  });
});
