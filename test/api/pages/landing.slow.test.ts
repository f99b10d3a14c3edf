import { UUID } from '../../../src/units';
import { eventually } from '../http/eventually';
import type { Json } from '../../support/client';
import { button, copied, expectAccessible, hasFocus, inBrowser, says, unsent, VIEWS } from '../../support/browser';
import { BROKEN, output, pagesScene } from '../../support/fixtures/pages';

/** The pages, with a selector that matches once they are rendered. */
const PAGES: readonly { path: string; drawn: string }[] = [
  { path: '/', drawn: '#status[data-state=ready]' },
  { path: '/errors', drawn: '.errors' },
  { path: '/errors/rate_limited', drawn: 'pre' },
  { path: '/nowhere', drawn: 'h1' },
  { path: '/guides', drawn: 'h1' },
  { path: '/guides/api', drawn: 'pre' },
  { path: '/api/v1/docs', drawn: 'h1' },
  { path: '/api/v1/docs/products/upsert', drawn: 'h1' },
  { path: '/graphiql', drawn: '.graphiql-query-editor textarea[aria-label]' },
];

inBrowser('in a browser without internet', () => {
  const scene = pagesScene();

  test.each(PAGES.flatMap((page) => VIEWS.map((view) => ({ ...page, ...view }))))(
    '$path ($theme, $width px) is accessible, fits, and makes no requests to other hosts',
    async ({ drawn, ...where }) => {
      const page = await scene.visit({ ...where, ...(where.path === '/nowhere' && { tolerates: BROKEN }) });
      await page.waitForSelector(drawn, { state: 'attached' });
      await expectAccessible(page);
    },
  );

  test.each(PAGES)(
    '$path works by keyboard: the skip link comes first, and focus is always visible',
    async ({ path, drawn }) => {
      const page = await scene.visit({ path, tolerates: BROKEN });
      await page.waitForSelector(drawn, { state: 'attached' });
      // in one place on all pages
      expect(await page.getByRole('link', { name: 'Scopegate', exact: true }).boundingBox()).toMatchObject({ x: 16 });
      for (const name of ['Skip to content', 'Scopegate', 'REST', 'GraphQL', 'Guides', 'Errors']) {
        await page.keyboard.press('Tab');
        await hasFocus(page.getByRole('link', { name, exact: true }));
        expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).not.toBe('none');
      }
      await page.keyboard.press('Home');
      await page.getByRole('link', { name: 'Skip to content' }).press('Enter');
      expect(await page.evaluate('document.activeElement.id')).toBe('content');
    },
  );

  test.each([...PAGES, { path: '/graphql' }])(
    '$path shows no button that does nothing yet while its script is missing',
    async ({ path }) => {
      const page = await scene.visit({ path: '/errors', tolerates: BROKEN });
      await page.route('**/*.js', unsent);
      await page.goto(scene.gateway.url + path);
      expect(await page.getByRole('button', { disabled: false }).allInnerTexts()).toEqual([]);
    },
  );

  test('/graphql falls back to GraphiQL', async () => {
    const tolerates = /ERR_INTERNET_DISCONNECTED|^https:\/\/sandbox\.embed\.apollographql\.com\//;
    const page = await scene.visit({ path: '/graphql', tolerates });
    await page.waitForURL('**/graphiql');
  });

  test("the landing page's first request has the browser's URL, is copied in the language that is chosen, or selected if the browser refuses, and gets the answer beside it", async () => {
    const page = await scene.visit('/');
    await page.clock.install();
    const first = page.getByRole('region', { name: 'First request' });
    const copy = first.getByRole('button').first();
    await Promise.all([says(first, 'Copied'), copy.press('Enter')]);
    await copy.press('Enter');
    await page.clock.runFor(5000);
    await button(first, 'Copy').first().waitFor();
    const command = await copied(page);
    const printed = await output(['bash', '-s'], command.replace('curl', 'curl -s'), { SCOPEGATE_KEY: scene.key });
    const shown: Json = JSON.parse(await first.getByLabel('Answer').innerText());
    expect(JSON.parse(printed)).toEqual({ ...shown, data: [{ ...shown.data[0], id: expect.stringMatching(UUID) }] });
    await first.getByText('Python', { exact: true }).click();
    await copy.click();
    await eventually(async () => (await copied(page)).includes(`Scopegate(url="${scene.gateway.url}")`));
    await page.reload();
    const refusal = `Promise.reject(new DOMException('', 'NotAllowedError'))`;
    await page.evaluate(`navigator.clipboard.writeText = () => ${refusal}`);
    // it says so for 3 s
    await Promise.all([says(first, 'Press Ctrl+C'), copy.click()]);
    expect(await page.evaluate('getSelection().toString()')).toContain(`${scene.gateway.url}/api/v1/products`);
  });
});
