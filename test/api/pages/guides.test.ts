import { gzipSync } from 'node:zlib';
import { ERROR_CODES } from '../../../src/errors';
import { builtGuides } from '../../../src/guides/built';
import type { SearchEntry } from '../../../src/pages/searchEntry';
import { createSite } from '../../../src/pages/site';
import { BROWSER, startSite } from '../../support/fixtures/site';
import { late } from '../../support/late';
import type { RawAnswer } from '../http/raw';
import { document } from '../../support/openapi';

const site = late(() => startSite());
const PUBLIC_URL = 'https://api.example.com/quotes';
const known = late(() => startSite({ publicUrl: PUBLIC_URL, site: createSite('/quotes'), introspection: 'public' }));
afterAll(() => {
  site.close();
  known.close();
});

const { guides, programs } = builtGuides();
const ADDRESSES = guides.map(({ name }) => `/guides/${name}`);
/** What the gateway serves beside the pages. */
const ELSEWHERE = /^\/(api\/v1\/openapi\.json|graphql\/schema\.graphql|settings\/\w+)$/;

const page = remembering((path) => site.call(path, { headers: BROWSER }));
const markdown = remembering((path) => site.call(path));
const read = async (path: string): Promise<string> => (await markdown(path)).text;

/** Reads each page once, as many link to it. */
function remembering(call: (path: string) => Promise<RawAnswer>): typeof call {
  const known = new Map<string, Promise<RawAnswer>>();
  return (path) => known.get(path) ?? known.set(path, call(path)).get(path)!;
}

/** Those of the addresses that are not served, or whose fragment no element of their page has. */
async function lost(addresses: Iterable<string>): Promise<string[]> {
  const missing: string[] = [];
  for (const address of new Set(addresses)) {
    const [path = '', id] = address.split('#');
    if (ELSEWHERE.test(path)) continue;
    const { status, text } = await page(path);
    // an anchor of Markdown is one of the page
    const there = id === undefined || (await read(path.replace(/\.md$/, ''))).includes(` id="${id}"`);
    if (status !== 200 || text === '' || !there) missing.push(address);
  }
  return missing;
}

test.each(ADDRESSES)(
  'all links of %s lead to something that is served, in the page and in its Markdown',
  async (at) => {
    const { text } = await page(at);
    const links = [...text.matchAll(/<a[^>]* href="((?!https:)[^"]*)"/g)].map(([, link = '']) => link);
    expect(links.length).toBeGreaterThan(20);
    expect(await lost(links.map((link) => (link.startsWith('#') ? at + link : link)))).toEqual([]);
    const markdown = await read(`${at}.md`);
    const named = [...markdown.matchAll(/\]\(((?!https:)[^)\s]*)\)/g)].map(([, link = '']) => link);
    expect(await lost(named.map((link) => (link.startsWith('#') ? at + link : link)))).toEqual([]);
  },
);

test.each(guides)('/guides/$name has the words of its Markdown, without what is for tests', async ({ name, title }) => {
  const { text } = await page(`/guides/${name}`);
  const blocks = [...text.matchAll(/aria-label="[^"]+, block (\d+)"/g)].map(([, number]) => Number(number));
  expect(blocks).toEqual(blocks.map((_, at) => at + 1));
  expect(text).toContain(`<h1>${title.replaceAll("'", '&#39;')}</h1>`);
  // a script puts the gateway's address there
  const others = text.replaceAll('<span data-origin>http://127.0.0.1:4000', '').replaceAll(/<[^>]*>/g, '');
  expect(others).not.toContain('http://127.0.0.1:4000');
  expect(text).not.toMatch(/&lt;!--|<th><\/th>|<(script|style)(?! type="(module|application\/json)")/);
  const { headers, text: markdown } = await site.call(`/guides/${name}.md`);
  expect(headers).toMatchObject({ 'content-type': 'text/markdown; charset=utf-8', 'cache-control': 'no-cache' });
  expect(markdown).toMatch(new RegExp(`^# ${title.replaceAll(/[?,.]/g, '.')}\n`));
  expect(markdown).not.toContain('<!--');
  for (const [, heading = ''] of markdown.replaceAll(/^```[^]*?^```/gm, '').matchAll(/^##+ (.+)$/gm))
    expect(text).toContain(`>${heading.replaceAll(/`([^`]+)`/g, '<code>$1</code>')}</a>`);
});

test('programs of jobs are served as they are', async () => {
  expect(Object.keys(programs)).toHaveLength(12);
  for (const [path, program] of Object.entries(programs)) {
    const { headers, text } = await site.call(path);
    expect([headers['content-type'], text]).toEqual(['text/plain; charset=utf-8', program]);
  }
});

test('where the address of the gateway is known, Markdown and /llms.txt have it', async () => {
  const { text } = await known.call('/guides/webhooks.md');
  expect(text).toContain(`curl -H "Authorization: Bearer $KEY" "${PUBLIC_URL}/api/v1/orders?limit=50&include=lines"`);
  expect(text).toContain(`](${PUBLIC_URL}/guides/jobs/events.md)`);
  expect((await known.call('/guides/jobs/orders.md')).text).toContain(`](${PUBLIC_URL}/guides/jobs/orders.py)`);
  const { text: list } = await known.call('/llms.txt');
  expect(list).toContain(`- [GraphQL schema](${PUBLIC_URL}/graphql/schema.graphql)`);
  const links = [...list.matchAll(/\]\(([^)]+)\)/g)].map(([, link = '']) => link);
  expect(links.filter((link) => !link.startsWith(`${PUBLIC_URL}/`))).toEqual([]);
  const moved = await known.call('/webhooks');
  expect([moved.status, moved.headers.location]).toEqual([301, '/quotes/guides/webhooks']);
});

test('/llms.txt has the form of llmstxt.org, names all guides, and links to what is there; the schema only if it is public', async () => {
  const { headers, text } = await site.call('/llms.txt');
  expect(headers['content-type']).toBe('text/plain; charset=utf-8');
  expect(text).toMatch(/^# Scopegate\n\n> .+\n\n(## \w+\n\n(- \[[^\]]+\]\([^)]+\): .+\n)+\n?)+$/);
  const links = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, link = '']) => link);
  expect(links).toEqual(expect.arrayContaining(ADDRESSES.map((address) => `${address}.md`)));
  expect(links).not.toContain('/graphql/schema.graphql');
  expect(await lost(links)).toEqual([]);
});

test('/search.json has every operation, error code, guide and heading, each of which is there, and is small', async () => {
  const { headers, text } = await site.call('/search.json');
  expect(headers['content-type']).toBe('application/json; charset=utf-8');
  expect(gzipSync(text).length).toBeLessThan(15_000);
  const found = JSON.parse(text) as SearchEntry[];
  const shown = (kind: SearchEntry['kind']) =>
    found.filter((one) => one.kind === kind).map(({ detail = '' }) => detail);
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(shown('REST')).toEqual(expect.arrayContaining(operations));
  expect(shown('Error').map((detail) => detail.split(' ')[1])).toEqual(Object.keys(ERROR_CODES));
  const headings = guides.reduce((count, guide) => count + guide.headings.length, guides.length);
  expect(shown('Guide')).toHaveLength(headings);
  expect(await lost(found.map(({ href }) => href))).toEqual([]);
});

test.each([
  ...['/guides/quickstart', '/guides/quickstart.md', '/llms.txt', '/search.json', '/guides/jobs/orders.py'],
  '/api/v1/docs/orders/list',
])(
  '%s is read with GET and HEAD only, compressed where that is accepted, and 304 while it is the same',
  async (path) => {
    const { headers, text } = await page(path);
    const zipped = await site.call(path, { headers: { ...BROWSER, 'accept-encoding': 'gzip' } });
    expect(zipped.headers).toMatchObject({
      'content-encoding': 'gzip',
      etag: headers.etag,
      vary: expect.stringContaining('Accept-Encoding'),
    });
    expect(Number(zipped.headers['content-length'])).toBeLessThan(text.length);
    const again = await site.call(path, { headers: { ...BROWSER, 'if-none-match': String(headers.etag) } });
    expect(again).toMatchObject({ status: 304, text: '' });
    expect(await site.call(path, { method: 'HEAD', headers: BROWSER })).toMatchObject({ status: 200, text: '' });
    const refused = await site.call(path, { method: 'POST' });
    expect([refused.status, refused.headers.allow]).toEqual([405, 'GET, HEAD']);
  },
);

test.each(['/guides/nothing', '/guides/Quickstart', '/guides/jobs', '/guides/operators', '/guides/jobs/orders.ts.md'])(
  '%s is no guide',
  async (path) => {
    expect((await page(path)).status).toBe(404);
  },
);
