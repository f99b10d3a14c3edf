import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parse } from 'graphql';
import { toAppError } from '../../src/mongo/toAppError';
import type { DataContext } from '../../src/operations/context';
import { createBodyMemory } from '../../src/admission/bodyMemory';
import { openExchange } from '../../src/http/exchange';
import { writeError } from '../../src/http/problem';
import { createRequestQueue } from '../../src/admission/requestQueue';
import { createRestApi } from '../../src/rest';
import { buildOpenApi } from '../../src/openapi';
import { createRunner } from '../../src/operations/runner';
import { SchemaModel } from '../../src/schema/model';
import { buildSchemas } from '../../src/operations/build';
import type { Resolver } from '../../src/operations/run';
import { METHODS } from '../../src/schema/declaredOperations';
import { raw, type RawAnswer } from '../api/http/raw';
import { read } from '../docs/markdown';

/* PUT, DELETE and @sunset, which no public operation has yet, with a resource of this test. */

const BASE = read('schema/base.graphql');
const SDL = `${BASE}
  "A thing."
  type Thing { id: ID! name: String }
  extend type Query { "Read one thing." thing(id: ID!): Thing @rest(path: "/things/:id") @access }
  extend type Mutation {
    "Change a thing."
    change_thing(id: ID!, name: String @constraint(max_length: 5)): Thing @rest(method: PATCH, path: "/things/:id") @access(scope: PRODUCTS_WRITE)
    "Replace a thing."
    replace_thing(id: ID!, name: String! @constraint(max_length: 200)): Thing @rest(method: PUT, path: "/things/:id") @access(scope: PRODUCTS_WRITE)
    "Remove a thing."
    remove_thing(id: ID!): Thing
      @rest(method: DELETE, path: "/things/:id") @access(scope: PRODUCTS_WRITE)
      @deprecated(reason: "Things stay.") @sunset(since: "2026-11-21", on: "2027-05-21")
  }`;
const ID = '0b8c7d1e-0000-4000-8000-000000000001';
const PATH = `/api/v1/things/${ID}`;
const say =
  (what: string): Resolver =>
  (_, { id, name }) => ({ id: id as string, name: `${what} ${String(name)}` });
const schemas = buildSchemas(new SchemaModel(parse(SDL)), {
  Query: { thing: say('read') },
  Mutation: { change_thing: say('changed'), replace_thing: say('replaced'), remove_thing: say('removed') },
});

const context = {
  authorise: () => undefined,
  once: (_name: string, _args: unknown, run: () => unknown) => run(),
} as unknown as DataContext;

let server: Server;
let url: string;

beforeAll(async () => {
  const face = createRestApi({
    runner: createRunner(schemas),
    openContext: () => Promise.resolve(context),
    recognise: () => Promise.resolve(undefined),
    document: () => ({}),
  });
  const shared = { bodies: createBodyMemory(1024 * 1024, () => undefined), queue: createRequestQueue(() => undefined) };
  server = createServer((request, response) => {
    const exchange = openExchange(request, response, { trustedProxies: 0, ...shared });
    face(exchange).catch((error: unknown) => {
      writeError(exchange, toAppError(error));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
});
afterAll(() => server.close());

const described = buildOpenApi(new SchemaModel(parse(SDL))).paths['/things/{id}']!;

function send(method: string, body?: unknown): Promise<RawAnswer> {
  const json = { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  return raw(url, PATH, { method, ...(body === undefined ? {} : json) });
}

test('PUT runs its operation with its body', async () => {
  const { status, text } = await send('PUT', { name: 'new' });
  expect([status, JSON.parse(text)]).toEqual([200, { id: ID, name: 'replaced new' }]);
});

test('only an operation with @sunset has the headers, and is deprecated in the document', async () => {
  const { headers } = await send('DELETE');
  expect(headers).toMatchObject({ deprecation: '@1795219200', sunset: 'Fri, 21 May 2027 00:00:00 GMT' });
  expect((await send('GET')).headers).not.toHaveProperty('sunset');
  expect(described.delete).toMatchObject({ deprecated: true, responses: { 200: { headers: { Sunset: {} } } } });
  expect(described.patch).not.toHaveProperty('deprecated');
});

test('the document has a body for methods with one, and an Idempotency-Key for every write', () => {
  for (const [method, { root, hasBody }] of Object.entries(METHODS)) {
    const operation = described[method.toLowerCase()];
    if (!operation) continue;
    expect([method, operation.requestBody !== undefined]).toEqual([method, hasBody]);
    const names = operation.parameters.map(({ name }) => name);
    expect([method, names.includes('Idempotency-Key')]).toEqual([method, root === 'Mutation']);
    expect(Object.keys(operation.responses).includes('415')).toBe(hasBody);
  }
});
