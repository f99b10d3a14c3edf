import { BROWSER, policyOf, type Site, startSite } from './site';

const DEMO_KEY = 'svc_live_demo<key>&"';

let site: Site;
let demo: Site;

beforeAll(async () => {
  site = await startSite();
  demo = await startSite({ demoKey: DEMO_KEY });
});

afterAll(() => {
  site.close();
  demo.close();
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
