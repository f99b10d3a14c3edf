import { spawnSync } from 'node:child_process';
import type { Locator, Page } from 'playwright-core';
import type { Scope } from '../../src/access/scopes';
import { EXAMPLE_QUERIES } from '../../src/pages/queries';
import { eventually } from '../http/eventually';
import { CHROMIUM, INSTALL_CHROMIUM, THEMES, WIDTHS } from '../support/browser';
import { makeKey } from '../support/factories';
import { describeWith } from '../support/programs';
import { openScene, overflow, type PagesScene, violations } from './scene';
import { enterKey, keyForm } from './visitorKey';

const OWN = 'query Own { me { key { name } } }';
/** Each theme and each width once, since these take long. */
const VIEWS = THEMES.map((theme, at) => ({ theme, width: WIDTHS[at]! }));

/** Shows the page that is open in another theme and width. */
async function turn(page: Page, { theme, width }: (typeof VIEWS)[number]): Promise<void> {
  await page.setViewportSize({ width, height: 800 });
  await page.emulateMedia({ colorScheme: theme });
}

async function ready(page: Page): Promise<void> {
  await page.waitForSelector('.graphiql-query-editor textarea[aria-label]', { state: 'attached' });
}

async function write(editor: Locator, text: string): Promise<void> {
  await editor.locator('.CodeMirror').evaluate((element: unknown, value) => {
    (element as { CodeMirror: { setValue(value: string): void } }).CodeMirror.setValue(value);
  }, text);
}

const written = (editor: Locator): Promise<string> =>
  editor.locator('.CodeMirror').evaluate((element: unknown) => {
    return (element as { CodeMirror: { getValue(): string } }).CodeMirror.getValue();
  });

const query = (page: Page): Locator => page.locator('.graphiql-query-editor');
const headers = (page: Page): Locator => page.locator('.graphiql-editor-tool .graphiql-editor:nth-child(2)');
const response = (page: Page): Locator => page.locator('.graphiql-response');
const run = (page: Page): Promise<void> => page.locator('.graphiql-execute-button').click();
const button = (page: Page, name: string): Locator => page.getByRole('button', { name, exact: true });

/** Writes a key where visitors of other tools expect it. */
async function writeKey(page: Page, key: string): Promise<void> {
  await write(headers(page), JSON.stringify({ Authorization: `Bearer ${key}` }));
}

/** Closes a tab, which has to be the current one for that. */
async function close(page: Page, name: string): Promise<void> {
  const tab = page.locator('.graphiql-tab', { has: button(page, name) });
  await button(page, name).click();
  await tab.getByRole('button', { name: 'Close Tab' }).click();
  await tab.waitFor({ state: 'detached' });
}

async function openDocs(page: Page, ...path: string[]): Promise<Locator> {
  await page.getByLabel('Show Documentation Explorer').click();
  const docs = page.locator('.graphiql-doc-explorer');
  for (const name of path) await docs.getByRole('link', { name, exact: true }).first().click();
  return docs;
}

describeWith(CHROMIUM, INSTALL_CHROMIUM)('GraphiQL', () => {
  let scene: PagesScene;

  beforeAll(async () => {
    scene = await openScene();
  }, 120_000);
  afterAll(() => scene.close());

  test('opens examples beside own tabs, which stay', async () => {
    await scene.visit('/graphiql', async (page) => {
      await ready(page);
      // an example is closed, and an own tab is opened
      await close(page, 'SalesByMonth');
      await page.getByLabel('Add tab').click();
      await write(query(page), OWN);
      await button(page, 'Own').waitFor();
      await page.getByLabel('Show Examples').click();
      await page.locator('.examples').getByRole('button', { name: 'SalesByMonth' }).click();
      await page.locator('.graphiql-tabs').getByRole('button', { name: 'SalesByMonth' }).waitFor();
      expect(await written(query(page))).toContain('query SalesByMonth');
      await button(page, 'Own').click();
      expect(await written(query(page))).toBe(OWN);
      // one that is open is not opened twice
      await page.locator('.examples').getByRole('button', { name: 'QuotesWithLines' }).click();
      await page.locator('.graphiql-tab-active', { hasText: 'QuotesWithLines' }).waitFor();
      expect(await page.locator('.graphiql-tab').count()).toBe(6);
      // kept over a reload, as nothing deletes them
      await eventually(
        () => page.evaluate<boolean>(`(localStorage.getItem('graphiql:tabState') ?? '').includes('query Own')`),
        30_000,
      );
      await page.reload();
      await ready(page);
      expect(await page.locator('.graphiql-tab').count()).toBe(6);
    });
  }, 90_000);

  test('a key that was entered in one tab serves all, and examples that are opened', async () => {
    await scene.visit('/graphiql', async (page) => {
      await ready(page);
      await writeKey(page, scene.key);
      await run(page);
      await response(page).getByText('total_minor').first().waitFor();
      await keyForm(page).getByText('Northwind Traders').waitFor();
      await close(page, 'Me');
      await page.getByLabel('Show Examples').click();
      await page.locator('.examples').getByRole('button', { name: 'Me', exact: true }).click();
      await page.locator('.graphiql-tab-active', { hasText: 'Me' }).waitFor();
      await run(page);
      await response(page).getByText('Northwind Traders').waitFor();
    });
  }, 60_000);

  test('has room for the query and the answer, and shows which of Variables and Headers is open, at both widths', async () => {
    await scene.visit('/graphiql', async (page) => {
      await ready(page);
      const look = (name: string): Promise<string[]> =>
        button(page, name).evaluate((element: unknown) => {
          const { color, boxShadow, fontWeight, backgroundColor } = globalThis.getComputedStyle(element as never);
          return [color, boxShadow, fontWeight, backgroundColor];
        });
      const isCurrent = (name: string): Promise<string | null> => button(page, name).getAttribute('aria-current');
      const box = async (locator: Locator): Promise<{ width: number; height: number }> =>
        (await locator.boundingBox()) ?? { width: 0, height: 0 };
      for (const view of VIEWS) {
        const { width } = view;
        await turn(page, view);
        for (const [open, other] of [
          ['Variables', 'Headers'],
          ['Headers', 'Variables'],
        ] as const) {
          await button(page, open).click();
          await page.locator('.graphiql-editor-tools button[aria-current]', { hasText: open }).waitFor();
          expect([await isCurrent(open), await isCurrent(other)]).toEqual(['true', null]);
          expect(await look(open)).not.toEqual(await look(other));
          expect((await look(open))[1]).not.toBe('none');
        }
        const isRoomy = async (): Promise<void> => {
          for (const editor of [query(page).locator('.CodeMirror'), response(page)]) {
            const { width: wide, height: high } = await box(editor);
            expect(wide).toBeGreaterThan(width === 390 ? 250 : 290);
            expect(high).toBeGreaterThan(240);
          }
          expect((await box(headers(page))).height).toBeGreaterThan(70);
        };
        await isRoomy();
        const docs = await openDocs(page, 'Query');
        await isRoomy();
        expect((await box(docs)).width).toBeGreaterThan(240);
        await page.getByLabel('Show Examples').click();
        await page.locator('.examples').waitFor();
        await isRoomy();
        await page.getByLabel('Hide Examples').click();
        await page.locator('.examples').waitFor({ state: 'detached' });
      }
    });
  }, 90_000);

  test('says in the docs which scope an operation needs, and leaves out what only signed-in users can use', async () => {
    await scene.visit('/graphiql', async (page) => {
      await ready(page);
      const docs = await openDocs(page);
      await docs.getByRole('link', { name: 'Mutation', exact: true }).first().waitFor();
      const text = await docs.innerText();
      expect(text).toContain('QuotePage');
      expect(text).not.toMatch(/ApiKeyPage|WebhookEndpoint|AuditEvent/);
      await docs.getByRole('link', { name: 'Mutation', exact: true }).first().click();
      await docs.getByText('upsert_products').waitFor();
      expect(await docs.innerText()).not.toMatch(/api_key|webhook|signed-in/);
      await docs.getByRole('link', { name: /^Go back to/ }).click();
      await docs.getByRole('link', { name: 'Query', exact: true }).first().click();
      await docs.getByText('Requires the scope quotes:read.').first().waitFor();
      expect(await docs.getByText('Any valid key can call it.').count()).toBe(1);
      await docs.getByRole('link', { name: 'customer', exact: true }).click();
      await docs.getByText('Requires the scope customers:read.').waitFor();
    });
  }, 60_000);

  test('offers only what the key may call: completion, docs and examples say what it lacks', async () => {
    const { key } = await makeKey(scene.gateway, scene.organisation, { scopes: ['quotes:read', 'customers:read'] });
    await scene.visit('/graphiql', async (page) => {
      await ready(page);
      await enterKey(page, key);
      await page.getByLabel('Show Examples').click();
      const example = (name: string): Locator => page.locator('.examples li').filter({ has: button(page, name) });
      await example('SalesByMonth').getByText('Your key lacks orders:read.').waitFor();
      expect(await example('QuotesWithLines').innerText()).not.toContain('lacks');
      const docs = await openDocs(page, 'Query');
      await docs.getByText('Your key lacks orders:read.').first().waitFor();
      expect(await docs.getByText('Your key lacks quotes:read.').count()).toBe(0);
      // one of several scopes is enough
      expect(await docs.getByText(/Your key lacks .* or /).count()).toBe(0);
      const complete = async (): Promise<string[]> => {
        await write(query(page), '{\n  \n}');
        await query(page)
          .locator('.CodeMirror')
          .evaluate((element: unknown) => {
            const { CodeMirror } = element as { CodeMirror: { setCursor(at: unknown): void; focus(): void } };
            CodeMirror.focus();
            CodeMirror.setCursor({ line: 1, ch: 2 });
          });
        await page.keyboard.press('Control+Space');
        await page.locator('.CodeMirror-hint').first().waitFor();
        const offered = await page.locator('.CodeMirror-hint').allInnerTexts();
        await page.keyboard.press('Escape');
        return offered.map((text) => text.split(/\s/)[0]!);
      };
      const offered = await complete();
      expect(offered).toEqual(expect.arrayContaining(['quotes', 'customers', 'me', 'events']));
      expect(offered.filter((name) => /order|product|request/.test(name))).toEqual([]);
      await keyForm(page).getByRole('button', { name: 'Forget key' }).click();
      await docs.getByText('Your key lacks').first().waitFor({ state: 'detached' });
      expect(await complete()).toEqual(expect.arrayContaining(['orders', 'products']));
    });
  }, 90_000);

  test('each example runs with exactly the scopes that it names', async () => {
    for (const { query, variables, scopes } of EXAMPLE_QUERIES) {
      const { key } = await makeKey(scene.gateway, scene.organisation, { scopes: scopes as Scope[] });
      const call = await fetch(`${scene.gateway.url}/graphql`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ query, variables: JSON.parse(variables ?? '{}') as unknown }),
      });
      expect(await call.json()).toEqual({ data: expect.anything() });
      const fields = [...query.matchAll(/^\s+(\w+)/gm)].map(([, name]) => `${name!.replace(/s$/, '')}s:read`);
      // each is needed: without it the same query would have errors
      expect(scopes.filter((scope) => !fields.includes(scope) && scope !== 'orders:read')).toEqual([]);
    }
  }, 60_000);

  test('shows status and time of the last answer, and copies the request as a curl command without the key', async () => {
    const permissions = ['clipboard-read', 'clipboard-write'];
    await scene.visit(
      '/graphiql',
      async (page) => {
        await ready(page);
        await enterKey(page, scene.key);
        await write(query(page), "query Found($q: String) { products(q: $q) { data { name } } } # it's $HOME");
        await button(page, 'Variables').click();
        await write(page.locator('.graphiql-editor-tool .graphiql-editor:nth-child(1)'), '{ "q": "chai" }');
        await button(page, 'Headers').click();
        await write(headers(page), JSON.stringify({ Authorization: `Bearer ${scene.key}`, 'X-Request-Id': 'curl-1' }));
        await run(page);
        await page
          .getByLabel('Last answer')
          .getByText(/^HTTP 200 in \d+ ms$/)
          .waitFor();
        await button(page, 'Copy as curl').click();
        await button(page, 'Copied').waitFor();
        const command = await page.evaluate<string>('navigator.clipboard.readText()');
        expect(command).not.toContain('svc_');
        const { stdout } = spawnSync('bash', ['-c', `${command} -i`], {
          env: { ...process.env, SCOPEGATE_KEY: scene.key },
          encoding: 'utf8',
        });
        expect(stdout).toMatch(/x-request-id: curl-1/i);
        expect(stdout).toContain('{"data":{"products":{"data":[{"name":"Chai"}]}}}');
        await write(query(page), '{ nothing_like_this }');
        await run(page);
        await page
          .getByLabel('Last answer')
          .getByText(/^HTTP 400 in/)
          .waitFor();
      },
      { permissions },
    );
  }, 60_000);

  test("says offline that the gateway cannot be reached, and for a proxy's page that it is not JSON, without a stack", async () => {
    await scene.visit('/graphiql', async (page) => {
      await ready(page);
      await enterKey(page, scene.key);
      await page.context().setOffline(true);
      await run(page);
      await response(page).getByText('The gateway cannot be reached.').waitFor();
      expect(await written(response(page))).not.toMatch(/stack|TypeError|\.js/);
      await page.context().setOffline(false);
      await run(page);
      await response(page).getByText('total_minor').first().waitFor();
      await page.route('**/graphql', (route) =>
        route.fulfill({ status: 502, contentType: 'text/html', body: '<h1>Bad gateway' }),
      );
      await run(page);
      await response(page).getByText('The answer is not JSON: HTTP 502.').waitFor();
      expect(await written(response(page))).not.toMatch(/stack|SyntaxError/);
    });
  }, 60_000);

  test('is accessible with each panel, dialog and menu open, without internet', async () => {
    const { faults, foreign } = await scene.visit('/graphiql', async (page) => {
      await ready(page);
      const check = async (state: string): Promise<void> => {
        for (const view of VIEWS) {
          await turn(page, view);
          expect([state, view, await violations(page)]).toEqual([state, view, []]);
          expect([state, view, (await overflow(page)) > 0]).toEqual([state, view, false]);
        }
      };
      await enterKey(page, scene.key);
      await run(page);
      await response(page).getByText('total_minor').first().waitFor();
      await check('an answer');
      await page.getByLabel('Show Examples').click();
      await page.locator('.examples').waitFor();
      await check('examples');
      const docs = await openDocs(page);
      await docs.getByRole('link', { name: 'Query', exact: true }).first().waitFor();
      await check('docs');
      await docs.getByRole('link', { name: 'Query', exact: true }).first().click();
      await docs.getByText('Requires the scope').first().waitFor();
      await check('operations');
      await docs.getByRole('link', { name: 'quotes', exact: true }).click();
      await docs.getByText('Arguments').waitFor();
      await check('an operation');
      await page.getByLabel('Show History').click();
      await page.locator('.graphiql-history').waitFor();
      await check('history');
      for (const dialog of ['Open short keys dialog', 'Open settings dialog']) {
        await page.getByLabel(dialog).click();
        await page.getByRole('dialog').waitFor();
        await check(dialog);
        await page.keyboard.press('Escape');
        await page.getByRole('dialog').waitFor({ state: 'detached' });
      }
    });
    expect({ faults, foreign }).toEqual({ faults: [], foreign: [] });
  }, 180_000);
});

describeWith(CHROMIUM, INSTALL_CHROMIUM)('GraphiQL where introspection needs a key', () => {
  test('loads the docs once a key was accepted', async () => {
    const scene = await openScene({ INTROSPECTION: 'key' });
    await scene.visit('/graphiql', async (page) => {
      await ready(page);
      await run(page);
      await response(page).getByText('Enter your API key').waitFor();
      await writeKey(page, scene.key);
      await run(page);
      await response(page).getByText('total_minor').first().waitFor();
      const docs = await openDocs(page, 'Query');
      await docs.getByText('Requires the scope quotes:read.').first().waitFor();
    });
    await scene.close();
  }, 120_000);
});
