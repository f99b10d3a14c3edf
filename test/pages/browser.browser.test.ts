import { THEMES, WIDTHS } from '../support/browser';
import { response, run, writeKey } from './graphiqlPage';
import { inBrowser, overflow, pagesScene, violations } from './scene';

/** The pages, with a selector that matches once they are rendered. */
const PAGES: readonly { path: string; drawn: string }[] = [
  { path: '/', drawn: '#status[data-state=ready]' },
  { path: '/errors', drawn: '.errors' },
  { path: '/errors/rate_limited', drawn: 'pre' },
  { path: '/nowhere', drawn: 'h1' },
  { path: '/webhooks', drawn: 'pre' },
  { path: '/api/v1/docs', drawn: '.opblock' },
  { path: '/graphiql', drawn: '.graphiql-query-editor textarea[aria-label]' },
];
const VIEWS = PAGES.flatMap((page) => THEMES.flatMap((theme) => WIDTHS.map((width) => ({ ...page, theme, width }))));

inBrowser('in a browser without internet', () => {
  const scene = pagesScene();

  test.each(VIEWS)(
    '$path ($theme, $width px) is accessible, fits, and makes no requests to other hosts',
    async ({ path, drawn, ...view }) => {
      const { faults, foreign } = await scene.visit({ path: path, ...view }, async (page) => {
        await page.waitForSelector(drawn, { state: 'attached' });
        expect(await violations(page)).toEqual([]);
        expect(await overflow(page)).toBeLessThanOrEqual(0);
      });
      expect(foreign).toEqual([]);
      expect(faults.filter((fault) => path !== '/nowhere' || !fault.includes('404'))).toEqual([]);
    },
  );

  test.each(PAGES)(
    '$path works by keyboard: the skip link comes first, and focus is always visible',
    async ({ path, drawn }) => {
      await scene.visit(path, async (page) => {
        await page.waitForSelector(drawn, { state: 'attached' });
        const seen: string[] = [];
        for (let stop = 0; stop < 6; stop += 1) {
          await page.keyboard.press('Tab');
          const [text, isMarked] = await page.evaluate<[string, boolean]>(`[
          document.activeElement.textContent.trim(),
          getComputedStyle(document.activeElement).outlineStyle !== 'none',
        ]`);
          seen.push(text);
          if (stop < 5) expect({ text, isMarked }).toEqual({ text, isMarked: true });
        }
        expect(seen.slice(0, 5)).toEqual(['Skip to content', 'Scopegate', 'REST', 'GraphQL', 'Errors']);
        await page.keyboard.press('Home');
        await page.locator('.skip').focus();
        await page.keyboard.press('Enter');
        expect(await page.evaluate('document.activeElement.id')).toBe('content');
      });
    },
  );

  test('/graphql falls back to GraphiQL, where an example runs with a key in the header editor', async () => {
    const { faults, foreign } = await scene.visit('/graphql', async (page) => {
      await page.waitForURL('**/graphiql');
      for (const tab of ['QuotesWithLines', 'SalesByMonth']) {
        await page.getByRole('button', { name: tab, exact: true }).click();
        await writeKey(page, scene.key);
        await run(page);
        await response(page).getByText('total_minor').first().waitFor();
      }
    });
    expect(new Set(foreign.map((url) => new URL(url).hostname))).toEqual(new Set(['sandbox.embed.apollographql.com']));
    expect(faults.filter((fault) => !fault.includes('ERR_INTERNET_DISCONNECTED'))).toEqual([]);
  });

  test("the landing page has a command to copy, with the browser's URL", async () => {
    await scene.visit('/', async (page) => {
      const command = page.locator('.command', { hasText: '/api/v1/quotes' });
      await command.getByRole('button').press('Enter');
      await command.getByText('Copied').waitFor();
      expect(await page.evaluate('navigator.clipboard.readText()')).toContain(`"${scene.gateway.url}/api/v1/quotes`);
    });
  });
});
