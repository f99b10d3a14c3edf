import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { document } from '../../support/openapi';
import { makeKey, makeOrganisation } from '../../support/factories';
import { served } from '../../support/gateway';

const APP = 'https://app.example';
const STUDIO = 'https://studio.apollographql.com';
/** Response headers that scripts can always read, or never need. */
const NEEDLESS = 'Content-Type Content-Length Content-Encoding Cache-Control X-Content-Type-Options Connection'.split(
  ' ',
);
const SOURCE = join(__dirname, '../../../src');
const READABLE = namedHeaders();
/** Headers that clients add: Apollo Client, OpenTelemetry, Axios. */
const SENDABLE = 'apollographql-client-name,authorization,baggage,content-type,traceparent,x-requested-with';

const gateway = served({ CORS_ORIGINS: `${APP}, http://localhost:3000` });
const open = served({ CORS_ORIGINS: '*' });
const closed = served();
let authorization: string;

beforeAll(async () => {
  authorization = `Bearer ${(await makeKey(gateway, await makeOrganisation(gateway))).key}`;
});

type Gateways = 'listed' | 'any' | 'none';

/** Whether a page of an origin may read a path, by the configured origins. */
const CASES: readonly (readonly [Gateways, string, string, boolean])[] = [
  ['listed', APP, '/api/v1/me', true],
  ['listed', APP, '/graphql', true],
  ['listed', 'http://localhost:3000', '/api/v1/me', true],
  ['listed', 'https://evil.example', '/api/v1/me', false],
  ['listed', 'https://evil.example', '/graphql', false],
  ['listed', `${APP}.evil.example`, '/api/v1/me', false],
  ['listed', 'http://app.example', '/api/v1/me', false],
  ['listed', `${APP}:8443`, '/api/v1/me', false],
  ['listed', 'null', '/api/v1/me', false],
  ['listed', STUDIO, '/graphql', true],
  ['listed', STUDIO, '/api/v1/me', false],
  ['listed', STUDIO, '/', false],
  ['any', 'https://anyone.example', '/api/v1/me', true],
  ['any', 'https://anyone.example', '/graphql', true],
  ['none', APP, '/api/v1/me', false],
  ['none', STUDIO, '/graphql', true],
  ['none', STUDIO, '/api/v1/me', false],
];

const urlOf = (which: Gateways): string => ({ listed: gateway, any: open, none: closed })[which].url;

describe('with configured origins, a page may read an answer (true) or not (false):', () => {
  test.each(CASES)('%s: request of %s for %s: %s', async (which, origin, path, isAllowed) => {
    const { headers } = await fetch(urlOf(which) + path, { headers: { origin, authorization } });
    expect(headers.get('access-control-allow-origin')).toBe(isAllowed ? origin : null);
    expect(headers.get('access-control-allow-credentials')).toBeNull();
    if (path !== '/') expect(headers.get('vary')).toContain('Origin');
    const exposed = headers.get('access-control-expose-headers')?.split(', ') ?? [];
    expect(READABLE.every((name) => exposed.includes(name))).toBe(isAllowed);
  });

  test.each(CASES.filter(([, , path]) => path !== '/'))(
    '%s: preflight of %s for %s: %s',
    async (which, origin, path, isAllowed) => {
      const { status, headers } = await preflight(urlOf(which) + path, origin);
      expect(status).toBe(204);
      expect(headers.get('access-control-allow-origin')).toBe(isAllowed ? origin : null);
      expect(headers.get('access-control-allow-methods')).toBe(isAllowed ? 'GET, HEAD, POST, PATCH, DELETE' : null);
      expect(headers.get('access-control-allow-headers')).toBe(isAllowed ? SENDABLE : null);
      expect(headers.get('vary')).toBe('Origin, Access-Control-Request-Headers');
    },
  );
});

test.each([
  ['longer than those of any client', 'x'.repeat(2001)],
  ['not names of headers', 'authorization, "x"'],
])('a preflight whose headers are %s allows none of them', async (_what, wanted) => {
  const { status, headers } = await preflight(`${gateway.url}/graphql`, APP, wanted);
  expect(status).toBe(204);
  expect(headers.get('access-control-allow-headers')).toBeNull();
});

test('error responses have CORS headers too', async () => {
  const { status, headers } = await fetch(`${gateway.url}/api/v1/me`, { headers: { origin: APP } });
  expect(status).toBe(401);
  expect(headers.get('access-control-allow-origin')).toBe(APP);
});

test('OPTIONS without preflight headers gets 405', async () => {
  const { status } = await fetch(`${gateway.url}/api/v1/me`, { method: 'OPTIONS', headers: { origin: APP } });
  expect(status).toBe(405);
});

test('a request without Origin gets no CORS headers', async () => {
  const { headers } = await fetch(`${gateway.url}/api/v1/me`, { headers: { authorization } });
  expect(headers.get('access-control-allow-origin')).toBeNull();
});

function preflight(url: string, origin: string, wanted = SENDABLE): Promise<Response> {
  return fetch(url, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': wanted,
    },
  });
}

/** Headers named in the OpenAPI document, set anywhere in what answers the API, or sent by Node. */
function namedHeaders(): string[] {
  const described = Object.keys(document.components.headers ?? {});
  const set = ['http/', 'rest/', 'graphql/', 'mcp/', 'recording.ts'].flatMap(headersSetIn);
  return [...new Set([...described.map((name) => name.replace(/\.perhaps$/, '')), ...set, 'Date'])].filter(
    (name) => !NEEDLESS.includes(name) && !name.startsWith('Access-Control-'),
  );
}

function headersSetIn(start: string): string[] {
  const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' });
  const found = files.filter((file) => file.startsWith(start) && file.endsWith('.ts'));
  const texts = found.map((file) => readFileSync(join(SOURCE, file), 'utf8'));
  return texts.flatMap((text) =>
    [...text.matchAll(/(?:set|append)Header\('([A-Z][\w-]+)'/g)].map(([, name = '']) => name),
  );
}
