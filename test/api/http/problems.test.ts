import { document } from '../../support/openapi';
import { checkWith, createAjv, requireSchema } from '../../../src/schema/validation';
import { CAUSES } from '../../../src/pages/errorCauses';
import type { ErrorCode } from '../../../src/errors';
import { exampleOf, graphqlExampleOf } from '../../../src/pages/errorExamples';
import { MEBIBYTE } from '../../../src/units';
import { makeKey, makeOrganisation } from '../../support/factories';
import { sendForm, signIn } from '../../admin/settings/people';
import { late, served } from '../../support/gateway';
import { raw } from './raw';

/* All problems are written by the same code, so they have the same members and headers wherever they come from. */

const gateway = served();
/** A key that may read quotes and write requests. */
const limited = late(async () =>
  makeKey(gateway, await makeOrganisation(gateway), { scopes: ['quotes:read', 'requests:write'] }),
);

describe('the Problem schema matches the answer to', () => {
  const ajv = createAjv().addSchema(document, 'openapi');
  const check = checkWith(requireSchema(ajv, 'openapi#/components/schemas/Problem'));

  test.each([
    ['an unknown REST route', '/api/v1/nothing', {}],
    ['an unknown page', '/nothing', {}],
    ['a method that a page does not allow', '/errors', { method: 'POST' }],
    ['an unknown settings path', '/settings/nothing', {}],
    ['headers that are too large', '/livez', { headers: { large: 'x'.repeat(20_000) } }],
    ['an invalid Transfer-Encoding', '/livez', { method: 'POST', headers: { 'transfer-encoding': 'none' } }],
  ])('%s', async (_title, path, init) => {
    const { status, headers, text } = await raw(gateway.url, path, init);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(headers['content-type']).toBe('application/problem+json');
    expect(check(JSON.parse(text))).toEqual({ faults: [], more: 0, isTruncated: false });
    expect(JSON.parse(text)).toMatchObject({ status, request_id: headers['x-request-id'] });
  });
});

const QUOTE = '/api/v1/quotes/0c8b4d6a-6f1e-4b63-8d1c-3f6c9f3f6c55';
const MESSAGES = '/api/v1/requests/0c8b4d6a-6f1e-4b63-8d1c-3f6c9f3f6c55/messages';
const JSON_TYPE = { 'content-type': 'application/json' };

test.each<[ErrorCode, string, Omit<RequestInit, 'headers'> & { headers?: Record<string, string> }]>([
  ['invalid_request', '/api/v1/quotes?limit=101', {}],
  ['unauthenticated', QUOTE, { headers: { authorization: 'Bearer <key>' } }],
  ['insufficient_scope', '/api/v1/products/bulk', { method: 'POST' }],
  ['not_found', QUOTE, {}],
  ['method_not_allowed', QUOTE, { method: 'DELETE' }],
  ['not_acceptable', QUOTE, { headers: { accept: 'text/csv' } }],
  ['payload_too_large', MESSAGES, { method: 'POST', headers: JSON_TYPE, body: ' '.repeat(MEBIBYTE + 1) }],
  ['unsupported_media_type', MESSAGES, { method: 'POST', body: 'text' }],
  ['validation_failed', MESSAGES, { method: 'POST', headers: JSON_TYPE, body: '{}' }],
])('the example of %s is what the API answers', async (code, path, { headers, ...init }) => {
  const response = await fetch(gateway.url + path, {
    headers: { authorization: `Bearer ${limited.key}`, ...headers },
    ...init,
  });
  const { detail, members } = exampleOf(code);
  expect(await response.json()).toMatchObject({ code, detail, ...members });
});

describe('in GraphQL', () => {
  const ID = '0c8b4d6a-6f1e-4b63-8d1c-3f6c9f3f6c55';
  const query = (text: string) => ({ body: JSON.stringify({ query: text }) });
  /** An answer as the examples have it: without places in the query, and its request id is another each time. */
  const shown = (text: string): unknown =>
    JSON.parse(text, (name, value: unknown) => {
      if (name === 'request_id') return '…';
      return name === 'locations' ? undefined : value;
    });

  test.each<[ErrorCode, Omit<RequestInit, 'headers'> & { headers?: Record<string, string> }]>([
    ['invalid_request', query('{ quotes(limit: 101) { has_more } }')],
    ['unauthenticated', { ...query('{ me { key { id } } }'), headers: { authorization: 'Bearer <key>' } }],
    ['insufficient_scope', query('mutation { upsert_products(products: []) { created } }')],
    ['not_found', query(`{ quote(id: "${ID}") { id } }`)],
    ['method_not_allowed', { method: 'DELETE' }],
    ['not_acceptable', { ...query('{ me { key { id } } }'), headers: { accept: 'text/csv' } }],
    ['payload_too_large', { body: ' '.repeat(6 * MEBIBYTE) }],
    ['unsupported_media_type', { body: 'text', headers: { 'content-type': 'text/plain' } }],
    ['validation_failed', query(`mutation { add_request_message(id: "${ID}", text: "") { id } }`)],
  ])('the example of %s is what the API answers', async (code, { headers, ...init }) => {
    const response = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { ...JSON_TYPE, authorization: `Bearer ${limited.key}`, ...headers },
      ...init,
    });
    expect(shown(await response.text())).toEqual(graphqlExampleOf(code));
  });

  test('the examples of forbidden are what keys get in GraphQL and over MCP, and people in the settings', async () => {
    const organisation = await makeOrganisation(gateway);
    const { key } = await makeKey(gateway, organisation, { mcp: 'read' });
    const call = async (path: string, body: object, headers = {}): Promise<unknown> => {
      const init = { method: 'POST', headers: { ...JSON_TYPE, authorization: `Bearer ${key}`, ...headers } };
      return shown(await (await fetch(gateway.url + path, { ...init, body: JSON.stringify(body) })).text());
    };
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    const opened = { name: 'open_request', arguments: { text: 'x' } };
    const answers = [
      await call('/graphql', { query: '{ keys { data { id } } }' }),
      await call('/mcp', list, { origin: 'https://app.example.com' }),
      await call('/mcp', { ...list, method: 'tools/call', params: opened }),
    ];
    const member = await signIn(gateway, organisation, 'member');
    const form = { csrf: 'of another session' };
    const headers = { accept: 'application/json', cookie: member.cookie };
    for (const text of ['mutation { create_key(name: "k", scopes: []) { key } }', '{ quotes { has_more } }'])
      answers.push(shown(JSON.stringify((await member.graphql(text)).body)));
    answers.push(shown(await (await sendForm(gateway, '/settings/sign-out', form, headers)).text()));
    const examples = CAUSES.forbidden!.map(({ example }) => example.body);
    // the text of a tool's result has the request id, too
    const got = answers.map((answer) => JSON.parse(JSON.stringify(answer).replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, '…')));
    // that a key for some customers may not use a type is a test of restricted types
    const provoked = examples.filter((body) => !JSON.stringify(body).includes('customer_ids'));
    expect(got).toEqual(expect.arrayContaining(provoked));
    expect(got).toHaveLength(provoked.length);
  });
});
