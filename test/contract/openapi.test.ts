import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERROR_CODES } from '../../src/errors';
import { openApiDocument } from '../../src/rest/openapi';
import { client } from '../support/client';
import { startGateway } from '../support/gateway';
import { document } from '../support/openapi';
import { operations } from '../support/operations';

interface ProblemResponse {
  readonly content: {
    'application/problem+json': { examples: Record<string, { value: { status: number; code: string } }> };
  };
}

/** Contract, section 5, word for word. */
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
  expect(Object.fromEntries(statuses)).toEqual({ ...CODES, forbidden: 403 });
});

test('every error code is in the document with its status, and no other is', () => {
  expect(Object.fromEntries(examples.map(([code, { value }]) => [code, value.status]))).toEqual(CODES);
  expect(examples.map(([code]) => code)).toEqual(examples.map(([, { value }]) => value.code));
  const { properties } = document.components.schemas?.Problem as { properties: { code: { enum: string[] } } };
  expect([...properties.code.enum].sort()).toEqual(Object.keys(CODES).sort());
});

test('every error answer of the document is one that an operation gives', () => {
  const used = JSON.stringify(document.paths);
  const names = Object.keys(document.components.responses ?? {});
  expect(names.filter((name) => !used.includes(`"#/components/responses/${name}"`))).toEqual([]);
});

test.each(operations.filter(({ rest }) => rest))('$name is described with its scope', ({ name, scope, rest }) => {
  const path = rest!.path.replaceAll(/:(\w+)/g, '{$1}');
  const described = document.paths[path]?.[rest!.method.toLowerCase()];
  expect(described).toMatchObject({ operationId: name, security: [{ api_key: scope === undefined ? [] : [scope] }] });
  expect(Object.keys(described!.responses)).toContain(String(rest!.status));
});

test('nothing is described that is no operation', () => {
  const described = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  const routed = operations.filter(({ rest }) => rest).map(({ name }) => name);
  expect(described.map(({ operationId }) => operationId).sort()).toEqual(routed.sort());
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
