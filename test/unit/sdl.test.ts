import { parse, print } from 'graphql';
import {
  allFieldNodes,
  deriveRestDocument,
  directiveOf,
  enumArgument,
  intArgument,
  rootFieldNodes,
  stringArgument,
} from '../../src/schema/sdl';

const DOCUMENT = parse(`
  type Query { a: A @rest(path: "/a", status: 201, method: POST) }
  extend type Query { b: APage @rest(path: "/b") c: A }
  type Mutation { d: A }
  type A { id: ID! lines: [ID!]! @graphql_only(on: LISTS) other: B @graphql_only }
  type B { id: ID! }
  type APage { data: [A!]! next: A }
  type BPage { data: [B!]! }
  input I { id: ID }
`);

const field = (name: string) => allFieldNodes(DOCUMENT).find(({ field: node }) => node.name.value === name)!.field;
const rest = (name: string) => directiveOf(field(name), 'rest')!;

describe('reading the SDL', () => {
  test('finds root fields in types and extensions', () => {
    expect(rootFieldNodes(DOCUMENT).map(({ kind, field: node }) => `${kind}.${node.name.value}`)).toEqual([
      'Query.a',
      'Query.b',
      'Query.c',
      'Mutation.d',
    ]);
  });

  test('reads directive arguments of each kind', () => {
    expect(stringArgument(rest('a'), 'path')).toBe('/a');
    expect(intArgument(rest('a'), 'status')).toBe(201);
    expect(enumArgument(rest('a'), 'method')).toBe('POST');
  });

  test('returns undefined for what does not exist', () => {
    expect(directiveOf(field('c'), 'rest')).toBeUndefined();
    expect(directiveOf(undefined, 'rest')).toBeUndefined();
    expect(intArgument(rest('b'), 'status')).toBeUndefined();
    expect(enumArgument(rest('b'), 'path')).toBeUndefined();
    expect(() => stringArgument(rest('b'), 'status')).toThrow('@rest lacks the string argument status');
  });
});

describe('deriving the REST schema', () => {
  const derived = deriveRestDocument(DOCUMENT);
  const typeNamed = (name: string): string[] =>
    derived.definitions
      .filter((node) => 'name' in node && node.name.value === name)
      .map((node) => print(node).replaceAll(/\s+/g, ' '));

  test.each([
    [
      'Query',
      [
        'type Query { a: A @rest(path: "/a", status: 201, method: POST) }',
        'extend type Query { b: APage @rest(path: "/b") b_with_lines: APageWithAll @rest(path: "/b") }',
      ],
    ],
    ['Mutation', ['type Mutation']],
    ['A', ['type A { id: ID! lines: [ID!]! @graphql_only(on: LISTS) }']],
    ['AItem', ['type AItem { id: ID! }']],
    ['APage', ['type APage { data: [AItem!]! next: AItem }']],
    ['B', ['type B { id: ID! }']],
    ['BItem', []],
    ['BPage', ['type BPage { data: [B!]! }']],
    ['I', ['input I { id: ID }']],
  ])('turns %s into %j', (name, expected) => {
    expect(typeNamed(name)).toEqual(expected);
  });

  test('does not change the SDL itself', () => {
    expect(print(DOCUMENT)).toContain('other: B @graphql_only');
  });
});
