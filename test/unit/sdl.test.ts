import { parse, print } from 'graphql';
import { deriveRestDocument } from '../../src/schema/restDocument';
import { allFieldNodes, directiveOf, fieldsOf, pageOf, rootFieldNodes, rowName } from '../../src/schema/sdl';

const DOCUMENT = parse(`
  type Query { a: A @rest(path: "/a", status: 201, method: POST) }
  extend type Query { b: APage @rest(path: "/b") c: A }
  type Mutation { d: A }
  type Subscription { e: A }
  type A { id: ID! lines: [ID!]! @graphql_only(on: LISTS) other: B @graphql_only }
  type B { id: ID! }
  type APage { data: [A!]! next: A }
  type BPage { data: [B!]! }
  input I { id: ID }
`);

const field = (name: string) => allFieldNodes(DOCUMENT).find(({ field: node }) => node.name.value === name)!.field;

describe('reading the SDL', () => {
  test('finds root fields in types and extensions', () => {
    expect(rootFieldNodes(DOCUMENT).map(({ kind, field: node }) => `${kind}.${node.name.value}`)).toEqual([
      'Query.a',
      'Query.b',
      'Query.c',
      'Mutation.d',
    ]);
  });

  test('reads the arguments of directives as values, with the defaults of the SDL', () => {
    expect(directiveOf(field('a'), 'rest')).toEqual({ path: '/a', status: 201, method: 'POST' });
    expect(directiveOf(field('b'), 'rest')).toEqual({ path: '/b', status: 200, method: 'GET' });
    expect(directiveOf(field('other'), 'graphql_only')).toEqual({ on: 'EVERYWHERE' });
  });

  test('finds the page and the rows of a list', () => {
    expect([pageOf(field('b')), rowName(field('b'))]).toEqual(['APage', 'A']);
    expect([pageOf(field('a')), rowName(field('data'))]).toEqual([undefined, undefined]);
  });

  test('returns undefined for what does not exist', () => {
    expect(directiveOf(field('c'), 'rest')).toBeUndefined();
    expect(directiveOf(undefined, 'rest')).toBeUndefined();
    expect(fieldsOf(DOCUMENT, 'C')).toEqual([]);
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
    ['Mutation', []],
    ['Subscription', []],
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
