import { client } from '../../support/client';
import { makeKey, makeOrganisation } from '../../support/factories';
import { withGateway } from '../../support/gateway';
import { signIn, useOffice } from './people';

const { gateway, organisation, admin, member } = useOffice();

describe('forged requests', () => {
  const LIST = '{ keys { data { id } } }';

  test.each([
    ['without a CSRF token', { 'x-csrf-token': '' }],
    ['with another CSRF token', { 'x-csrf-token': 'x'.repeat(43) }],
    ['from the page of another site', { origin: 'https://evil.example' }],
    ['from a page with an opaque origin', { origin: 'null' }],
    ['marked cross-site by the browser', { 'sec-fetch-site': 'cross-site' }],
    ['marked same-site by the browser', { 'sec-fetch-site': 'same-site' }],
  ])('%s are rejected, including reads', async (_title, headers) => {
    const { status, body } = await admin.graphql(LIST, {}, headers);
    expect(status).toBe(403);
    expect(body).toMatchObject({ errors: [{ extensions: { code: 'forbidden', request_id: expect.any(String) } }] });
  });

  test("with another session's CSRF token are rejected", async () => {
    expect((await admin.graphql(LIST, {}, { 'x-csrf-token': member.csrf })).status).toBe(403);
  });

  test('as forms or text are rejected', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
      expect((await admin.graphql(LIST, {}, { 'content-type': type })).status).toBe(415);
    }
  });

  test('from our own page are accepted, and answers are not cached', async () => {
    for (const headers of [{}, { origin: gateway.url, 'sec-fetch-site': 'same-origin' }]) {
      const answer = await admin.graphql(LIST, {}, headers);
      expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
    }
  });

  test('no other origin may read an answer', async () => {
    await withGateway({ CORS_ORIGINS: '*' }, async (open) => {
      const response = await fetch(`${open.url}/settings/graphql`, {
        method: 'OPTIONS',
        headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
      });
      expect(response.headers.get('access-control-allow-origin')).toBeNull();
    });
  });
});

describe('the API', () => {
  test('ignores the cookie of a signed-in admin', async () => {
    const headers = { cookie: admin.cookie, 'x-csrf-token': admin.csrf };
    const rest = await client(gateway).get('/me', {}, headers);
    const graphql = await client(gateway).graphql('{ keys { data { id } } }', {}, headers);
    expect([rest.status, graphql.status]).toEqual([401, 401]);
  });

  test('uses the key and ignores a cookie sent with it, and settings answer a key with 401', async () => {
    const { key } = await makeKey(gateway, organisation, { scopes: ['quotes:read'] });
    const query = '{ keys { data { id } } }';
    const headers = { cookie: admin.cookie, 'x-csrf-token': admin.csrf };
    const { body } = await client(gateway, key).graphql(query, {}, headers);
    expect(body.errors).toMatchObject([{ extensions: { code: 'forbidden' } }]);
    const response = await fetch(`${gateway.url}/settings/graphql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    });
    expect(response.status).toBe(401);
  });
});

test('users have their own rate limit, and get 429 beyond it', async () => {
  // the page with its first rows takes one point
  await withGateway({ RATE_LIMIT_PER_MINUTE: '4' }, async (tight) => {
    const own = await makeOrganisation(tight);
    const there = await signIn(tight, own);
    const statuses: number[] = [];
    for (let count = 0; count < 4; count += 1) statuses.push((await there.graphql('{ keys { has_more } }')).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
  });
});

test("a hostile document of a member is rejected like a key's", async () => {
  const doubled = Array.from({ length: 60 }, (_, at) => {
    const next = `...F${String(at + 1)}`;
    return `fragment F${String(at)} on ApiKeyPage { ${next} ${next} }`;
  });
  const query = `{ keys { ...F0 } } ${doubled.join(' ')} fragment F60 on ApiKeyPage { has_more }`;
  const { status, body } = await member.graphql(query);
  expect([status, body.errors[0].extensions.code]).toEqual([400, 'invalid_request']);
});
