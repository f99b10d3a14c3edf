import { parse } from 'graphql';
import { SchemaModel } from '../../src/schema/model';
import { bodySchema, buildOpenApi } from '../../src/openapi';
import type { JsonSchema } from '../../src/schema/jsonSchema';
import { read } from '../docs/markdown';

/* Deprecations in the SDL are in the OpenAPI document, with the reason. Only the schema of this test has any so far. */

const BASE = read('schema/base.graphql');
const SDL = `${BASE}
  "Colours."
  enum Colour { "Red." red "Grey." grey @deprecated(reason: "Use red.") }
  "A thing."
  type Thing { id: ID! "Its colour." colour: Colour "Its hue." hue: Colour @deprecated(reason: "Use colour.") }
  "Sizes."
  input Size { mm: Int inches: Int @deprecated(reason: "Use mm.") }
  extend type Query {
    "List things. All of them."
    things("By colour." colour: Colour, hue: Colour @deprecated(reason: "Use colour.")): Thing
      @rest(path: "/things") @access @deprecated(reason: "Use thing.")
    "Read a thing."
    thing(id: ID!): Thing @rest(path: "/things/:id") @access
  }
  extend type Mutation {
    "Make a thing."
    make_thing(size: Size, colour: Colour, hue: Colour @deprecated(reason: "Use colour.")): Thing
      @rest(method: POST, path: "/things") @access
  }`;

const document = buildOpenApi(new SchemaModel(parse(SDL)));
const { paths, components } = document;
const { get, post } = paths['/things']!;

function propertiesOf(schema: unknown): Record<string, JsonSchema> {
  return (schema as { properties: Record<string, JsonSchema> }).properties;
}

test('an operation', () => {
  expect(get).toMatchObject({ deprecated: true, summary: 'List things.' });
  expect(get!.description).toMatch(/^List things\. All of them\. Deprecated: Use thing\.\n\n/);
  expect(post).not.toHaveProperty('deprecated');
});

test('a parameter', () => {
  const [colour, hue] = get!.parameters;
  expect(colour).toMatchObject({ name: 'colour', description: 'By colour.' });
  expect(colour).not.toHaveProperty('deprecated');
  expect(hue).toMatchObject({ name: 'hue', description: 'Deprecated: Use colour.', deprecated: true });
});

test('a member of a body, of an object in it, and of an answer', () => {
  const body = propertiesOf(bodySchema(document, post!.requestBody!));
  expect(body.hue).toMatchObject({ description: 'Deprecated: Use colour.', deprecated: true });
  expect(body.colour).not.toHaveProperty('deprecated');
  const { Size, Thing } = components.schemas!;
  expect(propertiesOf(Size)).toMatchObject({ inches: { description: 'Deprecated: Use mm.', deprecated: true } });
  expect(propertiesOf(Size).mm).not.toHaveProperty('deprecated');
  expect(propertiesOf(Thing).hue).toMatchObject({ description: 'Its hue. Deprecated: Use colour.', deprecated: true });
  expect(propertiesOf(Thing).colour).not.toHaveProperty('deprecated');
});

test('a value of an enum, in words', () => {
  expect(components.schemas!.Colour).toMatchObject({
    description: 'Colours.\n- `red`: Red.\n- `grey`: Grey. Deprecated: Use red.',
  });
});
