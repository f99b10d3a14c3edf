import type { Page } from 'playwright-core';
import { button, copy, expectAccessible, hasFocus, inBrowser, LATE, press, says, THEMES } from '../../support/browser';
import { pagesScene } from '../../support/fixtures/pages';

const field = (page: Page) => page.getByRole('combobox', { name: 'Search' });
const options = (page: Page) => page.getByRole('option');
const chosen = (page: Page) => page.getByRole('option', { selected: true });

inBrowser('the search and the bar of all pages', () => {
  const scene = pagesScene();

  test('Ctrl-K finds operations, guides, errors and settings by keyboard; a guide is copied as Markdown with this address', async () => {
    const page = await scene.visit('/guides/webhooks');
    const markdown = await copy(page, 'Copy as Markdown');
    expect(markdown).toContain(`"${scene.gateway.url}/api/v1/events?after=now"`);
    expect(markdown).toContain(`](${scene.gateway.url}/guides/jobs/events.md)`);

    const opener = button(page, 'Search');
    await opener.focus();
    await page.keyboard.press('Control+K');
    await hasFocus(field(page));
    // without words, the pages
    await says(chosen(page), 'REST reference');
    for (const [words, first] of [
      ['rate_limited', 'Rate limited'],
      ['verify', 'Verify'],
      ['put customers', 'Nothing found'],
      ['audit', 'Audit log'],
      ['/orders/{id}', 'Get an order'],
    ] as const) {
      await field(page).fill(words);
      await says(page.getByRole('dialog'), first);
      if (first !== 'Nothing found') await says(chosen(page), first);
      expect(await field(page).getAttribute('aria-expanded')).toBe(String(first !== 'Nothing found'));
    }
    // a name in the text below a heading
    await field(page).fill('idempot');
    await says(page.getByRole('listbox'), 'Retrying');
    await field(page).fill('order');
    await says(chosen(page), 'List orders');
    for (const theme of THEMES) {
      await page.emulateMedia({ colorScheme: theme });
      await expectAccessible(page);
    }
    await page.keyboard.press('ArrowUp');
    expect(await chosen(page).getAttribute('id')).toBe(await options(page).last().getAttribute('id'));
    expect(await field(page).getAttribute('aria-activedescendant')).toBe(await chosen(page).getAttribute('id'));
    await page.keyboard.press('Escape');
    await hasFocus(opener);
    await page.keyboard.press('Enter');
    // what was typed is selected, to be replaced
    await page.keyboard.type('verify');
    await says(chosen(page), 'Verify');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/guides/webhooks#verify');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.keyboard.press('Control+K');
    await page.keyboard.type('list orders');
    await says(chosen(page), 'List orders');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/api/v1/docs/orders/list');
    await page.reload();
    await page.evaluate(LATE);
    await press(page, 'Search');
    await says(page, 'The search cannot be loaded.');
  });

  test.each([true, false])(
    'on a phone the bar is one row, and its menu has all pages; with scripts: %s',
    async (javaScriptEnabled) => {
      const page = await scene.visit({ path: '/errors/forbidden', width: 390, javaScriptEnabled });
      const { height } = (await page.getByRole('banner').boundingBox())!;
      expect(height).toBeLessThan(60);
      expect(await button(page, 'Search').isVisible()).toBe(javaScriptEnabled);
      const main = page.getByRole('navigation', { name: 'Main' });
      expect(await main.isVisible()).toBe(false);
      await press(page, 'Menu');
      await main.getByRole('link', { name: 'Guides' }).waitFor();
      if (javaScriptEnabled) await expectAccessible(page);
      await main.getByRole('link', { name: 'Guides' }).click();
      await page.waitForURL('**/guides');
    },
  );
});
