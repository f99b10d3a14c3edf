import { copied, expectAccessible, hasFocus, inBrowser, press, says, VIEWS, WIDTHS } from '../support/browser';
import { response, run, writeKey } from './graphiqlPage';
import { BROKEN, pagesScene } from './scene';

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

/** Copy buttons under which a command has text, wherever it is scrolled to. */
const COVERED = `[...document.querySelectorAll('.command')].flatMap((command) => {
  const [pre, button] = [command.querySelector('pre'), command.querySelector('button')];
  const range = document.createRange();
  range.selectNodeContents(pre);
  const positions = [0, pre.scrollWidth];
  const box = button.getBoundingClientRect();
  const isUnder = (line) => line.right > box.left && line.left < box.right && line.bottom > box.top && line.top < box.bottom;
  const frame = pre.getBoundingClientRect();
  const seen = (line) => ({
    left: Math.max(line.left, frame.left), right: Math.min(line.right, frame.right), top: line.top, bottom: line.bottom,
  });
  return positions.some((x) => {
    pre.scrollLeft = x;
    return [...range.getClientRects()].map(seen).some(isUnder);
  })
    ? [pre.textContent]
    : [];
})`;

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
      for (const name of ['Skip to content', 'Scopegate', 'REST', 'GraphQL', 'Errors']) {
        await page.keyboard.press('Tab');
        await hasFocus(page.getByRole('link', { name, exact: true }));
        expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).not.toBe('none');
      }
      await page.keyboard.press('Home');
      await page.getByRole('link', { name: 'Skip to content' }).press('Enter');
      expect(await page.evaluate('document.activeElement.id')).toBe('content');
    },
  );

  test('/graphql falls back to GraphiQL, where an example runs with a key in the header editor', async () => {
    const tolerates = /ERR_INTERNET_DISCONNECTED|^https:\/\/sandbox\.embed\.apollographql\.com\//;
    const page = await scene.visit({ path: '/graphql', tolerates });
    await page.waitForURL('**/graphiql');
    for (const tab of ['QuotesWithLines', 'SalesByMonth']) {
      await press(page, tab);
      await writeKey(page, scene.key);
      await run(page);
      await says(response(page), 'total_minor');
    }
  });

  test("the landing page's commands have the browser's URL, and can be copied, or are selected if the browser refuses", async () => {
    const page = await scene.visit('/');
    const command = page.locator('.command', { hasText: '/api/v1/quotes' });
    await command.getByRole('button').press('Enter');
    await says(command, 'Copied');
    expect(await copied(page)).toContain(`"${scene.gateway.url}/api/v1/quotes`);
    await page.reload();
    const refusal = `Promise.reject(new DOMException('', 'NotAllowedError'))`;
    await page.evaluate(`navigator.clipboard.writeText = () => ${refusal}`);
    await command.getByRole('button').click();
    await says(command, 'Press Ctrl+C');
    expect(await page.evaluate('getSelection().toString()')).toContain(`${scene.gateway.url}/api/v1/quotes`);
  });

  test.each(WIDTHS)('the landing page has no copy button over a command at %i px', async (width) => {
    const page = await scene.visit({ path: '/', width });
    await page.waitForSelector('.command button:not([hidden])');
    const cut = await page.evaluate(`[...document.querySelectorAll('[aria-labelledby=calls] pre')].filter((pre) => {
      pre.firstChild.textContent = pre.textContent.replace('$SCOPEGATE_KEY', ${JSON.stringify(scene.key)});
      return innerWidth === 1280 && pre.scrollWidth > pre.clientWidth;
    }).length`);
    expect(cut).toBe(0);
    // as long as a demo's key, or longer
    await page.evaluate(`for (const code of document.querySelectorAll('.command code')) {
      code.append(' '.concat('x'.repeat(200)));
      code.prepend('y'.repeat(200), '\\n');
    }`);
    expect(await page.evaluate(COVERED)).toEqual([]);
  });
});
