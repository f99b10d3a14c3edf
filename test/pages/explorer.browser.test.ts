import type { Locator, Page } from 'playwright-core';
import { eventually } from '../http/eventually';
import { THEMES, WIDTHS } from '../support/browser';
import {
  button,
  close,
  headers,
  openDocs,
  query,
  ready,
  response,
  run,
  write,
  writeKey,
  written,
} from './graphiqlPage';
import { enterKey, inBrowser, overflow, pagesScene, violations } from './scene';

const OWN = 'query Own { me { key { name } } }';
/** Each theme and each width once, since these take long. */
const VIEWS = THEMES.map((theme, at) => ({ theme, width: WIDTHS[at]! }));

/** Shows the open page in another theme and width. */
async function turn(page: Page, { theme, width }: (typeof VIEWS)[number]): Promise<void> {
  await page.setViewportSize({ width, height: 800 });
  await page.emulateMedia({ colorScheme: theme });
}

inBrowser('GraphiQL', () => {
  const scene = pagesScene();

  test("opens examples beside the visitor's own tabs; a reload keeps tabs and history, but no keys", async () => {
    await scene.visit('/graphiql', async (page) => {
      await ready(page);
      // an example is closed, and a new tab is opened
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
      // an open example is not opened twice
      await page.locator('.examples').getByRole('button', { name: 'QuotesWithLines' }).click();
      await page.locator('.graphiql-tab-active', { hasText: 'QuotesWithLines' }).waitFor();
      expect(await page.locator('.graphiql-tab').count()).toBe(6);
      // kept after a reload, since nothing deletes them
      await eventually(
        () => page.evaluate<boolean>(`(localStorage.getItem('graphiql:tabState') ?? '').includes('query Own')`),
        30_000,
      );
      await button(page, 'Own').click();
      await writeKey(page, scene.key);
      await run(page);
      await response(page).getByText('"name"').waitFor();
      await write(query(page), `# ${scene.key}\n${OWN}`);
      await eventually(
        () =>
          page.evaluate<boolean>(
            `localStorage['graphiql:tabState'].includes('# …') && (localStorage['graphiql:queries'] ?? '').includes('Own')`,
          ),
        30_000,
      );
      expect(await page.evaluate('JSON.stringify({ ...localStorage })')).not.toContain(scene.key);
      await page.reload();
      await ready(page);
      await page.locator('.graphiql-tab-active', { hasText: 'Own' }).waitFor();
      expect(await page.locator('.graphiql-tab').count()).toBe(6);
      await eventually(async () => (await written(query(page))).includes('query Own'), 30_000);
      // what comes from the history is sent with the key above
      await page.getByLabel('Show History').click();
      await write(query(page), '{ nothing }');
      await page.locator('.graphiql-history-item-label', { hasText: 'Own' }).first().click();
      expect(await written(query(page))).toBe(OWN);
      await run(page);
      await response(page).getByText('"name"').waitFor();
    });
  }, 90_000);

  test('has room for query and answer at both widths, and shows whether Variables or Headers is open', async () => {
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
        const docs = await openDocs(page);
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

  test('names the scope each operation needs in the docs, and omits what only signed-in users can use', async () => {
    await scene.visit('/graphiql', async (page) => {
      await ready(page);
      const docs = await openDocs(page);
      await docs.getByRole('link', { name: 'Mutation', exact: true }).first().waitFor();
      const text = await docs.innerText();
      expect(text).toContain('QuotePage');
      expect(text).not.toMatch(/ApiKeyPage|WebhookEndpoint|AuditEvent/);
      // nor what only directives use
      expect(text).not.toMatch(/HttpMethod|FilterBy|GraphqlOnly|\bRole\b|\bScope\b/);
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

  test("reports an unreachable gateway and a proxy's HTML page in plain words, without a stack", async () => {
    await scene.visit('/graphiql', async (page) => {
      await ready(page);
      await enterKey(page, scene.key);
      await page.context().setOffline(true);
      await run(page);
      await response(page).getByText('The gateway cannot be reached.').waitFor();
      await page.getByLabel('Last answer').getByText('No answer', { exact: true }).waitFor();
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
      await page.setViewportSize({ width: 390, height: 800 });
      await page.evaluate('scrollTo(0, 0)');
      await run(page);
      await eventually(
        () =>
          page.evaluate<boolean>(`(({ top, bottom }) => top < innerHeight - 200 && bottom > 200)(
            document.querySelector('.graphiql-response').getBoundingClientRect())`),
        30_000,
      );
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
