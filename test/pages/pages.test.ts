import { readdirSync } from 'node:fs';
import { extname, join } from 'node:path';
import { ERROR_CODES } from '../../src/errors';
import { VENDOR } from '../../src/pages/assets';
import { late } from '../support/gateway';
import { BROWSER, policyOf, startSite } from './site';

const SANDBOX_FRAME = 'sandbox.embed.apollographql.com';
const PATHS = [
  '/',
  '/graphql',
  '/graphiql',
  '/api/v1/docs',
  '/webhooks',
  '/errors',
  ...Object.keys(ERROR_CODES).map((code) => `/errors/${code}`),
];

const PUBLIC = join(__dirname, '..', '..', 'public');
const ASSET_NAMES = [
  ...readdirSync(PUBLIC, { encoding: 'utf8', recursive: true }).filter((name) => extname(name) !== ''),
  ...Object.keys(VENDOR).map((name) => `vendor/${name}`),
];

const DEMO_KEY = 'svc_live_demo<key>&"';

const site = late(startSite);
const demo = late(() => startSite({ demoKey: DEMO_KEY }));

afterAll(() => {
  site.close();
  demo.close();
});

describe('every page', () => {
  test.each(PATHS)('%s is HTML that cannot be framed and allows no inline scripts', async (path) => {
    const { status, headers, body } = await site.call(path, { headers: BROWSER });
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(headers['cache-control']).toBe('no-cache');
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers).not.toHaveProperty('x-powered-by');
    expect(body).toMatch(/^<!doctype html>\s*<html lang="en">/);
    expect(body.match(/<h1/g)).toHaveLength(1);

    const policy = policyOf(headers);
    expect(policy.get('default-src')).toEqual(["'none'"]);
    expect(policy.get('frame-ancestors')).toEqual(["'none'"]);
    expect(policy.get('script-src')).toEqual(["'self'"]);
    expect(policy.get('frame-src')).toEqual(path === '/graphql' ? [`https://${SANDBOX_FRAME}`] : undefined);
    // GraphiQL's editor makes style elements
    expect(policy.get('style-src')).toEqual(["'self'", ...(path === '/graphiql' ? ["'unsafe-inline'"] : [])]);
    expect(body).not.toMatch(/<script(?![^>]*(src=|type="application\/json"))|\son\w+="|javascript:|\sstyle="|<style/);
  });

  test.each(PATHS)('%s loads nothing from other hosts, except for the frame of Sandbox', async (path) => {
    const { headers, body } = await site.call(path, { headers: BROWSER });
    const hosts = [
      ...`${body} ${String(headers['content-security-policy'])}`.matchAll(/(?:https?:)?\/\/([a-z0-9.-]+\.[a-z]+)/gi),
    ].map((match) => match[1]);
    expect(hosts.filter((host) => path !== '/graphql' || host !== SANDBOX_FRAME)).toEqual([]);
  });

  test.each(PATHS)('%s returns the headers of GET for HEAD, and 405 for other methods', async (path) => {
    const head = await site.call(path, { method: 'HEAD', headers: BROWSER });
    const get = await site.call(path, { headers: BROWSER });
    expect(head).toMatchObject({ status: 200, body: '' });
    expect(head.headers['content-length']).toBe(get.headers['content-length']);

    const refused = await site.call(path, { method: 'PUT' });
    expect(refused.status).toBe(405);
    expect(refused.headers.allow).toBe(path === '/graphql' ? 'GET, HEAD, POST' : 'GET, HEAD');
    expect(JSON.parse(refused.body)).toMatchObject({ code: 'method_not_allowed', status: 405, request_id: 'req-1' });
  });

  test.each(PATHS)('all links and assets of %s exist', async (path) => {
    const { body } = await site.call(path);
    const elsewhere = ['/api/v1/openapi.json', '/settings/integrations'];
    const links = [...body.matchAll(/(?:href|src)="(\/[^"]*)"/g)]
      .map((match) => match[1] ?? '')
      .filter((link) => !elsewhere.includes(link));
    expect(links.length).toBeGreaterThan(4);
    for (const link of new Set(links)) {
      expect({ link, status: (await site.call(link, { method: 'HEAD', headers: BROWSER })).status }).toEqual({
        link,
        status: 200,
      });
    }
  });
});

describe('assets', () => {
  test.each(ASSET_NAMES)('%s has its content type, and an ETag for which it returns 304', async (name) => {
    const { status, headers, body } = await site.call(`/assets/${name}`);
    expect(status).toBe(200);
    expect(body.length).toBeGreaterThan(100);
    const types: Record<string, string> = {
      js: 'text/javascript; charset=utf-8',
      css: 'text/css; charset=utf-8',
      svg: 'image/svg+xml',
    };
    expect(headers['content-type']).toBe(types[name.split('.').at(-1) ?? '']);
    expect(headers['cache-control']).toBe(name.startsWith('vendor/') ? 'public, max-age=86400' : 'public, max-age=0');
    expect(await site.call(`/assets/${name}`, { headers: { 'if-none-match': String(headers.etag) } })).toMatchObject({
      status: 304,
      body: '',
    });
  });

  test.each(['/assets/vendor/package.json', '/assets/../package.json', '/assets/%2e%2e/package.json', '/assets/'])(
    '%s gets 404',
    async (path) => {
      expect((await site.call(path)).status).toBe(404);
    },
  );
});

test.each(PATHS.filter((path) => path !== '/'))('%s with a trailing slash gets 404', async (path) => {
  expect((await site.call(`${path}/`, { headers: BROWSER })).status).toBe(404);
});

describe('an error code', () => {
  test.each(Object.entries(ERROR_CODES))(
    '%s has a page with its status, title and example, and is in the list',
    async (code, { status, title }) => {
      const page = await site.call(`/errors/${code}`);
      expect(page.body).toContain(`<h1>${title}</h1>`);
      expect(page.body).toContain(`<span class="badge">${String(status)}</span> <code>${code}</code>`);
      expect(page.body).toContain('&quot;code&quot;: &quot;' + code);
      expect((await site.call('/errors')).body).toContain(`href="/errors/${code}"`);
    },
  );

  test.each(['/errors/no_such_code', '/errors/NOT_FOUND', '/errors/constructor'])('%s gets 404', async (path) => {
    expect((await site.call(path, { headers: BROWSER })).status).toBe(404);
  });
});

describe('an unknown path', () => {
  test('returns a page to a browser', async () => {
    const { status, headers, body } = await site.call('/nothing', { headers: BROWSER });
    expect(status).toBe(404);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(policyOf(headers).get('script-src')).toEqual(["'self'"]);
    expect(body).toContain('<h1>Not found</h1>');
  });

  test.each([{}, { accept: '*/*' }, { accept: 'application/json' }])(
    'returns a problem for headers %j',
    async (headers) => {
      const answer = await site.call('/nothing', { headers });
      expect(answer.status).toBe(404);
      expect(answer.headers['content-type']).toBe('application/problem+json');
      expect(JSON.parse(answer.body)).toEqual({
        type: '/errors/not_found',
        title: 'Not found',
        status: 404,
        detail: 'There is no such page.',
        code: 'not_found',
        request_id: 'req-1',
      });
    },
  );

  test('that cannot be decoded reveals no internals', async () => {
    const { status, body } = await site.call('/errors/%E0%A4%A');
    expect([400, 404]).toContain(status);
    expect(body).not.toMatch(/node_modules|at |Error:/);
  });
});

describe('/graphql', () => {
  test('returns 405 with Allow: POST for a query by GET', async () => {
    const { status, headers } = await site.call('/graphql?query={me{key{id}}}', {
      headers: { accept: 'application/graphql-response+json' },
    });
    expect(status).toBe(405);
    expect(headers.allow).toBe('POST');
  });
});

describe("the demo's key", () => {
  const TOOLS = ['/', '/graphql', '/graphiql', '/api/v1/docs'];

  test.each(TOOLS)('%s shows it on localhost, escaped, and is not cached', async (path) => {
    const { headers, body } = await demo.call(path, { headers: { host: 'localhost:4000' } });
    expect(headers['cache-control']).toBe('no-store');
    expect(body).toMatch(/svc_live_demo(&lt;|\\u003c)key/);
    expect(body).not.toContain('<key>');
  });

  test.each(TOOLS)('%s does not show it on another host or through a proxy', async (path) => {
    for (const headers of [
      { host: 'demo.example' },
      { host: 'localhost.example:4000' },
      { host: '127.0.0.1', 'x-forwarded-for': '192.0.2.1' },
    ]) {
      expect((await demo.call(path, { headers })).body).not.toContain('svc_live_demo');
    }
  });

  test('is not told to the frame of Sandbox', async () => {
    const { body } = await demo.call('/graphql', { headers: { host: 'localhost:4000' } });
    expect(body).toContain('"authorization":"Bearer svc_live_…"');
  });

  test('without it the tools show a placeholder', async () => {
    for (const path of ['/graphql', '/graphiql']) expect((await site.call(path)).body).toContain('Bearer svc_live_…');
  });
});
