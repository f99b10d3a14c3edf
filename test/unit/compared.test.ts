import { publishedSchemas } from '../../src/gateway/schemas';
import { normalised, normaliseKeys, isCallerKey, LONGEST_KEY, KEYS_IN_LIST } from '../../src/schema/callerKeys';
import { argumentsSchema, componentSchemas, type JsonSchema, rootFields } from '../../src/schema/jsonSchema';

test('the longest valid key is normalised before its length is checked', () => {
  // one character of six code units when decomposed
  const [whole] = ['\u{16126}'.repeat(64)];
  const decomposed = whole.normalize('NFD');
  expect(decomposed).toHaveLength(LONGEST_KEY);
  expect(normalised(decomposed)).toBe(whole);
  expect(normaliseKeys({ sku: [decomposed, 1], q: decomposed })).toEqual({ sku: [whole, 1], q: decomposed });
});

test('every compared key has a maximum that refuses what is too long to normalise', () => {
  const { graphql } = publishedSchemas();
  const types = Object.entries(componentSchemas(graphql, { elementBounds: true, closed: true }));
  const calls = rootFields(graphql).map(({ name, args }) => [name, argumentsSchema(args)] as const);
  const members = [...types.filter(([name]) => name.endsWith('Upsert')), ...calls].flatMap(([name, schema]) =>
    Object.entries(schema.properties ?? {})
      .filter(([member]) => isCallerKey(member))
      .map(([member, declared]) => [`${name}.${member}`, declared as JsonSchema] as const),
  );
  expect(members.map(([name]) => name)).toEqual(
    expect.arrayContaining([
      'ProductUpsert.sku',
      'CustomerUpsert.external_ref',
      'products.sku',
      'customers.external_ref',
    ]),
  );
  for (const [name, schema] of members) {
    const isList = schema.items !== undefined;
    const { maxLength } = (isList ? schema.items : schema) as JsonSchema;
    expect([name, Number(maxLength) <= 64, !isList || Number(schema.maxItems) <= KEYS_IN_LIST]).toEqual([
      name,
      true,
      true,
    ]);
  }
});
