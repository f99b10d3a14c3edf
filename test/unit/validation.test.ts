import {
  buildSchema,
  getNamedType,
  type GraphQLInputObjectType,
  type GraphQLObjectType,
  type GraphQLSchema,
  type GraphQLNamedType,
  GraphQLString,
  type GraphQLType,
  isInputObjectType,
  isObjectType,
} from 'graphql';
import { publishedSchemas } from '../../src/gateway/schemas';
import { COMPUTED_FIELDS } from '../../src/schema/storedTypes';
import { argumentsSchema, componentSchemas, rootFields } from '../../src/schema/jsonSchema';
import { directiveOf } from '../../src/schema/sdl';
import { checkWith, createAjv, typeChecks } from '../../src/schema/validation';
import { read } from '../docs/markdown';

const BASE = read('schema/base.graphql');

/** One member of each kind. Scalars in base.graphql have no JSON Schema here, so only built-in ones are used. */
const SCHEMA: GraphQLSchema = buildSchema(`${BASE}
  enum Colour { "R." red "B." blue }
  input Part { name: String @constraint(required: true, min_length: 2) weight: Float }
  input Piece { name: String @constraint(required: true, min_length: 2) weight: Float }
  input Element { sku: String @constraint(required: true, max_length: 3) part: Part colour: Colour }
  type Thing { id: ID! note: String lines: [Int!]! colour: Colour }
  extend type Query {
    find(
      id: ID!
      limit: Int @constraint(min: 1, max: 5, default: 2)
      sort: String @constraint(one_of: ["up", "down"])
      code: String @constraint(pattern: "^[A-Z]+$")
      mail: String @constraint(format: "email")
      colours: [Colour!] @constraint(min_items: 1, max_items: 2)
      scores: [Int!] @constraint(min: 0, max: 10)
      rate: Float
      open: Boolean
      part: Piece
    ): Thing
  }
  extend type Mutation { put(elements: [Element!]! @constraint(min_items: 1, max_items: 2) @per_element): Boolean }
`);

const ID = '8ee57417-32c9-5f80-8615-94139b1fe228';

function checkerOf(operation: string): ReturnType<typeof checkWith> {
  const { args } = rootFields(SCHEMA).find(({ name }) => name === operation)!;
  const components = { schemas: componentSchemas(SCHEMA, { elementBounds: false, closed: false }) };
  const ajv = createAjv().addSchema({ components, operation: argumentsSchema(args) }, 'test');
  return checkWith(ajv.getSchema('test#/operation')!);
}

/** Pointer and code of each fault. */
function shown({ faults }: ReturnType<ReturnType<typeof checkWith>>): string[] {
  return faults.map(({ pointer, code }) => `${pointer ?? ''} ${code}`).sort();
}

describe('arguments are checked, and each error has a pointer and a code:', () => {
  const check = checkerOf('find');
  test.each<[string, unknown, string[]]>([
    ['valid values', { id: ID, limit: 5, sort: 'up', code: 'AB', colours: ['red'], rate: 1, open: false }, []],
    ['omitted and null values', { id: ID.toUpperCase(), limit: null, sort: null, colours: null, part: null }, []],
    ['an id with a line break', { id: `${ID}\n` }, ['/id format']],
    [
      'a number that is no finite one, in one error',
      { id: ID, limit: -1e400, rate: 1e400 },
      ['/limit range', '/rate range'],
    ],
    ['a number beyond 32 bits, in one error', { id: ID, limit: 2 ** 31 }, ['/limit range']],
    ['a string that does not match its pattern', { id: ID, code: 'ab' }, ['/code format']],
    [
      'numbers in a list beyond their bounds',
      { id: ID, scores: [0, -1, 10, 11] },
      ['/scores/1 range', '/scores/3 range'],
    ],
    ['null in a list', { id: ID, colours: [null] }, ['/colours/0 required']],
    ['nested members', { id: ID, part: { name: 'a', x: 1 } }, ['/part/name length', '/part/x unknown']],
  ])('%s', (_title, value, faults) => {
    expect(shown(check(value))).toEqual(faults);
  });

  test.each<[unknown, string]>([
    [{}, 'is required'],
    [{ id: null }, 'must not be null'],
    [{ id: 7 }, 'must be a string'],
    [{ id: 'x' }, 'must be a valid UUID'],
    [{ id: ID, limit: 9 }, 'must be <= 5'],
    [{ id: ID, sort: 'left' }, 'must be one of up, down'],
    [{ id: ID, open: 1 }, 'must be true or false'],
    [{ id: ID, colours: 'red' }, 'must be an array'],
    [{ id: ID, x: 1 }, 'is not a known field'],
  ])('%j: it %s', (value, detail) => {
    expect(check(value).faults).toEqual([expect.objectContaining({ detail })]);
  });
});

describe('an optional text that is empty is one fault, in what is written and what is imported:', () => {
  const { graphql } = publishedSchemas();
  const types = Object.values(graphql.getTypeMap()).filter(
    (type) => isInputObjectType(type) || (isObjectType(type) && directiveOf(type.astNode, 'stored')),
  ) as (GraphQLInputObjectType | GraphQLObjectType)[];
  /** With the types of what they contain, such as addresses. */
  const all = new Set(types);
  for (const type of all) {
    for (const { type: inner } of Object.values<{ type: GraphQLType }>(type.getFields())) {
      const named: GraphQLNamedType = getNamedType(inner);
      if (isObjectType(named) && !named.name.endsWith('Page')) all.add(named);
    }
  }
  const check = typeChecks(graphql, { elementBounds: true, closed: false });
  const members = [...all].flatMap((type) =>
    Object.values<{ type: GraphQLType; name: string }>(type.getFields())
      .filter(({ type: of, name }) => of === GraphQLString && !COMPUTED_FIELDS.has(name))
      .map(({ name }) => [type.name, name] as const),
  );

  test.each(members)('%s.%s', (type, name) => {
    const faults = check(type)({ [name]: '' }).faults.filter(({ pointer }) => pointer === `/${name}`);
    expect(faults).toHaveLength(1);
  });
});

test.each([
  ['a.'.repeat(1_000_000), 'a text that is not an e-mail address'],
  [`a@${'a-'.repeat(1_000_000)}!`, 'a very long label'],
  [`a@${'a.'.repeat(1_000_000)}!`, 'very many labels'],
])('a text longer than its format allows is rejected quickly: %#', (email) => {
  const check = typeChecks(publishedSchemas().graphql, { elementBounds: true, closed: false })('CustomerUpsert');
  const found = check({ external_ref: 'A', name: 'A', email }).faults;
  expect(found.map(({ pointer, code }) => `${pointer!} ${code}`).sort()).toEqual(['/email format', '/email length']);
});

describe('the length of a text is counted in characters,', () => {
  const lengths = createAjv().compile({ type: 'string', minLength: 2, maxLength: 4 });
  const check = checkWith(lengths);

  test.each<[string, string[]]>([
    ['', ['length']],
    ['a', ['length']],
    ['😀', ['length']],
    ['ab', []],
    ['😀😀', []],
    ['abcd', []],
    ['😀😀😀😀', []],
    ['abcde', ['length']],
    ['😀😀😀😀a', ['length']],
    ['😀😀😀😀😀', ['length']],
  ])('%j', (text, codes) => {
    expect(check(text).faults.map(({ code }) => code)).toEqual(codes);
  });

  test('without looking at a text that is too long in any case', () => {
    const looked = jest.spyOn(String.prototype, 'charCodeAt');
    check('a'.repeat(1_000_000));
    expect(looked).not.toHaveBeenCalled();
    looked.mockRestore();
  });
});
