import { randomUUID } from 'node:crypto';
import { raw, type RawAnswer } from '../http/raw';
import type { Json } from '../../support/client';
import { makeKey, makeOrganisation } from '../../support/factories';
import { served } from '../../support/gateway';

const ME = '{ me { key { id } } }';
const OPEN = 'mutation { open_request(text: "By GET") { id } }';
const JSON_TYPE = { 'content-type': 'application/json' };
const PREFLIGHTED = { 'apollo-require-preflight': 'true' };

const gateway = served();
/** Anyone may introspect its schema. */
const open = served({ INTROSPECTION: 'public' });
let authorization: string;

beforeAll(async () => {
  authorization = `Bearer ${(await makeKey(gateway, await makeOrganisation(gateway))).key}`;
});

function post(body: unknown, headers: Record<string, string> = JSON_TYPE): Promise<RawAnswer> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return raw(gateway.url, '/graphql', { method: 'POST', headers: { authorization, ...headers }, body: text });
}

function get(query: string, headers: Record<string, string> = PREFLIGHTED): Promise<RawAnswer> {
  const search = new URLSearchParams({ query }).toString();
  return raw(gateway.url, `/graphql?${search}`, { headers: { authorization, ...headers } });
}

function firstError({ text }: RawAnswer): Json {
  return JSON.parse(text).errors[0];
}

test('a member of rows that is selected beside them is found inside `data`', async () => {
  const messages = [];
  for (const member of ['id', 'nothing'])
    messages.push(firstError(await post({ query: `{ orders { ${member} } }` })).message);
  expect(messages).toEqual([
    'Cannot query field "id" on type "OrderPage"; did you mean inside `data`?',
    'Cannot query field "nothing" on type "OrderPage".',
  ]);
});

describe('a malformed request gets 400 invalid_request:', () => {
  test.each<[string, unknown]>([
    ['a batch', [{ query: ME }, { query: ME }]],
    ['null', null],
    ['no query', {}],
    ['an empty query', { query: '' }],
    ['a query that is not a string', { query: { me: true } }],
    ['only a comment', { query: '# nothing' }],
    ['a syntax error', { query: '{ me { key { id } }' }],
    ['an unknown field', { query: '{ nothing }' }],
    ['an ill-typed argument', { query: '{ products(limit: "ten") { has_more } }' }],
    ['a missing variable', { query: 'query($id: ID!) { quote(id: $id) { id } }' }],
    [
      'an ill-typed variable',
      { query: 'query($n: Int) { products(limit: $n) { has_more } }', variables: { n: 'ten' } },
    ],
    [
      'an unknown member of a variable',
      {
        query: 'mutation($p: [ProductUpsert!]!) { upsert_products(products: $p) { created } }',
        variables: { p: [{ x: 1 }] },
      },
    ],
    ['variables that are not an object', { query: ME, variables: 'x' }],
    ['extensions that are not an object', { query: ME, extensions: 'x' }],
    ['several operations without a name', { query: `query A ${ME} query B ${ME}` }],
    ['several operations and an unknown name', { query: `query A ${ME} query B ${ME}`, operationName: 'C' }],
    ['a subscription', { query: 'subscription { me { key { id } } }' }],
    ['only a fragment', { query: 'fragment A on Me { key { id } }' }],
  ])('%s', async (_title, body) => {
    const answer = await post(body);
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.text)).not.toHaveProperty('data');
    expect(firstError(answer).extensions).toMatchObject({
      code: 'invalid_request',
      status: 400,
      request_id: answer.headers['x-request-id'],
    });
  });

  test.each(['"2026-02-30"', '"2026-13-01T00:00:00Z"', '"today"', '2026'])(
    'a time that is none, %s, and the error says where it is',
    async (time) => {
      const answer = await post({ query: `{ orders(placed_since: ${time}) { has_more } }` });
      expect([answer.status, firstError(answer).locations]).toEqual([400, [{ line: 1, column: 24 }]]);
      expect(firstError(answer).message).toContain(`found ${time}; must be a valid date-time string (RFC 3339)`);
    },
  );

  test('and the message reveals nothing about the schema', async () => {
    const { text } = await post({ query: '{ me { ky { id } } }' });
    expect(text).not.toMatch(/did you mean|"key"/i);
  });
});

test.each<[string, string, string, (query: string) => Promise<RawAnswer>]>([
  ['on an object', '{ me { __proto__: key { id } key { name } } }', '__proto__', (query) => post({ query })],
  ['in a fragment', '{ me { ...A } } fragment A on Me { key { __id: id } }', '__id', (query) => post({ query })],
  ['of what is reserved itself', '{ __proto__: __typename }', '__proto__', (query) => post({ query })],
  ['by GET', '{ __proto__: me { key { id } } }', '__proto__', (query) => get(query)],
])(
  'an alias that begins with two underscores is rejected by its name, however often it is sent, %s',
  async (_title, query, alias, ask) => {
    // an operation that ran a few times is compiled, and then lost the member
    for (let time = 0; time < 4; time += 1) {
      const answer = await ask(query);
      expect(answer.status).toBe(400);
      expect(JSON.parse(answer.text)).not.toHaveProperty('data');
      expect(firstError(answer)).toMatchObject({
        message: `The alias "${alias}" must not begin with "__", which is reserved for introspection.`,
        extensions: { code: 'invalid_request', status: 400 },
      });
    }
  },
);

test('aliases with underscores elsewhere, and the reserved fields by their own names, are answered', async () => {
  const { text } = await post({ query: '{ _me: me { k__: key { __typename } } __typename }' });
  expect(JSON.parse(text)).toEqual({ data: { _me: { k__: { __typename: 'MeKey' } }, __typename: 'Query' } });
});

describe('by GET', () => {
  test('a query is answered if it required a CORS preflight', async () => {
    expect((await get(ME)).status).toBe(200);
    expect((await get(ME, { ...JSON_TYPE, accept: 'application/json' })).status).toBe(200);
  });

  test('a query with a key is answered, since no page of another site can send that', async () => {
    expect((await get(ME, {})).status).toBe(200);
  });

  test('a query that any page could send without a preflight is rejected', async () => {
    const search = new URLSearchParams({ query: '{ __typename }' }).toString();
    const answer = await raw(open.url, `/graphql?${search}`, {});
    expect(answer.status).toBe(400);
    expect(firstError(answer).extensions).toMatchObject({ code: 'invalid_request', status: 400 });
  });

  test('a mutation gets 405 and does nothing', async () => {
    const answer = await get(OPEN);
    expect(answer.status).toBe(405);
    expect(answer.headers.allow).toContain('POST');
    expect(firstError(answer).extensions).toMatchObject({ code: 'method_not_allowed', status: 405 });
    const { text } = await post({ query: '{ requests { data { id } } }' });
    expect(JSON.parse(text).data.requests.data).toEqual([]);
  });

  test('a malformed or missing query gets 400', async () => {
    expect((await get('{')).status).toBe(400);
    expect((await raw(gateway.url, '/graphql', { headers: { authorization, ...PREFLIGHTED } })).status).toBe(400);
  });
});

test('an empty operation name is none, by POST and GET', async () => {
  const search = new URLSearchParams({ operationName: '', query: `query A ${ME}` }).toString();
  expect((await raw(gateway.url, `/graphql?${search}`, { headers: { authorization } })).status).toBe(200);
  expect((await post({ query: `query A ${ME}`, operationName: '' })).status).toBe(200);
  expect((await post({ query: `query A ${ME} query B ${ME}`, operationName: '' })).status).toBe(400);
});

test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])(
  'a cross-site form sent as %s gets 415 and does nothing',
  async (type) => {
    const answer = await post({ query: OPEN }, { 'content-type': type });
    expect(answer.status).toBe(415);
    const { text } = await post({ query: '{ requests { data { id } } }' });
    expect(JSON.parse(text).data.requests.data).toEqual([]);
  },
);

describe('an error of a resolver', () => {
  const FIELDS = ['code', 'request_id', 'status'];

  test('is in a 200 with its code, status, request id, path and location, and nothing else', async () => {
    const { status, text, headers } = await post({ query: `{ quote(id: "${randomUUID()}") { id } ${ME.slice(2)}` });
    expect(status).toBe(200);
    const { data, errors } = JSON.parse(text);
    expect(data).toEqual({ quote: null, me: { key: { id: expect.any(String) } } });
    expect(errors).toEqual([
      {
        message: 'There is no such quote.',
        locations: [{ line: 1, column: 3 }],
        path: ['quote'],
        extensions: { code: 'not_found', status: 404, request_id: headers['x-request-id'] },
      },
    ]);
  });

  test('lists every invalid argument', async () => {
    const answer = await post({ query: '{ products(limit: 0, sort: "price") { has_more } }' });
    const { extensions } = firstError(answer);
    expect(Object.keys(extensions as object).sort()).toEqual([...FIELDS, 'errors'].sort());
    expect(extensions.errors.map(({ parameter, code }: Json) => [parameter, code]).sort()).toEqual([
      ['limit', 'range'],
      ['sort', 'not_allowed'],
    ]);
  });

  test('has its path when there are several', async () => {
    const id = randomUUID();
    const { text } = await post({ query: `{ a: quote(id: "${id}") { id } b: order(id: "${id}") { id } }` });
    const errors = JSON.parse(text).errors as Json[];
    expect(errors.map(({ path, message }) => [path, message]).sort()).toEqual([
      [['a'], 'There is no such quote.'],
      [['b'], 'There is no such order.'],
    ]);
    for (const { extensions } of errors) expect(Object.keys(extensions as object).sort()).toEqual(FIELDS);
  });
});

describe('the media type of an answer', () => {
  test.each([
    ['application/json', 'application/json; charset=utf-8'],
    ['*/*', 'application/json; charset=utf-8'],
    ['application/json; charset=utf8', 'application/json; charset=utf-8'],
    ['application/graphql-response+json; profile=x', 'application/graphql-response+json; charset=utf-8'],
    ['application/graphql-response+json', 'application/graphql-response+json; charset=utf-8'],
    ['application/graphql-response+json, application/json;q=0.9', 'application/graphql-response+json; charset=utf-8'],
  ])('for Accept %s is %s', async (accept, type) => {
    expect((await post({ query: ME }, { ...JSON_TYPE, accept })).headers['content-type']).toBe(type);
  });

  test('for any other Accept gets 406', async () => {
    const answer = await post({ query: ME }, { ...JSON_TYPE, accept: 'text/csv' });
    expect(answer.status).toBe(406);
    expect(firstError(answer).extensions).toMatchObject({ code: 'not_acceptable', status: 406 });
  });
});

test('a GET with a Content-Type gets 415, in its status and its body', async () => {
  const headers = { authorization, 'content-type': 'text/plain' };
  const answer = await raw(gateway.url, '/graphql?query=%7Bme%7Bmode%7D%7D', { headers });
  expect(answer.status).toBe(415);
  expect(firstError(answer).extensions).toMatchObject({ code: 'unsupported_media_type', status: 415 });
});

describe('Cache-Control is no-store for answers', () => {
  const json = (body: unknown): Record<string, unknown> => ({
    method: 'POST',
    headers: JSON_TYPE,
    body: JSON.stringify(body),
  });
  test.each<[string, string, Record<string, unknown>, number]>([
    ['with data', '/graphql', json({ query: ME }), 200],
    ['with a resolver error', '/graphql', json({ query: '{ quote(id: "x") { id } }' }), 200],
    ['to a malformed query', '/graphql', json({ query: '{' }), 400],
    [
      'to a persisted query',
      '/graphql',
      json({ extensions: { persistedQuery: { version: 1, sha256Hash: 'x' } } }),
      200,
    ],
    ['to a GET request', '/graphql?query=%7Bme%7Bkey%7Bid%7D%7D%7D', { headers: PREFLIGHTED }, 200],
    ['to a mutation by GET', '/graphql?query=mutation%7B__typename%7D', { headers: PREFLIGHTED }, 405],
    ['to another method', '/graphql', { method: 'PUT' }, 405],
    [
      'to another media type',
      '/graphql',
      { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'x' },
      415,
    ],
    ['to a body that is not JSON', '/graphql', { method: 'POST', headers: JSON_TYPE, body: '{' }, 400],
    [
      'to another key',
      '/graphql',
      { ...json({ query: ME }), headers: { ...JSON_TYPE, authorization: 'Bearer x' } },
      401,
    ],
    ['of the settings page without a session', '/settings/graphql', json({ query: ME }), 401],
    ['of the settings page to GET', '/settings/graphql', {}, 405],
  ])('%s', async (_title, path, { headers, ...options }, status) => {
    const answer = await raw(gateway.url, path, { ...options, headers: { authorization, ...(headers as object) } });
    expect(answer.status).toBe(status);
    expect(answer.headers['cache-control']).toBe('no-store');
  });
});
