import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERROR_CODES } from '../../src/errors';
import { openApiDocument } from '../../src/published';
import { client } from '../support/client';
import { faultCodesInSources } from '../support/faultCodes';
import { startGateway } from '../support/gateway';
import { document } from '../support/openapi';
import { operations } from '../support/operations';
import { RESOURCES } from '../support/resources';

interface ProblemResponse {
  readonly content: {
    'application/problem+json': { examples: Record<string, { value: { status: number; code: string } }> };
  };
}

/** Contract, section 5, word for word; 412 where an operation takes a version. */
const CODES = {
  invalid_request: 400,
  unauthenticated: 401,
  insufficient_scope: 403,
  plan_required: 403,
  not_found: 404,
  method_not_allowed: 405,
  not_acceptable: 406,
  idempotency_in_progress: 409,
  conflict: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  validation_failed: 422,
  idempotency_key_reused: 422,
  ...(operations.some(({ takesIfMatch }) => takesIfMatch) && { precondition_failed: 412 }),
  rate_limited: 429,
  internal: 500,
  unavailable: 503,
};

const problemResponses = Object.values(document.components.responses as Record<string, ProblemResponse>);
const examples = problemResponses.flatMap(({ content }) =>
  Object.entries(content['application/problem+json'].examples),
);

test('the error codes and their statuses are those of the contract, and the one of the settings page', () => {
  const statuses = Object.entries(ERROR_CODES).map(([code, { status }]) => [code, status]);
  expect(Object.fromEntries(statuses)).toEqual({ ...CODES, forbidden: 403, precondition_failed: 412 });
});

test('every error code is in the document with its status, and no other is', () => {
  expect(Object.fromEntries(examples.map(([code, { value }]) => [code, value.status]))).toEqual(CODES);
  expect(examples.map(([code]) => code)).toEqual(examples.map(([, { value }]) => value.code));
  expect(codesOf('Problem').sort()).toEqual(Object.keys(CODES).sort());
});

/** The codes that a schema names in full, as a set that may grow: an enum would make clients throw at a new one. */
function codesOf(name: 'Problem' | 'Fault'): string[] {
  const { code } = (document.components.schemas?.[name] as { properties: { code: Record<string, unknown> } })
    .properties;
  expect(code).toMatchObject({ type: 'string', description: expect.stringContaining('New codes may be added') });
  expect(code).not.toHaveProperty('enum');
  const codes = code['x-extensible-enum'] as string[];
  expect([...String(code.description).matchAll(/^- `(\w+)`: \S/gm)].map(([, one]) => one)).toEqual(codes);
  return [...codes];
}

test('every code that a fault can have is in the document, and no other is', () => {
  expect(codesOf('Fault').sort()).toEqual([...faultCodesInSources()].sort());
});

test('what is answered is open to new members, and what is sent is closed', () => {
  const [answers, requests] = [new Set<object>(), new Set<object>()];
  for (const { requestBody, responses } of Object.values(document.paths).flatMap((methods) => Object.values(methods))) {
    objectsIn(requestBody, requests);
    objectsIn(responses, answers);
  }
  expect([answers.size > 20, requests.size > 5]).toEqual([true, true]);
  // said in full: left unsaid, the clients that openapi-generator makes take it for closed
  for (const schema of answers) expect(schema).toHaveProperty('additionalProperties', true);
  for (const schema of requests) expect(schema).toHaveProperty('additionalProperties', false);
});

/** The object schemas that a part of the document leads to. */
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

/** Contract, section 2: what each operation is called in generated clients. */
const OPERATION_IDS: Record<string, string> = {
  ...Object.fromEntries(operations.filter(({ kind }) => kind === 'Mutation').map(({ name }) => [name, name])),
  ...Object.fromEntries(
    RESOURCES.flatMap(({ list, one }) => [
      [list, `list_${list}`],
      [one, `get_${one}`],
    ]),
  ),
  products: 'list_products',
  product: 'get_product',
  upsert_products: 'upsert_products',
  quotes: 'list_quotes',
  quote: 'get_quote',
  orders: 'list_orders',
  order: 'get_order',
  customers: 'list_customers',
  customer: 'get_customer',
  upsert_customers: 'upsert_customers',
  requests: 'list_requests',
  request: 'get_request',
  request_messages: 'list_request_messages',
  open_request: 'open_request',
  me: 'get_me',
};

test('every error answer of the document is one that an operation gives', () => {
  const used = JSON.stringify(document.paths);
  const names = Object.keys(document.components.responses ?? {});
  expect(names.filter((name) => !used.includes(`"#/components/responses/${name}"`))).toEqual([]);
});

test.each(operations.filter(({ rest }) => rest))('$name is described with its scope', ({ name, scope, rest }) => {
  const path = rest!.path.replaceAll(/:(\w+)/g, '{$1}');
  const described = document.paths[path]?.[rest!.method.toLowerCase()];
  expect(described).toMatchObject({
    operationId: OPERATION_IDS[name],
    security: [{ api_key: scope === undefined ? [] : [scope] }],
  });
  expect(Object.keys(described!.responses)).toContain(String(rest!.status));
});

test('nothing is described that is no operation', () => {
  const described = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  const routed = operations.filter(({ rest }) => rest).map(({ name }) => OPERATION_IDS[name]);
  expect(described.map(({ operationId }) => operationId).sort()).toEqual(routed.sort());
});

test('every operation is called a verb and what it works on, and links lead to operations there are', () => {
  const described = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  const ids = described.map(({ operationId }) => operationId);
  // one word alone may be a method that a generated client has itself: `request`
  for (const id of ids) expect(id).toMatch(/^[a-z]+(_[a-z]+)+$/);
  expect(new Set(ids).size).toBe(ids.length);
  const linked = [...JSON.stringify(document.paths).matchAll(/"operationId":"(\w+)","parameters":\{/g)].map(
    ([, id]) => id,
  );
  expect(linked.length).toBeGreaterThan(10);
  expect(linked.filter((id) => !ids.includes(id!))).toEqual([]);
});

test('what is served is the document', async () => {
  const gateway = await startGateway();
  const { status, body } = await client(gateway).get('/openapi.json');
  await gateway.stop();
  expect(status).toBe(200);
  expect(body).toEqual(JSON.parse(JSON.stringify(document)));
});

test('openapi.json in the repository is the document of this commit (npm run openapi)', () => {
  const kept: unknown = JSON.parse(readFileSync(join(__dirname, '..', '..', 'openapi.json'), 'utf8'));
  expect(kept).toEqual(JSON.parse(JSON.stringify(openApiDocument())));
});
