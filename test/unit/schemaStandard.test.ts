import Ajv2020 from 'ajv/dist/2020';
import { argumentsSchema, componentSchemas, rootFields } from '../../src/schema/jsonSchema';
import { recordKinds } from '../../src/resources';
import { recordSchemas } from '../../src/cli/records';
import { publishedSchemas } from '../../src/gateway/schemas';

/* Validates the schemas of requests and records against the standard, which no start does. */

const { graphql, rest } = publishedSchemas();
const made: [string, object][] = [
  ...[true, false].flatMap((elementBounds) =>
    [true, false].flatMap((closed) => Object.entries(componentSchemas(graphql, { elementBounds, closed }))),
  ),
  ...Object.entries(recordSchemas(rest, recordKinds)),
  ...rootFields(graphql).map(({ name, args }): [string, object] => [name, argumentsSchema(args)]),
];

test('every schema derived from the SDL is valid JSON Schema 2020-12', () => {
  const ajv = new Ajv2020({ strict: false });
  const wrong = made.filter(([, schema]) => ajv.validateSchema(schema) !== true).map(([name]) => name);
  expect(wrong).toEqual([]);
  expect(made.length).toBeGreaterThan(50);
});
