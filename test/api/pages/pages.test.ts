import type { IncomingHttpHeaders } from 'node:http';
import { ERROR_CODES } from '../../../src/errors';
import { assetNames } from '../../../src/pages/assets';
import { builtGuides } from '../../../src/guides/built';
import { ANSWER } from '../../../src/pages/landing';
import type { Json } from '../../support/client';
import { withGateway } from '../../support/gateway';
import { BROWSER, startSite } from '../../support/fixtures/site';
import { late } from '../../support/late';
import { document } from '../../support/openapi';

/** Sources of each directive of the Content-Security-Policy. */
function policyOf(headers: IncomingHttpHeaders): Map<string, string[]> {
  const directives = String(headers['content-security-policy']).split(';');
  return new Map(
    directives.map((directive) => directive.trim().split(' ')).map(([name = '', ...sources]) => [name, sources]),
  );
}

const PATHS = [
  ...['/', '/graphql', '/graphiql', '/api/v1/docs', '/api/v1/docs/orders/list', '/errors'],
  ...['/guides', '/guides/quickstart', '/guides/jobs/catalogue'],
  ...Object.keys(ERROR_CODES).map((code) => `/errors/${code}`),
];
const ASSETS = Object.values(assetNames());
const TYPES = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
};

test('the landing page shows the answer that the reference has for the same request', () => {
  const { content } = document.paths['/products']!.get!.responses['200'] as Json;
  expect(JSON.parse(ANSWER).data).toEqual(content['application/json'].example.data);
});

const site = late(() => startSite());
const demo = late(() => startSite({ demoKey: 'svc_live_demo<key>&"' }));
afterAll(() => {
  site.close();
  demo.close();
});
const asBrowser = (path: string, method = 'GET') => site.call(path, { method, headers: BROWSER });

describe('every page', () => {
  /** Links that were followed, and those that something else answers. */
  const seen = new Set(['/api/v1/openapi.json', '/settings/integrations', '/settings/keys', '/settings/webhooks']);

  test.each(PATHS)(
    '%s is HTML that cannot be framed, and allows no inline scripts and no other host but that of the frame of Sandbox',
    async (path) => {
      const { status, headers, text } = await asBrowser(path);
      expect(status).toBe(200);
      expect(headers).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-cache',
        'x-content-type-options': 'nosniff',
      });
      expect(headers).not.toHaveProperty('x-powered-by');
      expect(text).toMatch(/^<!doctype html>\s*<html lang="en">/);
      expect(text.match(/<h1/g)).toHaveLength(1);

      const policy = policyOf(headers);
      expect(policy.get('default-src')).toEqual(["'none'"]);
      expect(policy.get('frame-ancestors')).toEqual(["'none'"]);
      expect(policy.get('script-src')).toEqual(["'self'"]);
      // GraphiQL's editor makes style elements
      expect(policy.get('style-src')).toEqual(["'self'", ...(path === '/graphiql' ? ["'unsafe-inline'"] : [])]);
      const hosts = `${text} ${String(headers['content-security-policy'])}`.matchAll(
        /(?:https?:)?\/\/([a-z0-9.-]+\.[a-z]+)/gi,
      );
      const allowed = path === '/graphql' ? ['sandbox.embed.apollographql.com'] : [];
      expect([...new Set([...hosts].map(([, host]) => host))]).toEqual(allowed);
      expect(policy.get('frame-src')).toEqual(path === '/graphql' ? [`https://${allowed[0]!}`] : undefined);
      expect(text).not.toMatch(
        /<script(?![^>]*(src=|type="application\/json"))|\son\w+="|javascript:|\sstyle="|<style/,
      );
    },
  );

  test.each(PATHS)('%s returns the headers of GET for HEAD, and 405 for other methods', async (path) => {
    const head = await asBrowser(path, 'HEAD');
    const get = await asBrowser(path);
    expect(head).toMatchObject({ status: 200, text: '' });
    expect(head.headers['content-length']).toBe(get.headers['content-length']);
    const refused = await site.call(path, { method: 'PUT' });
    expect([refused.status, refused.headers.allow]).toEqual([
      405,
      path === '/graphql' ? 'GET, HEAD, POST' : 'GET, HEAD',
    ]);
    expect(JSON.parse(refused.text)).toMatchObject({ code: 'method_not_allowed', status: 405, request_id: 'req-1' });
  });

  test.each(PATHS)('all links and assets of %s exist, and with a trailing slash it gets 404', async (path) => {
    const { text } = await site.call(path);
    const links = [...text.matchAll(/(?:href|src)="(\/[^"]*)"/g)].map(([, link = '']) => link);
    expect(links.length).toBeGreaterThan(4);
    for (const link of links) {
      if (seen.has(link)) continue;
      seen.add(link);
      expect({ link, status: (await asBrowser(link, 'HEAD')).status }).toEqual({ link, status: 200 });
    }
    if (path !== '/') expect((await asBrowser(`${path}/`)).status).toBe(404);
  });
});

test.each(ASSETS)('the asset %s may be kept, is compressed where that is accepted, and has an ETag', async (name) => {
  const sizes = [];
  for (const encoding of ['br', 'gzip', 'identity']) {
    const answer = await site.call(`/assets/${name}`, { headers: { 'accept-encoding': encoding } });
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({
      'content-type': TYPES[name.split('.').at(-1) as keyof typeof TYPES],
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'Accept-Encoding',
    });
    expect(answer.headers['content-encoding']).toBe(encoding === 'identity' ? undefined : encoding);
    sizes.push(Number(answer.headers['content-length']));
  }
  // a font is compressed already
  if (!name.endsWith('.woff2')) expect(sizes).toEqual(sizes.toSorted((a, b) => a - b));
  const { headers } = await site.call(`/assets/${name}`);
  const again = await site.call(`/assets/${name}`, { headers: { 'if-none-match': String(headers.etag) } });
  expect(again).toMatchObject({ status: 304, text: '' });
});

test.each([
  ...['/assets/names.json', '/assets/../package.json', '/assets/%2e%2e/package.json', '/assets/'],
  ...['/assets/settings.js', '/assets/other-0123ABCD.js'],
  ...['/errors/no_such_code', '/errors/NOT_FOUND', '/errors/constructor'],
])('%s gets 404', async (path) => {
  expect((await asBrowser(path)).status).toBe(404);
});

test.each([
  [412, 'precondition_failed', `/assets/${ASSETS[0]!}`, { 'if-match': '"x"' }, undefined],
  [416, 'range_not_satisfiable', '/assets/licences.txt', { range: 'bytes=99999999-' }, /^bytes \*\/\d+$/],
] as const)('%s is answered with %s, and nothing of the file', async (status, code, path, sent, range) => {
  const answer = await site.call(path, { headers: { 'accept-encoding': 'br', ...sent } });
  expect(answer).toMatchObject({
    status,
    headers: { 'content-type': 'application/problem+json', 'cache-control': 'no-cache' },
  });
  expect(JSON.parse(answer.text)).toMatchObject({ code });
  for (const name of ['content-encoding', 'etag', 'last-modified']) expect(answer.headers).not.toHaveProperty(name);
  if (range) expect(answer.headers['content-range']).toMatch(range);
});

test('a page of another version, while gateways are updated one by one, gets the asset of this one', async () => {
  const { status, headers, text } = await site.call('/assets/prose-0123ABCD.js');
  expect([status, headers['cache-control']]).toEqual([200, 'no-cache']);
  expect(text).toBe((await site.call(`/assets/${assetNames()['prose.js']!}`)).text);
});

test.each(Object.entries(ERROR_CODES))(
  'the error code %s has a page with its status, title and example, and is in the list',
  async (code, { status, title }) => {
    const { text } = await site.call(`/errors/${code}`);
    expect(text).toContain(`<h1>${title}</h1>`);
    expect(text).toMatch(new RegExp(`<b class="pill \\w+">${String(status)}</b> <code>${code}</code>`));
    expect(text.replaceAll(/<\/?span[^>]*>/g, '')).toContain(`&quot;code&quot;: &quot;${code}`);
    expect((await site.call('/errors')).text).toContain(`href="/errors/${code}"`);
  },
);

describe('an unknown path', () => {
  test('returns a page to a browser', async () => {
    const { status, headers, text } = await asBrowser('/nothing');
    expect([status, headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
    expect(policyOf(headers).get('script-src')).toEqual(["'self'"]);
    expect(text).toContain('<h1>Not found</h1>');
  });

  test.each([{}, { accept: '*/*' }, { accept: 'application/json' }])(
    'returns a problem for headers %j',
    async (headers) => {
      const answer = await site.call('/nothing', { headers });
      expect([answer.status, answer.headers['content-type']]).toEqual([404, 'application/problem+json']);
      expect(JSON.parse(answer.text)).toEqual({
        type: '/errors/not_found',
        title: 'Not found',
        status: 404,
        code: 'not_found',
        request_id: 'req-1',
        detail: 'There is no such page.',
      });
    },
  );

  test('that cannot be decoded reveals no internals', async () => {
    const { status, text } = await site.call('/errors/%E0%A4%A');
    expect([400, 404]).toContain(status);
    expect(text).not.toMatch(/node_modules|at |Error:/);
  });
});

test('/graphql returns 405 with Allow: POST for a query by GET', async () => {
  const headers = { accept: 'application/graphql-response+json' };
  const answer = await site.call('/graphql?query={me{key{id}}}', { headers });
  expect([answer.status, answer.headers.allow]).toEqual([405, 'POST']);
});

describe("the demo's key", () => {
  test.each(['/', '/graphql', '/graphiql', '/api/v1/docs/orders/list'])(
    '%s shows it on localhost, escaped and not cached, but not on another host or through a proxy',
    async (path) => {
      const { headers, text } = await demo.call(path, { headers: { host: 'localhost:4000' } });
      expect(headers['cache-control']).toBe('no-store');
      expect(text).toMatch(/svc_live_demo(&lt;|\\u003c)key/);
      expect(text).not.toContain('<key>');
      for (const others of [
        { host: 'demo.example' },
        { host: 'localhost.example:4000' },
        { host: '127.0.0.1', 'x-forwarded-for': '192.0.2.1' },
      ])
        expect((await demo.call(path, { headers: others })).text).not.toContain('svc_live_demo');
    },
  );

  test('is not told to the frame of Sandbox; without it the tools show a placeholder', async () => {
    const { text } = await demo.call('/graphql', { headers: { host: 'localhost:4000' } });
    expect(text).toContain('"authorization":"Bearer svc_live_…"');
    for (const path of ['/graphql', '/graphiql']) expect((await site.call(path)).text).toContain('Bearer svc_live_…');
  });
});

test("pages, and guides as Markdown, show keys with the deployment's own prefixes", async () => {
  const prefixes = { KEY_PREFIX: 'acme_live_', KEY_PREFIX_TEST: 'acme_try_' };
  await withGateway(prefixes, async ({ url }) => {
    const texts = builtGuides().guides.map(({ name }) => `/guides/${name}.md`);
    const shown: string[] = [];
    for (const path of [...PATHS, '/api/v1/docs/me/get', ...texts]) {
      const text = await (await fetch(url + path, { headers: texts.includes(path) ? {} : BROWSER })).text();
      expect([path, /svc_(live|test)_/.exec(text)?.[0]]).toEqual([path, undefined]);
      if (/acme_(live|try)_/.test(text)) shown.push(path);
    }
    expect(shown).toEqual(
      expect.arrayContaining([
        '/graphql',
        '/graphiql',
        '/api/v1/docs',
        '/api/v1/docs/me/get',
        '/guides/quickstart',
        '/guides/quickstart.md',
      ]),
    );
  });
});
