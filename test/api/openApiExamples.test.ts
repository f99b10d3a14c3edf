import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'graphql';
import { SchemaModel } from '../../src/schema/model';
import { buildOpenApi } from '../../src/openapi';
import { checkWith, createAjv } from '../../src/schema/validation';
import { read, ROOT } from '../docs/markdown';
import type { Json } from '../support/client';
import { northwind } from '../support/factories';
import { document, operatorDocument } from '../support/openapi';
import { HAS_OWN_SCHEMA } from '../support/ownRows';
import { toRow } from '../support/resources';

/* The examples of the OpenAPI document are values that the gateway could send or accept. */

const OPERATIONS: readonly Json[] = Object.values(document.paths).flatMap((methods) => Object.values(methods));
const ajv = createAjv().addSchema(document, 'openapi').addSchema(operatorDocument, 'operators');

function faultsOf({ schema, example }: Json, id = 'openapi'): unknown {
  const absolute = JSON.parse(JSON.stringify(schema).replaceAll('"#/', `"${id}#/`)) as object;
  return checkWith(ajv.compile(absolute))(example).faults;
}

/** The content of the success response. */
const answerOf = ({ responses }: Json): Json =>
  Object.entries<Json>(responses).find(([status]) => status.startsWith('2'))![1].content['application/json'];

const EXAMPLES = 'schema/examples';
const exampleIn = (file: string): Json => JSON.parse(read(`${EXAMPLES}/${file}`));

test.each(OPERATIONS)('$operationId has examples that match its schemas', (operation) => {
  // of a file there is no example
  const contents = [answerOf(operation), operation.requestBody?.content['application/json']].filter(
    (content) => content !== undefined,
  );
  expect(contents.length > 0 || operation.operationId.endsWith('_attachment')).toBe(true);
  for (const content of contents) {
    expect(content.example).toEqual(expect.anything());
    expect(faultsOf(content)).toEqual([]);
  }
  for (const parameter of operation.parameters.filter(({ example }: Json) => example !== undefined))
    expect(faultsOf(parameter)).toEqual([]);
});

test('every parameter has an example, unless its schema lists its values; an Idempotency-Key one for each operation', () => {
  const all: readonly Json[] = OPERATIONS.flatMap(({ parameters }) => parameters as Json[]);
  const lists = ({ schema: { type, items = {}, ...schema } }: Json): boolean =>
    type === 'boolean' || [items, schema].some((one: Json) => one.enum !== undefined || one.$ref !== undefined);
  const missing = all.filter((one) => !lists(one) && one.example === undefined).map(({ name }) => String(name));
  // the folder's own example of a quote would have it
  expect(missing).toEqual(HAS_OWN_SCHEMA ? ['project_code'] : []);
  const ofOperators: readonly Json[] = Object.values(operatorDocument.paths).flatMap((methods) =>
    Object.values(methods),
  );
  for (const parameters of [all, ofOperators.flatMap((operation) => operation.parameters as Json[])]) {
    const keys = parameters.filter(({ name }) => name === 'Idempotency-Key').map(({ example }) => example as unknown);
    expect(keys.length).toBeGreaterThan(6);
    expect(keys).not.toContain(undefined);
    expect(new Set(keys).size).toBe(keys.length);
  }
});

test('every body of the operator API has an example that matches its schema', () => {
  const operations: readonly Json[] = Object.values(operatorDocument.paths).flatMap((methods) =>
    Object.values(methods),
  );
  const bodies = operations.flatMap(({ requestBody }) => requestBody?.content['application/json'] ?? []);
  expect(bodies.length).toBeGreaterThan(6);
  for (const body of bodies) expect([body.example, faultsOf(body, 'operators')]).toEqual([expect.anything(), []]);
});

test.each(readdirSync(join(ROOT, EXAMPLES)))('%s in schema/examples is the first row of the sample data', (file) => {
  // messages are in the records of their threads
  const isMessage = file === 'messages.json';
  const [record] = northwind(isMessage ? 'requests' : file.replace('.json', '')) as Json[];
  expect(exampleIn(file)).toEqual(isMessage ? { ...record!.messages[0], request_id: record!.id } : record);
});

test('the example of a stored object is the one in schema/examples: all of it in a read, an item in a list', () => {
  const row = exampleIn('quotes.json');
  const shown = toRow(row);
  const { lines: _lines, ...item } = shown;
  const exampleAt = (path: string): Json => answerOf(document.paths[path]!.get).example;
  expect(exampleAt('/quotes/{id}')).toEqual(shown);
  expect(exampleAt('/quotes').data).toEqual([item]);
  const [id] = document.paths['/quotes/{id}']!.get!.parameters;
  expect(id).toMatchObject({ name: 'id', example: row.id });
});

test('the example of a parameter of a type of the user is of its sample and its type, whatever others of that name have', () => {
  const sdl = `${read('schema/base.graphql')}
    enum Kind { bulky }
    type Thing @stored(collection: "products") {
      id: ID! created_at: DateTime! name: String! sku: String! tags: [String!] from: Kind updated_at: DateTime! created_on: Date
    }
    type ThingPage { data: [Thing!]! has_more: Boolean! next_cursor: String }
    extend type Query {
      things(
        sku: String @filter
        to: String @filter(member: "name")
        from: [Kind!] @filter
        types: String @filter(member: "tags")
        updated_since: DateTime @filter(member: "updated_at", by: SINCE)
        created_since: Date @filter(member: "created_on", by: SINCE)
        sort: String
        limit: Int @constraint(min: 1, max: 100, default: 20)
        cursor: String
      ): ThingPage @rest(path: "/things") @access(scope: QUOTES_READ)
    }`;
  const parameters = buildOpenApi(new SchemaModel(parse(sdl))).paths['/things']!.get!.parameters as Json[];
  const shown = parameters.flatMap(({ name, example }) => (example === undefined ? [] : [[String(name), example]]));
  expect(Object.fromEntries(shown)).toEqual({
    sku: 'NW-001',
    to: 'Chai',
    updated_since: '1996-07-01T00:00:00.000Z',
    sort: '-created_at',
    limit: 20,
    cursor: expect.any(String),
  });
});

test('a stored type without an example is rejected, with the file to write', () => {
  const sdl = `${read('schema/base.graphql')}
    type Thing @stored(collection: "things") { id: ID! created_at: DateTime! }
    type ThingPage { data: [Thing!]! has_more: Boolean! next_cursor: String }
    extend type Query {
      thing(id: ID!): Thing @rest(path: "/things/:id") @access(scope: QUOTES_READ)
      things(limit: Int @constraint(min: 1, max: 100, default: 20), cursor: String): ThingPage @access(scope: QUOTES_READ)
    }
    extend type Mutation { make_thing: Thing @rest(method: POST, path: "/things") @access(scope: QUOTES_WRITE) }`;
  const why = 'has no example: write an object, as `export` does, to schema/examples/things.json';
  expect(() => buildOpenApi(new SchemaModel(parse(sdl)))).toThrow(
    `invalid schema: Query.thing ${why}; Mutation.make_thing ${why}`,
  );
});
