import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv from 'ajv';
import fc from 'fast-check';
import { type GraphQLObjectType, parse } from 'graphql';
import mongoose from 'mongoose';
import { WITHOUT_SEARCH } from '../../src/mongo/collection';
import { publishedSchemas } from '../../src/gateway/schemas';
import { collections } from '../../src/resources';
import { SchemaModel } from '../../src/schema/model';
import { fromRecord } from '../../src/stored/records';
import { storedSchema } from '../../src/stored/storedSchema';
import { objectOf } from '../support/arbitraryRows';

/* What MongoDB is asked to check of rows (docs/decisions/stored-validation.md). */

fc.configureGlobal({ seed: 20261127 });

const { serialize, deserialize, EJSON } = mongoose.mongo.BSON;

/** Keywords of MongoDB's $jsonSchema; it refuses to make a collection with any other. */
const KEYWORDS = [
  'title',
  'bsonType',
  'required',
  'properties',
  'items',
  'enum',
  'pattern',
  'minimum',
  'maximum',
  'multipleOf',
  'minLength',
  'maxLength',
];

function bsonTypeOf(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number') return 'double';
  if (typeof value !== 'object') return typeof value;
  if (value instanceof Date) return 'date';
  if (Array.isArray(value)) return 'array';
  return (value as { readonly _bsontype?: string })._bsontype?.toLowerCase() ?? 'object';
}

const ajv = new Ajv({ strict: false, logger: false }).addKeyword({
  keyword: 'bsonType',
  validate: (types: string | string[], value: unknown) => [types].flat().includes(bsonTypeOf(value)),
});

const types = publishedSchemas().rest.getTypeMap();

describe.each(collections.map((resource) => ({ name: resource.name, resource })))('$name', ({ resource }) => {
  const accepts = ajv.compile(resource.schema);
  const { stored } = resource;
  const find = resource.faultIn(WITHOUT_SEARCH);

  test('has only keywords that MongoDB 6.0 knows', () => {
    const look = (schema: object, isOfNames = false): void => {
      for (const [name, value] of Object.entries(schema)) {
        if (!isOfNames) expect(KEYWORDS).toContain(name);
        if (typeof value === 'object' && !Array.isArray(value)) look(value as object, name === 'properties');
      }
    };
    look(resource.schema);
  });

  test('takes the example', () => {
    const text = readFileSync(join(__dirname, '..', '..', 'schema', 'examples', `${resource.name}.json`), 'utf8');
    const row = fromRecord(JSON.parse(text) as Readonly<Record<string, unknown>>, stored);
    expect(accepts(EJSON.deserialize(EJSON.serialize(row)))).toBe(true);
    expect(accepts({ ...row, created_at: '2026-01-31' })).toBe(false);
    expect(accepts({ ...row, _id: new mongoose.mongo.ObjectId() })).toBe(false);
  });

  test.each([0, 1, 4, 30])('takes every row that can be served; of rows that cannot, one in %p', (oneOf) => {
    const row = objectOf(types[stored.type] as GraphQLObjectType, { oneOf });
    let served = 0;
    fc.assert(
      fc.property(row, (made) => {
        const found = deserialize(serialize(made, { ignoreUndefined: true })) as { readonly _id: string };
        const isServed = find(found) === undefined;
        if (isServed) served += 1;
        if (isServed && !accepts(found)) throw new Error(ajv.errorsText(accepts.errors));
      }),
      { numRuns: 300 },
    );
    expect(served).toBeGreaterThanOrEqual(oneOf === 0 ? 300 : 0);
  });
});

test('members that the gateway computes may be left out, and no pattern is asked for but that a text is not blank', () => {
  const { stored } = new SchemaModel(
    parse(`
      type Box @stored(collection: "boxes") {
        id: ID!
        weight: Int!
        code: String! @constraint(pattern: "^[A-Z]+$")
        note: String @constraint(pattern: "\\\\S")
      }`),
  );
  const schema = storedSchema(stored.get('Box')!, ['weight']);
  expect(schema).toMatchObject({ title: 'Scopegate: Box', bsonType: 'object', required: ['_id', 'code'] });
  const { code, note } = schema.properties as Readonly<Record<string, object>>;
  expect(code).toEqual({ bsonType: ['string', 'bool', 'int', 'long', 'double'] });
  expect(note).toEqual({ bsonType: ['string', 'bool', 'int', 'long', 'double', 'null'], minLength: 1 });
});
