import type { OpenApiDocument } from '../../../src/openapi';
import type { Json } from '../../support/client';
import { BROWSER, startSite } from '../../support/fixtures/site';
import { late } from '../../support/late';
import { document } from '../../support/openapi';

const DOCS = '/api/v1/docs';
const OPERATIONS = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation })),
);

const site = late(() => startSite());
afterAll(() => {
  site.close();
});
const page = async (path: string) => site.call(path, { headers: BROWSER });

/** The addresses of the operations, which the list links to, in the document's order. */
async function addresses(): Promise<string[]> {
  const { text } = await page(DOCS);
  const [, known = '[]'] = /<script type="application\/json" id="operations">(.*?)<\/script>/s.exec(text) ?? [];
  const addressOf = new Map((JSON.parse(known) as { id: string; href: string }[]).map(({ id, href }) => [id, href]));
  const found = OPERATIONS.map(({ operationId }) => addressOf.get(operationId)!);
  for (const href of found) expect(text).toContain(`<a href="${href}">`);
  return found;
}

const UNESCAPED: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" };
const textOf = (html: string): string =>
  html.replaceAll(/<[^>]*>/g, '').replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => UNESCAPED[entity]!);

test('each operation has an address of its own, short and from its group and name', async () => {
  const all = await addresses();
  expect(new Set(all).size).toBe(OPERATIONS.length);
  expect(all).toEqual(
    expect.arrayContaining(
      ['orders/list', 'orders/get', 'me/get', 'products/update', 'products/upsert', 'requests/open']
        .concat('requests/list', 'requests/list-messages', 'requests/add-message')
        .map((name) => `${DOCS}/${name}`),
    ),
  );
});

test('the page of each operation has its parameters, scopes, fields, statuses and examples', async () => {
  for (const [at, href] of (await addresses()).entries()) {
    const { path, method, parameters, security, responses, requestBody } = OPERATIONS[at]!;
    const { status, text } = await page(href);
    expect([href, status]).toEqual([href, 200]);
    // not the list, the form and the words of the search, which have some of it too
    const main = text.slice(text.indexOf('<article'), text.indexOf('</aside>'));
    const named = parameters.map(({ name }) => name);
    // a file has none
    const sent: unknown = requestBody?.content['application/json']?.example;
    const examples: unknown[] = sent === undefined ? [] : [sent];
    for (const { $ref, ...own } of Object.values<Json>(responses)) {
      const { content = {} }: Json = $ref ? document.components.responses![$ref.split('/').at(-1)] : own;
      for (const { example, examples: ofCodes = {} } of Object.values<Json>(content)) {
        if (example) named.push(...Object.keys(example));
        examples.push(...(example ? [example] : Object.values<Json>(ofCodes).map(({ value }) => value)));
      }
    }
    const shown = textOf(main);
    const fields = new Set([...main.matchAll(/class="field-head">\s*<code>([^<]*)/g)].map(([, name]) => name));
    const scopes = security.flatMap((one) => Object.values(one)).flat();
    const missing = [
      ...named.filter((name) => !fields.has(name)),
      ...scopes.filter((scope) => !main.includes(`data-scope="${scope}"`)),
      ...examples.filter((example) => !shown.includes(JSON.stringify(example, null, 2))),
      ...[`${method} /api/v1${path}`].filter((route) => !shown.includes(route)),
    ];
    expect([href, missing]).toEqual([href, []]);
    // a tab and what it shows for each status and language, of which the style sheet knows 20
    expect(text.match(/id="status-\d+"/g)).toHaveLength(Object.keys(responses).length);
    expect(Object.keys(responses).length).toBeLessThanOrEqual(20);
    expect(text.match(/class="panel"/g)).toHaveLength(Object.keys(responses).length + 3);
  }
});

test('a field has the meanings of its values, also beside a description of its own, and bounds that are not those of its type', async () => {
  const text = async (href: string): Promise<string> => textOf((await page(DOCS + href)).text).replaceAll(/\s+/g, ' ');
  // of key.mcp, whose type is a reference beside a description
  expect(await text('/me/get')).toContain('read Call operations that read.');
  const changed = JSON.parse(JSON.stringify(document), (name, value: unknown) =>
    name === 'maximum' && value === 100 ? 5e9 : value,
  ) as OpenApiDocument;
  const other = await startSite({}, changed);
  const list = await other.call(`${DOCS}/orders/list`, { headers: BROWSER });
  expect(list.text).toContain('1 to 5,000,000,000');
  expect(list.text).not.toMatch(/2,147,483,647|9,007,199,254,740,991|matches <code>\\S</);
  other.close();
});

test('what comes from a schema is escaped wherever it stands', async () => {
  const MARKUP = `<img src=x onerror="alert(1)"> \`<u>\` </script><!-- 'x'`;
  const marked = JSON.parse(JSON.stringify(document), (name, value: unknown) => {
    if (['description', 'summary'].includes(name) && typeof value === 'string') return `${MARKUP} ${value}`;
    if (name === 'enum') return [...(value as unknown[]), MARKUP];
    if (['example', 'value'].includes(name) && value && typeof value === 'object')
      return { ...value, [MARKUP]: MARKUP };
    return value;
  }) as OpenApiDocument;
  const other = await startSite({}, marked);
  for (const path of [DOCS, ...(await addresses())]) {
    const { text } = await other.call(path, { headers: BROWSER });
    expect(text).toContain('&lt;img src=x');
    expect(text).toContain('<code>&lt;u&gt;</code>');
    expect(text).not.toMatch(/<img|<u>|<!--|onerror="/);
    expect(text.match(/<\/script>/g)).toHaveLength(path === DOCS ? 2 : 3);
  }
  other.close();
});

test.each(['/orders', '/orders/nothing', '/constructor/list', '/orders/list/more', '/Orders/list'])(
  '%s is no page of the reference',
  async (path) => {
    expect((await page(DOCS + path)).status).toBe(404);
  },
);
