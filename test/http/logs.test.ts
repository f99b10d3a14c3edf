import { DEFAULT_KEY_PREFIX, generateKey } from '../../src/auth/keys';
import { ALL_SCOPES } from '../../src/auth/scopes';
import type { Organisation } from '../../src/auth/principal';
import { type Client, client } from '../support/client';
import { makeKey, makeOrganisation } from '../support/factories';
import { startGateway, type TestGateway } from '../support/gateway';
import { eventually } from './eventually';
import { raw, type RawRequest } from './raw';

let gateway: TestGateway;
let organisation: Organisation;
let key: { id: string; key: string };
let caller: Client;

beforeAll(async () => {
  gateway = await startGateway({ LOG_LEVEL: 'trace' });
  organisation = await makeOrganisation(gateway);
  key = await makeKey(gateway, organisation, { scopes: ALL_SCOPES });
  caller = client(gateway, key.key);
});
afterAll(() => gateway.stop());

/** The access log lines of a request, once there is one. */
async function linesOf(requestId: string): Promise<Record<string, unknown>[]> {
  const found = () => gateway.logs.filter((line) => line.request_id === requestId && line.method !== undefined);
  await eventually(() => found().length > 0);
  return found();
}

describe('a request has one log line with', () => {
  const QUERY = '{ a: me { key { id } } products { has_more } }';
  test.each<[string, () => Promise<{ headers: Headers }>, Record<string, unknown>]>([
    [
      'its operation and status',
      () => caller.get('/products', { limit: 1 }),
      { method: 'GET', path: '/api/v1/products', operation: 'products', status: 200 },
    ],
    [
      'its error code',
      () => caller.post('/requests', {}),
      { method: 'POST', path: '/api/v1/requests', operation: 'open_request', status: 422, code: 'validation_failed' },
    ],
    [
      'the root fields of a GraphQL request',
      () => caller.graphql(QUERY),
      { method: 'POST', path: '/graphql', operation: 'me products', status: 200 },
    ],
    [
      'the error code of a rejected GraphQL request',
      () => caller.graphql('{ nothing }'),
      { method: 'POST', path: '/graphql', status: 400, code: 'invalid_request' },
    ],
    [
      'the error code of a failed field',
      () => caller.graphql('{ products(limit: 0) { has_more } }'),
      { method: 'POST', path: '/graphql', operation: 'products', status: 200, code: 'invalid_request' },
    ],
  ])('%s', async (_title, send, expected) => {
    const { headers } = await send();
    const lines = await linesOf(headers.get('x-request-id')!);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      ...expected,
      key_id: key.id,
      organisation_id: organisation.id,
      address: '127.0.0.1',
      ms: expect.any(Number),
    });
  });

  test('no key id without a key', async () => {
    const { headers } = await client(gateway).get('/me');
    const [line] = await linesOf(headers.get('x-request-id')!);
    expect(line).toMatchObject({ status: 401, code: 'unauthenticated' });
    expect(line).not.toHaveProperty('key_id');
  });

  test('499 if the caller disconnects before the answer', async () => {
    const control = new AbortController();
    const id = 'went-away';
    const [stall, release] = deferred();
    const find = jest.spyOn(gateway.control.apiKeys, 'find').mockImplementation(async () => {
      control.abort();
      await stall;
      return null;
    });
    const headers = { authorization: `Bearer ${key.key}`, 'x-request-id': id };
    await expect(fetch(`${gateway.url}/api/v1/me`, { headers, signal: control.signal })).rejects.toThrow('aborted');
    const [line] = await linesOf(id);
    release();
    find.mockRestore();
    expect(line).toMatchObject({ status: 499 });
  });
});

describe('the log line of a 401', () => {
  const typo = (text: string): string => `${text.slice(0, -1)}${text.endsWith('0') ? '1' : '0'}`;
  test.each<[string, () => Promise<{ authorization?: string; key_id?: string }>]>([
    ['missing', () => Promise.resolve({})],
    ['malformed', () => Promise.resolve({ authorization: 'Bearer let-me-in' })],
    ['checksum', () => Promise.resolve({ authorization: `Bearer ${typo(key.key)}` })],
    [
      'unknown',
      () => {
        const { key: text, id } = generateKey(DEFAULT_KEY_PREFIX, '');
        return Promise.resolve({ authorization: `Bearer ${text}`, key_id: id });
      },
    ],
    [
      'wrong_secret',
      async () => {
        const made = await makeKey(gateway, organisation);
        const { hash } = generateKey(DEFAULT_KEY_PREFIX, '');
        await gateway.databases.control
          .collection<{ _id: string }>('api_keys')
          .updateOne({ _id: made.id }, { $set: { hash } });
        return { authorization: `Bearer ${made.key}`, key_id: made.id };
      },
    ],
    [
      'expired',
      async () => {
        const made = await makeKey(gateway, organisation, { expiresAt: new Date(Date.now() - 1000) });
        return { authorization: `Bearer ${made.key}`, key_id: made.id };
      },
    ],
    [
      'revoked',
      async () => {
        const made = await makeKey(gateway, organisation);
        await gateway.control.apiKeys.revoke(made.id);
        return { authorization: `Bearer ${made.key}`, key_id: made.id };
      },
    ],
    [
      'address',
      async () => {
        const input = {
          organisationId: organisation.id,
          name: 'x',
          scopes: ALL_SCOPES,
          createdBy: 'x',
          expiresAt: null,
        };
        const made = await gateway.control.apiKeys.create({ ...input, allowedRanges: ['192.0.2.0/24'] });
        return { authorization: `Bearer ${made!.key}`, key_id: made!.document._id };
      },
    ],
  ])('gives the reason and the key: %s', async (reason, prepare) => {
    const { authorization, key_id } = await prepare();
    for (const path of ['/api/v1/me', '/graphql?query={me{key{id}}}']) {
      const headers = { ...(authorization !== undefined && { authorization }), 'apollo-require-preflight': '1' };
      const answer = await raw(gateway.url, path, { headers });
      const [line] = await linesOf(String(answer.headers['x-request-id']));
      expect(line).toMatchObject({ status: 401, code: 'unauthenticated', reason });
      expect(line!.key_id).toBe(key_id);
      expect(answer.text + JSON.stringify(answer.headers)).not.toContain(reason === 'missing' ? 'reason' : reason);
      const token = authorization?.replace('Bearer ', '');
      if (token !== undefined) expect(JSON.stringify(gateway.logs)).not.toContain(token.slice(-49));
    }
  });
});

test.each(['/livez', '/readyz', '/metrics'])('%s is logged at debug', async (path) => {
  const answer = await raw(gateway.url, path, {});
  const [line] = await linesOf(String(answer.headers['x-request-id']));
  expect(line).toMatchObject({ level: 20, path, status: 200 });
});

function deferred(): [Promise<void>, () => void] {
  let release: () => void = () => undefined;
  const promise = new Promise<void>((resolve) => (release = resolve));
  return [promise, release];
}

describe('a key is never logged', () => {
  const json = { 'content-type': 'application/json' };
  const post = (path: string, body: unknown): [string, RawRequest] => [
    path,
    { method: 'POST', headers: json, body: typeof body === 'string' ? body : JSON.stringify(body) },
  ];
  /** Requests with a key in places where it does not belong. */
  const CASES: readonly (readonly [string, (text: string) => [string, RawRequest]])[] = [
    ['the path', (text) => [`/api/v1/quotes/${text}`, {}]],
    ['an unknown path', (text) => [`/api/v1/${text}/x`, {}]],
    ['the path of a page', (text) => [`/${text}`, {}]],
    ['an encoded path', (text) => [`/api/v1/quotes/${text.replaceAll('_', '%5F')}`, {}]],
    ['a path with its secret encoded', (text) => [`/api/v1/quotes/${encodeEvery(text)}`, {}]],
    ['the query', (text) => [`/api/v1/products?q=${text}`, {}]],
    ['a parameter name', (text) => [`/api/v1/products?${text}=1`, {}]],
    ['X-Request-Id', (text) => ['/api/v1/me', { headers: { 'x-request-id': text } }]],
    ['X-Forwarded-For', (text) => ['/api/v1/me', { headers: { 'x-forwarded-for': text } }]],
    ['another scheme', (text) => ['/api/v1/me', { headers: { authorization: `Token ${text}` } }]],
    ['a body', (text) => post('/api/v1/requests', { text })],
    ['a member name', (text) => post('/api/v1/requests', { text: 'Hello', [text]: 1 })],
    ['malformed JSON', (text) => post('/api/v1/requests', `{"text": ${text}`)],
    ['GraphQL text', (text) => post('/graphql', { query: `{ ${text} }` })],
    ['a GraphQL literal', (text) => post('/graphql', { query: `{ quote(id: "${text}") { id } }` })],
    ['a GraphQL alias', (text) => post('/graphql', { query: `{ ${text}: me { key { id } } }` })],
    [
      'an operation name',
      (text) => post('/graphql', { query: `query ${text} { me { key { id } } }`, operationName: text }),
    ],
    ['an unknown operation name', (text) => post('/graphql', { query: '{ __typename }', operationName: text })],
    ['GraphQL variables', (text) => post('/graphql', { query: SEARCH, variables: { q: text } })],
    ['ill-typed GraphQL variables', (text) => post('/graphql', { query: SEARCH, variables: { q: { [text]: text } } })],
    [
      'a GraphQL query string',
      (text) => [`/graphql?query={${text}}`, { headers: { 'apollo-require-preflight': '1' } }],
    ],
  ];
  const SEARCH = 'query($q: String) { products(q: $q) { has_more } }';

  test.each(CASES)('in %s', async (_title, requestWith) => {
    const [path, request] = requestWith(key.key);
    gateway.logs.length = 0;
    const headers = { authorization: `Bearer ${key.key}`, ...request.headers };
    const answer = await raw(gateway.url, path, { ...request, headers });
    await linesOf(String(answer.headers['x-request-id']));
    expect(decodeURIComponent(JSON.stringify(gateway.logs))).not.toContain(secretOf(key.key));
  });

  test('in an error message that contains it', async () => {
    const find = jest.spyOn(gateway.control.apiKeys, 'find').mockRejectedValue(new Error(`no such key: ${key.key}`));
    const { headers } = await raw(gateway.url, '/api/v1/me', { headers: { authorization: `Bearer ${key.key}` } });
    await linesOf(String(headers['x-request-id']));
    find.mockRestore();
    expect(JSON.stringify(gateway.logs)).toContain('no such key: [key]');
    expect(JSON.stringify(gateway.logs)).not.toContain(secretOf(key.key));
  });

  function secretOf(text: string): string {
    return text.slice(text.lastIndexOf('_') + 1);
  }

  function encodeEvery(text: string): string {
    return text.replaceAll(/./g, (character) => `%${character.charCodeAt(0).toString(16)}`);
  }
});
