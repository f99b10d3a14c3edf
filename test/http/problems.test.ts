import type { Organisation } from '../../src/access/principal';
import { openApiDocument } from '../../src/published';
import { checkWith, createAjv, requireSchema } from '../../src/schema/validation';
import { makeKey, makeOrganisation } from '../support/factories';
import { startGateway, type TestGateway } from '../support/gateway';
import { signIn } from '../settings/people';
import { raw } from './raw';

/* A problem is written in one place: whoever answers it, it has the same members and headers. */

const LIMIT = 2;
const AWAY = { OIDC_ISSUER: 'http://127.0.0.1:9', OIDC_CLIENT_ID: 'x', OIDC_CLIENT_SECRET: 'x' };

let gateway: TestGateway;
let organisation: Organisation;

beforeAll(async () => {
  gateway = await startGateway({
    ...AWAY,
    PUBLIC_URL: 'http://127.0.0.1',
    RATE_LIMIT_PER_MINUTE: String(LIMIT),
    TRUST_PROXY: '1',
  });
  organisation = await makeOrganisation(gateway);
});
afterAll(() => gateway.stop());

let addresses = 0;
/** Headers of a caller whose address no other test has. */
function fromElsewhere(): Record<string, string> {
  addresses += 1;
  return { 'x-forwarded-for': `203.0.113.${String(addresses)}` };
}

async function untilRefused(send: () => Promise<Response>): Promise<Response> {
  for (let at = 0; at < LIMIT; at += 1) expect((await send()).status).not.toBe(429);
  return send();
}

async function ofKey(path: string, init: RequestInit = {}): Promise<() => Promise<Response>> {
  const { key } = await makeKey(gateway, organisation);
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...fromElsewhere() };
  return () => fetch(gateway.url + path, { ...init, headers });
}

const query = (text: string): RequestInit => ({ method: 'POST', body: JSON.stringify({ query: text }) });

/** Every way to a 429 or 503 that needs no broken database. */
const WAYS: Record<string, () => Promise<Response>> = {
  'a key on REST': async () => untilRefused(await ofKey('/api/v1/me')),
  'a key on GraphQL': async () => untilRefused(await ofKey('/graphql', query('{ me { key { id } } }'))),
  'one query that costs more than is left': async () =>
    (await ofKey('/graphql', query('{ a: me { key { id } } b: me { key { id } } c: me { key { id } } }')))(),
  'failed authentication on REST': () => {
    const headers = fromElsewhere();
    return untilRefused(() => fetch(`${gateway.url}/api/v1/me`, { headers }));
  },
  'failed authentication on GraphQL': () => {
    const headers = { 'content-type': 'application/json', ...fromElsewhere() };
    return untilRefused(() => fetch(`${gateway.url}/graphql`, { ...query('{ me { key { id } } }'), headers }));
  },
  'links that let no one in, on a page': () => signInOften('text/html'),
  'links that let no one in, for a program': () => signInOften('application/json'),
  'a signed-in user': async () => {
    const user = await signIn(gateway, organisation);
    const headers = { 'content-type': 'application/json', cookie: user.cookie, 'x-csrf-token': user.csrf };
    return untilRefused(() =>
      fetch(`${gateway.url}/settings/graphql`, { ...query('{ api_keys { has_more } }'), headers }),
    );
  },
  'an identity provider that is away': () => fetch(`${gateway.url}/settings/sign-in/oidc`, { redirect: 'manual' }),
};

function signInOften(accept: string): Promise<Response> {
  const headers = { accept, 'content-type': 'application/x-www-form-urlencoded', ...fromElsewhere() };
  return untilRefused(() => fetch(`${gateway.url}/settings/sign-in`, { method: 'POST', headers, body: 'link=none' }));
}

test.each(Object.keys(WAYS))('who has to wait is told how long: %s', async (way) => {
  const { status, headers } = await WAYS[way]!();
  expect([429, 503]).toContain(status);
  expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
});

describe('one schema holds for the problem of', () => {
  const ajv = createAjv().addSchema(openApiDocument(), 'openapi');
  const check = checkWith(requireSchema(ajv, 'openapi#/components/schemas/Problem'));

  test.each([
    ['a REST route', '/api/v1/nothing', {}],
    ['a page', '/nothing', {}],
    ['a method that a page does not take', '/errors', { method: 'POST' }],
    ['settings', '/settings/nothing', {}],
    ['a head that is too large', '/livez', { headers: { large: 'x'.repeat(20_000) } }],
    ['a method that HTTP does not have', '/livez', { method: 'POST', headers: { 'transfer-encoding': 'none' } }],
  ])('%s', async (_title, path, init) => {
    const { status, headers, text } = await raw(gateway.url, path, init);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(headers['content-type']).toBe('application/problem+json');
    expect(check(JSON.parse(text))).toEqual({ faults: [], more: 0 });
    expect(JSON.parse(text)).toMatchObject({ status, request_id: headers['x-request-id'] });
  });
});
