import { client, type Json } from '../../support/client';
import { callerOf, makeKey, makeOrganisation } from '../../support/factories';
import { served, startGateway, withGateway } from '../../support/gateway';
import { signIn } from '../settings/people';
import { operator, SECRET, TOKENS } from './operator';

const NEXT = 'the-next-secret-of-billing-thirty-two-long-or-more';
const OTHER = 'support-secret-of-thirty-two-characters-or-longer';
const gateway = served({ OPERATOR_TOKENS: `billing=${SECRET} billing=${NEXT};support=${OTHER}` });
const QUERY = '{ organisations(limit: 1) { has_more } }';

test('every token works, even two with one name, and is in the audit log by its name', async () => {
  const names = [];
  for (const secret of [SECRET, NEXT, OTHER]) {
    const { status, body } = await operator(gateway, secret).post('/organisations', { name: 'By token' });
    expect(status).toBe(201);
    const [event] = await gateway.control.audit.list({ organisationId: body.id, limit: 5 });
    names.push(event!.actor.who);
  }
  expect(names).toEqual(['operator:billing', 'operator:billing', 'operator:support']);
});

test.each([
  ['no credentials', undefined],
  ['an empty token', 'Bearer '],
  ['a part of a token', `Bearer ${SECRET.slice(0, -1)}`],
  ['a token and more', `Bearer ${SECRET}x`],
  ['a token with its name', `Bearer billing=${SECRET}`],
  ['two tokens', `Bearer ${SECRET} ${OTHER}`],
  ['another case', `Bearer ${SECRET.toUpperCase()}`],
  ['another scheme', `Basic ${Buffer.from(`billing:${SECRET}`).toString('base64')}`],
  ['a long text', `Bearer ${'x'.repeat(8000)}`],
])('%s gets 401, the same for all, on REST and GraphQL', async (_name, authorization) => {
  const headers = { 'content-type': 'application/json', ...(authorization !== undefined && { authorization }) };
  const rest = await fetch(`${gateway.url}/operator/v1/organisations`, { headers });
  const graphql = await fetch(`${gateway.url}/operator/graphql`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ query: QUERY }),
  });
  expect([rest.status, graphql.status]).toEqual([401, 401]);
  expect(rest.headers.get('www-authenticate')).toBe('Bearer');
  expect(await rest.json()).toMatchObject({
    code: 'unauthenticated',
    detail: 'A valid operator token is required: Authorization: Bearer <secret>.',
  });
});

test('a key and a session get 401 from the operator API', async () => {
  const organisation = await makeOrganisation(gateway);
  const { key } = await makeKey(gateway, organisation);
  expect((await operator(gateway, key).get('/organisations')).status).toBe(401);
  expect((await operator(gateway, key).graphql(QUERY)).status).toBe(401);
  const { cookie } = await signIn(gateway, organisation);
  const rest = await fetch(`${gateway.url}/operator/v1/organisations`, { headers: { cookie } });
  const graphql = await fetch(`${gateway.url}/operator/graphql`, {
    method: 'POST',
    headers: { cookie, 'content-type': 'application/json' },
    body: JSON.stringify({ query: QUERY }),
  });
  expect([rest.status, graphql.status]).toEqual([401, 401]);
});

test('a token gets 401 from the APIs of keys and users', async () => {
  const caller = client(gateway, SECRET);
  expect((await caller.get('/quotes')).status).toBe(401);
  expect((await caller.get('/me')).status).toBe(401);
  expect((await caller.graphql('{ me { organisation { id } } }')).status).toBe(401);
  expect((await caller.mcp('tools/list')).status).toBe(401);
  const settings = await fetch(`${gateway.url}/settings/graphql`, {
    method: 'POST',
    body: JSON.stringify({ query: '{ keys { data { id } } }' }),
    headers: { authorization: `Bearer ${SECRET}`, 'content-type': 'application/json' },
  });
  expect(settings.status).toBe(401);
  const page = await fetch(`${gateway.url}/settings/integrations`, {
    headers: { authorization: `Bearer ${SECRET}` },
    redirect: 'manual',
  });
  expect(page.headers.get('location')).toBe('/settings/sign-in');
});

test('the operator schema has no data of organisations, and the schema of keys nothing of operators', async () => {
  const names = async (introspect: (query: string) => Promise<{ body: Json }>): Promise<string[]> => {
    const { body } = await introspect('{ __schema { types { name fields { name } enumValues { name } } } }');
    return body.data.__schema.types.flatMap((type: Json) => [
      type.name,
      ...[...(type.fields ?? []), ...(type.enumValues ?? [])].map(
        ({ name }: { name: string }) => `${String(type.name)}.${name}`,
      ),
    ]);
  };
  const ours = await names((query) => operator(gateway).graphql(query));
  const keyed = await callerOf(gateway);
  const theirs = await names((query) => keyed.graphql(query));
  for (const name of ['Quote', 'Product', 'Customer', 'Query.quotes', 'Query.me', 'Mutation.update_webhook', 'Member'])
    expect([name, ours.includes(name), theirs.includes(name)]).toEqual([name, false, true]);
  for (const name of ['Organisation', 'Job', 'Query.organisations', 'Mutation.create_organisation', 'Role.OPERATOR'])
    expect([name, ours.includes(name), theirs.includes(name)]).toEqual([name, true, false]);
  const served = await (await fetch(`${gateway.url}/api/v1/openapi.json`)).text();
  expect(served).not.toMatch(/operator_token|\/organisations|OrganisationPage/);
});

test('the OpenAPI document is served without a token, with the routes of the API', async () => {
  const response = await fetch(`${gateway.url}/operator/v1/openapi.json`);
  const document: Json = await response.json();
  expect([response.status, document.servers]).toEqual([200, [{ url: '/operator/v1' }]]);
  expect(Object.keys(document.paths)).toContain('/organisations/{id}/keys/{key_id}/rotation');
  expect(JSON.stringify(document)).not.toMatch(/\/quotes|api_key":\{"type":"http/);
  // errors and headers are described for tokens, not keys
  const { responses, headers } = document.components;
  const match = /API key|the key|insufficient_scope|Api-Key/i.exec(JSON.stringify({ responses, headers }));
  expect(match?.[0]).toBeUndefined();
});

test('without tokens there is no operator API', () =>
  withGateway({}, async ({ url }) => {
    for (const path of ['/operator/v1/organisations', '/operator/v1/openapi.json', '/operator/graphql', '/operator']) {
      expect((await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${SECRET}` } })).status).toBe(404);
    }
  }));

test('with ADMIN_PORT the operator API is on that port only', async () => {
  const PUBLIC_URL = 'https://api.example.com';
  const gateway = await startGateway({ ...TOKENS, ADMIN_PORT: '0', PUBLIC_URL, RATE_LIMIT_PER_MINUTE: '1000000' });
  try {
    const path = '/operator/v1/organisations';
    const headers = { authorization: `Bearer ${SECRET}` };
    expect((await fetch(gateway.url + path, { headers })).status).toBe(404);
    expect((await fetch(`${gateway.url}/operator/graphql`, { method: 'POST', headers })).status).toBe(404);
    const admin = { url: gateway.adminUrl! };
    expect((await operator(admin).get('/organisations')).body).toMatchObject({ has_more: expect.any(Boolean) });
    expect((await operator(admin).graphql(QUERY)).body.data.organisations).toEqual({ has_more: expect.any(Boolean) });
    expect((await operator(admin, OTHER).get('/organisations')).status).toBe(401);
    const { status, headers: made } = await operator(admin).post('/organisations', { name: 'At the port' });
    // not below PUBLIC_URL, which is the other port's
    expect([status, made.get('location')]).toEqual([201, expect.stringMatching(/^\/operator\/v1\//)]);
    const document: Json = await (await fetch(`${admin.url}/operator/v1/openapi.json`)).json();
    expect(document.servers).toEqual([{ url: '/operator/v1' }]);
    const unknown: Json = await (await fetch(`${admin.url}/nowhere`)).json();
    expect(unknown.detail).toContain('/operator/v1');
  } finally {
    await gateway.stop();
  }
});

describe('where addresses and rates are limited', () => {
  const LIMIT = 5;
  const limited = served({
    OPERATOR_TOKENS: `billing=${SECRET},support=${OTHER}`,
    OPERATOR_ALLOW: '203.0.113.0/24',
    RATE_LIMIT_PER_MINUTE: String(LIMIT),
    TRUST_PROXY: '1',
  });
  const from = (address: string, secret = SECRET) =>
    operator(limited, secret).call('GET', '/organisations', undefined, { 'x-forwarded-for': address });

  test('an address outside OPERATOR_ALLOW gets the 401 of a wrong token', async () => {
    expect((await from('203.0.113.1')).status).toBe(200);
    const outside = await from('198.51.100.7');
    expect([outside.status, outside.body.detail]).toEqual([
      401,
      'A valid operator token is required: Authorization: Bearer <secret>.',
    ]);
  });

  test('failed tokens are limited by address, which does not affect a valid token', async () => {
    const statuses = [];
    for (let at = 0; at < LIMIT + 2; at += 1) statuses.push((await from('203.0.113.7', NEXT)).status);
    expect(statuses).toEqual([...Array<number>(LIMIT).fill(401), 429, 429]);
    expect((await from('203.0.113.8', NEXT)).status).toBe(401);
    expect((await from('203.0.113.7')).status).toBe(200);
  });

  test('each token has its own rate limit, shown in headers', async () => {
    const all = [];
    for (let at = 0; at <= LIMIT; at += 1) all.push(await from('203.0.113.9', OTHER));
    expect(all.map(({ status }) => status)).toEqual([...Array<number>(LIMIT).fill(200), 429]);
    expect(all.map(({ headers }) => headers.get('x-ratelimit-remaining'))).toEqual(['4', '3', '2', '1', '0', '0']);
    expect(all.at(-1)!.headers.get('retry-after')).toMatch(/^\d+$/);
    expect((await from('203.0.113.9')).status).toBe(200);
    const headers = { 'x-forwarded-for': '203.0.113.9' };
    expect((await operator(limited, OTHER).graphql(QUERY, {}, headers)).status).toBe(429);
  });
});

test('the log names the token and never shows it', async () => {
  await operator(gateway).get('/organisations');
  await operator(gateway, `${SECRET}wrong`).get('/organisations');
  const text = JSON.stringify(gateway.logs);
  expect(text).toContain('"operator":"billing"');
  expect(text).not.toContain(SECRET.slice(0, 20));
});
