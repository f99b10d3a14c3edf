import { buildSchema } from 'graphql';
import { DEFAULT_KEY_PREFIX } from '../../src/auth/keys';
import { ERROR_CODES } from '../../src/errors';
import { FAULT_CODES } from '../../src/errors/faultCodes';
import { NDJSON, NDJSON_LIMITS } from '../../src/http/ndjson';
import { version } from '../../src/package';
import { keyDocument, operatorDocument } from '../../src/openapi';
import { describeIncluded } from '../../src/openapi/include';
import { published } from '../../src/schema/model';
import { MEBIBYTE } from '../../src/units';
import { read } from '../docs/markdown';
import { client } from '../support/client';
import { startGateway } from '../support/gateway';
import { document } from '../support/openapi';
import { operations } from '../support/operations';
import { RESOURCES } from '../support/resources';

interface ProblemResponse {
  readonly content: {
    'application/problem+json': { examples: Record<string, { value: { status: number; code: string } }> };
  };
}

/** As in section 5 of the contract; 412 only if an operation takes a version. */
const CODES = {
  invalid_request: 400,
  unauthenticated: 401,
  insufficient_scope: 403,
  forbidden: 403,
  organisation_suspended: 403,
  plan_required: 403,
  not_found: 404,
  method_not_allowed: 405,
  not_acceptable: 406,
  idempotency_in_progress: 409,
  conflict: 409,
  cursor_expired: 410,
  payload_too_large: 413,
  unsupported_media_type: 415,
  range_not_satisfiable: 416,
  validation_failed: 422,
  idempotency_key_reused: 422,
  quota_exceeded: 422,
  ...(operations.some(({ takesIfMatch }) => takesIfMatch) && { precondition_failed: 412 }),
  rate_limited: 429,
  stored_object_invalid: 500,
  internal: 500,
  unavailable: 503,
};

const problemResponses = Object.values(document.components.responses as Record<string, ProblemResponse>);
const examples = problemResponses.flatMap(({ content }) =>
  Object.entries(content['application/problem+json'].examples),
);

test('the error codes and statuses are those of the contract, plus precondition_failed', () => {
  const statuses = Object.entries(ERROR_CODES).map(([code, { status }]) => [code, status]);
  expect(Object.fromEntries(statuses)).toEqual({ ...CODES, precondition_failed: 412 });
});

test('the document has exactly the error codes, with their statuses', () => {
  expect(Object.fromEntries(examples.map(([code, { value }]) => [code, value.status]))).toEqual(CODES);
  expect(examples.map(([code]) => code)).toEqual(examples.map(([, { value }]) => value.code));
  expect(codesOf('Problem').sort()).toEqual(Object.keys(CODES).sort());
});

/** The codes that a schema lists as extensible; an enum would make clients throw on a new code. */
function codesOf(name: 'Problem' | 'Fault'): string[] {
  const { code } = (document.components.schemas?.[name] as { properties: { code: Record<string, unknown> } })
    .properties;
  expect(code).toMatchObject({ type: 'string', description: expect.stringContaining('New codes may be added') });
  expect(code).not.toHaveProperty('enum');
  const codes = code['x-extensible-enum'] as string[];
  expect([...String(code.description).matchAll(/^- `(\w+)`: \S/gm)].map(([, one]) => one)).toEqual(codes);
  return [...codes];
}

// TypeScript refuses a fault with another code
test('the document has exactly the codes of validation errors', () => {
  expect(codesOf('Fault')).toEqual(Object.keys(FAULT_CODES));
});

test('response schemas allow additional members, and request schemas do not', () => {
  const [answers, requests] = [new Set<object>(), new Set<object>()];
  for (const { requestBody, responses } of Object.values(document.paths).flatMap((methods) => Object.values(methods))) {
    objectsIn(requestBody, requests);
    objectsIn(responses, answers);
  }
  expect([answers.size > 20, requests.size > 5]).toEqual([true, true]);
  // explicit, because openapi-generator's clients would otherwise disallow them
  for (const schema of answers) expect(schema).toHaveProperty('additionalProperties', true);
  for (const schema of requests) expect(schema).toHaveProperty('additionalProperties', false);
});

/** Collects the object schemas that a part of the document uses. */
function objectsIn(part: unknown, found: Set<object>): void {
  if (typeof part !== 'object' || part === null) return;
  const { $ref, type, properties } = part as { $ref?: unknown; type?: unknown; properties?: unknown };
  if (typeof $ref === 'string') {
    objectsIn(
      $ref
        .slice(2)
        .split('/')
        .reduce<unknown>((at, step) => (at as Record<string, unknown>)[step], document),
      found,
    );
    return;
  }
  if (type === 'object' && typeof properties === 'object' && !found.has(part)) found.add(part);
  for (const [name, value] of Object.entries(part)) if (!/^examples?$/.test(name)) objectsIn(value, found);
}

/** Section 2 of the contract: the name of each operation in generated clients. */
const OPERATION_IDS: Record<string, string> = {
  ...Object.fromEntries(operations.filter(({ kind }) => kind === 'Mutation').map(({ name }) => [name, name])),
  ...Object.fromEntries(
    RESOURCES.flatMap(({ list, one }) => [
      [list, `list_${list}`],
      [one, `get_${one}`],
    ]),
  ),
  request_messages: 'list_request_messages',
  me: 'get_me',
  events: 'list_events',
};

test('every error response in the document is used by an operation', () => {
  const used = JSON.stringify(document.paths);
  const names = Object.keys(document.components.responses ?? {});
  expect(names.filter((name) => !used.includes(`"#/components/responses/${name}"`))).toEqual([]);
});

test.each(operations.filter(({ rest }) => rest))(
  '$name is in the document with its scope',
  ({ name, scope, anyOf, rest }) => {
    const path = rest!.path.replaceAll(/:(\w+)/g, '{$1}');
    const described = document.paths[path]?.[rest!.method.toLowerCase()];
    expect(described).toMatchObject({
      operationId: OPERATION_IDS[name],
      // one of the alternatives is enough
      security: anyOf ? anyOf.map((one) => ({ api_key: [one] })) : [{ api_key: scope === undefined ? [] : [scope] }],
    });
    expect(Object.keys(described!.responses)).toContain(String(rest!.status));
  },
);

test('the document has no other operations', () => {
  const described = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  const ofFiles = published.attachables.flatMap(({ add, read, remove }) => [add.name, `get_${read.name}`, remove.name]);
  const routed = [...operations.filter(({ rest }) => rest).map(({ name }) => OPERATION_IDS[name]!), ...ofFiles];
  expect(described.map(({ operationId }) => operationId).sort()).toEqual(routed.sort());
});

test('generated clients send a file as any bytes, which they write as they are', () => {
  const paths = document.paths as Record<string, Record<string, { requestBody?: { content: object } }>>;
  const { requestBody } = paths['/products/{id}/attachments']!.post!;
  expect(Object.keys(requestBody!.content)).toEqual(['application/octet-stream']);
});

test('operation ids are a verb and an object, and links refer to existing operations', () => {
  const described = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  const ids = described.map(({ operationId }) => operationId);
  // a single word such as `request` could clash with a method of generated clients
  for (const id of ids) expect(id).toMatch(/^[a-z]+(_[a-z]+)+$/);
  expect(new Set(ids).size).toBe(ids.length);
  const linked = [...JSON.stringify(document.paths).matchAll(/"operationId":"(\w+)","parameters":\{/g)].map(
    ([, id]) => id,
  );
  expect(linked.length).toBeGreaterThan(10);
  expect(linked.filter((id) => !ids.includes(id!))).toEqual([]);
});

describe('integers', () => {
  const integers: Record<string, unknown>[] = [];
  JSON.stringify([document.paths, document.components.schemas], (_name, value: unknown) => {
    const { type } = (value ?? {}) as { type?: unknown };
    if ([type].flat().includes('integer')) integers.push(value as Record<string, unknown>);
    return value;
  });

  test('have a format, from which typed clients take their width: amounts have 64 bits, which Java and Go would not guess', () => {
    const { Order, OrderLine } = document.components.schemas as Record<string, { properties: Record<string, unknown> }>;
    expect(Order!.properties.total_minor).toMatchObject({ type: 'integer', format: 'int64' });
    expect(OrderLine!.properties.lead_time_days).toMatchObject({ type: ['integer', 'null'], format: 'int32' });
    expect(new Set(integers.map(({ format }) => format))).toEqual(new Set(['int32', 'int64']));
  });

  test('fit into it, by their bounds', () => {
    const ranges: Record<string, number> = { int32: 2 ** 31, int64: 2 ** 53 };
    for (const { format, minimum = 0, maximum = 0 } of integers) {
      const range = ranges[String(format)]!;
      expect(Number(minimum)).toBeGreaterThanOrEqual(-range);
      expect(Number(maximum)).toBeLessThan(range);
    }
  });
});

test('errors of operators are told of their own bodies and feed; and no document names the prefix of keys, which is configured', () => {
  const { responses } = operatorDocument().components as { responses: Record<string, { description: string }> };
  expect(responses.PayloadTooLarge!.description).toContain(`${String(NDJSON_LIMITS.bytes / MEBIBYTE)} MiB`);
  expect(responses.UnsupportedMediaType!.description).toContain(NDJSON);
  expect(responses.CursorExpired!.description).toContain('oplog');
  expect(responses.IdempotencyInProgress!.description).toContain('an `Idempotency-Key` whose first response');
  expect(JSON.stringify(document.components)).not.toContain(DEFAULT_KEY_PREFIX);
});

test('elements of bulk calls have no bounds, not even those of metadata, so that no client refuses all of them for one', () => {
  const schemas = document.components.schemas as Record<string, { properties: Record<string, object> }>;
  const bounds = /"(?:(?:min|max)(?:Length|Items|Properties)|pattern|propertyNames)"/;
  for (const name of ['ProductUpsert', 'CustomerUpsert', 'ContactInput'])
    expect(JSON.stringify(schemas[name]!.properties)).not.toMatch(bounds);
  expect(JSON.stringify(schemas.PatchProductsIdBody!.properties.metadata)).toMatch(bounds);
});

test('the document has the version of the package, and refuses an empty cursor', () => {
  expect(document.info).toMatchObject({ version });
  const { parameters } = document.paths['/orders']!.get!;
  expect(parameters.find(({ name }) => name === 'cursor')!.schema).toMatchObject({ minLength: 1 });
});

test.each([
  ['', '/api/v1'],
  ['https://api.example.com', 'https://api.example.com/api/v1'],
])(
  'with the PUBLIC_URL %j the gateway serves the document with the server %s, and 304 to who has it',
  async (PUBLIC_URL, url) => {
    const gateway = await startGateway({ PUBLIC_URL });
    const { status, headers, body } = await client(gateway).get('/openapi.json');
    const again = await client(gateway).get('/openapi.json', {}, { 'If-None-Match': headers.get('etag')! });
    await gateway.stop();
    expect([status, again.status]).toEqual([200, 304]);
    expect(body).toEqual({ ...JSON.parse(JSON.stringify(document)), servers: [{ url }] });
  },
);

test.each([
  ['openapi.json', keyDocument],
  ['openapi.operator.json', operatorDocument],
])('%s is up to date (npm run openapi)', (file, build) => {
  expect(read(file)).toBe(`${JSON.stringify(build(), undefined, 2)}\n`);
});

test('a field that lists omit is documented with the value of include that adds it', () => {
  const schema = buildSchema(`
    enum From { LISTS }
    directive @graphql_only(on: From!, include: String) on FIELD_DEFINITION
    type Quote { id: ID!, lines: String! @graphql_only(on: LISTS, include: "positions") }
    type QuoteItem { id: ID! }
  `);
  const lines = { type: 'string', description: 'Its lines.' };
  const types = {
    Quote: { properties: { id: {}, lines }, required: ['id', 'lines'] },
    QuoteItem: { properties: { id: {} }, required: ['id'] },
  };
  expect(describeIncluded(schema, types).QuoteItem!.properties).toEqual({
    id: {},
    lines: { ...lines, description: 'Its lines. Only with `include=positions`.' },
  });
});
