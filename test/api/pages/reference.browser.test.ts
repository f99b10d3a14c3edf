import type { Locator, Page } from 'playwright-core';
import {
  button,
  expectAccessible,
  expectFits,
  expectInView,
  hasFocus,
  inBrowser,
  press,
  says,
  turn,
  VIEWS,
} from '../../support/browser';
import { document } from '../../support/openapi';
import { makeKey } from '../../support/factories';
import { BROKEN, enterKey, keyForm, pagesScene } from '../../support/fixtures/pages';

const OPERATIONS = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { operationId, tags }]) => {
    const name = `${String(tags[0])}/${operationId}`;
    return { method, path, link: `#/${name}`, id: `operations-${name.replace('/', '-')}` };
  }),
);
const WRITES = OPERATIONS.filter(({ method }) => method !== 'get');

/** Opens an operation from the list, unless it is open. */
async function open(page: Page, id: string): Promise<Locator> {
  const operation = page.locator(`#${id}`);
  await list(page)
    .locator(`a[href="${OPERATIONS.find((one) => one.id === id)!.link}"]`)
    .click();
  await operation.locator('.documented').waitFor();
  return operation;
}

const list = (page: Page): Locator => page.getByRole('navigation', { name: 'Operations' });
const box = async (locator: Locator): Promise<{ x: number; y: number; width: number; height: number }> =>
  (await locator.boundingBox())!;

inBrowser('the reference', () => {
  const scene = pagesScene();

  test('finds operations by name and path; each has a link that survives a reload', async () => {
    const page = await scene.visit('/api/v1/docs');
    const links = list(page).getByRole('link');
    await links.first().waitFor();
    expect(await links.count()).toBe(OPERATIONS.length);
    const search = list(page).getByRole('searchbox', { name: 'Search operations' });
    for (const [words, found] of [
      ['orders/{id}', ['#/orders/get_order']],
      ['messages of', ['#/requests/list_request_messages']],
      ['POST bulk PROD', ['#/products/upsert_products']],
      // matches in the name come before matches in parameters
      ['sku', ['#/products/upsert_products', '#/products/list_products']],
      ['idempotency_key_reused', WRITES.map(({ link }) => link)],
      ['idempotent-REPLAYED', WRITES.map(({ link }) => link)],
      ['nothing like this', []],
    ] as const) {
      await search.fill(words);
      await list(page)
        .getByRole('status')
        .getByText(found.length === 1 ? '1 operation' : `${String(found.length)} operations`)
        .waitFor();
      const shown = await links.evaluateAll((all: unknown[]) => all.map((one) => (one as { hash: string }).hash));
      expect(shown.filter((hash) => hash !== '')).toEqual(found);
    }
    await says(list(page), 'No operation matches nothing like this. Error codes are listed at /errors');
    await press(list(page), 'Clear search');
    await list(page).getByText('No operation matches').waitFor({ state: 'hidden' });
    expect(await links.count()).toBe(OPERATIONS.length);
    await page.locator('#operations-me-get_me .opblock-summary-control').focus();
    await page.keyboard.press('/');
    await page.keyboard.type('quotes/');
    await page.keyboard.press('Enter');
    await page.locator('#operations-quotes-get_quote .documented').waitFor();
    expect(await search.inputValue()).toBe('quotes/');
    await search.fill('orders/{id}');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    const order = page.locator('#operations-orders-get_order');
    await order.locator('.documented').waitFor();
    const link = `${scene.gateway.url}/api/v1/docs#/orders/get_order`;
    expect(page.url()).toBe(link);
    await page.reload();
    await order.locator('.documented').waitFor();
    expect(page.url()).toBe(link);
    expect(await page.evaluate("document.activeElement.closest('.opblock')?.id")).toBe('operations-orders-get_order');
    expect((await box(order)).y).toBeLessThan(100);
    // Back opens what was open before
    await page.locator('#operations-me-get_me .opblock-summary-control').click();
    await page.locator('#operations-me-get_me .documented').waitFor();
    expect(page.url()).toBe(`${scene.gateway.url}/api/v1/docs#/me/get_me`);
    await order.locator('.opblock-summary-control').click();
    await order.locator('.documented').waitFor({ state: 'detached' });
    await page.goBack();
    await order.locator('.documented').waitFor();
  }, 90_000);

  test('a link names an operation or group in any case, the list follows the reader, and unknown links are reported', async () => {
    const docs = `${scene.gateway.url}/api/v1/docs`;
    const page = await scene.visit('/api/v1/docs#/Requests/LIST_request_messages?x=1');
    const current = list(page).locator('a[aria-current]');
    const isCurrent = async (link: string): Promise<void> => {
      await list(page).locator(`a[aria-current][href="${link}"]`).waitFor();
      expect(await current.count()).toBe(1);
      const [one, frame] = await Promise.all([current, list(page)].map(box));
      expect(one!.y).toBeGreaterThanOrEqual(frame!.y);
      expect(one!.y + one!.height).toBeLessThanOrEqual(frame!.y + frame!.height);
    };
    await isCurrent('#/requests/list_request_messages');
    expect(page.url()).toBe(`${docs}#/requests/list_request_messages`);
    await page.reload();
    await isCurrent('#/requests/list_request_messages');
    const go = (hash: string): Promise<unknown> => page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
    await go('#/nope/nothing');
    await says(list(page), 'There is no operation nope/nothing. Search for it here.');
    await hasFocus(list(page).getByRole('searchbox'));
    await expectAccessible(page);
    await current.waitFor({ state: 'detached' });
    await go('#/Orders');
    await list(page).getByText('There is no operation').waitFor({ state: 'hidden' });
    expect((await box(page.locator('#operations-tag-orders'))).y).toBeLessThan(100);
    await page.locator('#operations-products-get_product').evaluate((block: unknown) => {
      (block as { scrollIntoView(): void }).scrollIntoView();
    });
    await isCurrent('#/products/get_product');
    // the current item has a border with system colours, and the list is not printed
    await page.emulateMedia({ forcedColors: 'active' });
    expect(await current.evaluate((link: unknown) => globalThis.getComputedStyle(link as never).outlineStyle)).toBe(
      'solid',
    );
    await page.emulateMedia({ media: 'print' });
    expect(await list(page).isVisible()).toBe(false);
  }, 90_000);

  test('shows list, text and request in three columns at 1280 pixels, the answer within the window, and each error on one line, with a link', async () => {
    const page = await scene.visit('/api/v1/docs#/quotes/list_quotes');
    const operation = page.locator('#operations-quotes-list_quotes');
    await operation
      .getByText(/^Responses/)
      .first()
      .click();
    const row = operation.locator('.response[data-code="403"]');
    const link = row.getByRole('link', { name: 'insufficient_scope' });
    expect(await link.getAttribute('href')).toBe('/errors/insufficient_scope');
    const [left, text, right, error] = await Promise.all(
      [list(page), operation.locator('.opblock-section').first(), operation.locator('.column'), row].map(box),
    );
    expect(error!.height).toBeLessThan(150);
    // the success response keeps its example
    await says(operation.locator('.response[data-code="200"]'), 'next_cursor');
    expect(left!.x + left!.width).toBeLessThanOrEqual(text!.x);
    expect(text!.x + text!.width).toBeLessThanOrEqual(right!.x);
    expect(right!.x + right!.width).toBeLessThanOrEqual(1280);
    expect(Math.min(text!.width, right!.width)).toBeGreaterThan(380);
    await enterKey(page, scene.key);
    await press(operation, 'Send request');
    await says(operation, /^HTTP 200 in/);
    for (const part of [
      button(operation, 'Send request'),
      operation.getByText(/^HTTP 200/),
      operation.locator('.answer pre').first(),
    ])
      await expectInView(part);
  });

  test('asks for confirmation before sending the unchanged example of a write', async () => {
    expect(WRITES.length).toBeGreaterThan(2);
    const page = await scene.visit({ path: '/api/v1/docs', tolerates: BROKEN });
    let sent = 0;
    page.on('request', (request) => {
      if (request.method() !== 'GET') sent += 1;
    });
    await enterKey(page, scene.key);
    for (const { id } of WRITES) {
      const operation = await open(page, id);
      const execute = operation.getByRole('button', { name: 'Send request' });
      await execute.press('Enter');
      const dialog = page.getByRole('dialog', { name: 'Send the example?' });
      await dialog.waitFor();
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      await execute.click();
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await dialog.waitFor({ state: 'detached' });
      expect({ id, sent }).toEqual({ id, sent: 0 });
      // another spelling of the same body is still the example
      const body = operation.locator('textarea');
      await body.fill(JSON.stringify(JSON.parse(await body.inputValue())));
      await execute.click();
      await dialog.getByRole('button', { name: 'Send the example' }).click();
      await operation.locator('.answer').waitFor();
      // nothing is sent before
      await operation.getByText('Sending…').waitFor({ state: 'detached' });
      expect({ id, sent }).toEqual({ id, sent: 1 });
      // a body of the visitor's own is sent at once
      await body.fill('{"other": 1}');
      await execute.click();
      await says(operation, /^HTTP 422 in/);
      expect({ id, sent }).toEqual({ id, sent: 2 });
      sent = 0;
    }
  }, 180_000);

  test('shows which operations a key may not call', async () => {
    const { key } = await makeKey(scene.gateway, scene.organisation, { scopes: ['quotes:read'] });
    const page = await scene.visit('/api/v1/docs');
    await enterKey(page, key);
    await says(list(page), 'your key lacks products:write');
    const lacks = async (link: string): Promise<string> => list(page).locator(`a[href="${link}"] small`).innerText();
    expect(await lacks('#/quotes/list_quotes')).toBe('');
    expect(await lacks('#/me/get_me')).toBe('');
    // one of several is enough
    expect(await lacks('#/events/list_events')).toBe('');
    await expectAccessible(page);
    await press(keyForm(page), 'Forget key');
    await list(page).getByText('your key lacks').first().waitFor({ state: 'detached' });
  });

  test('is accessible and not too long with operations and dialogs open, without internet', async () => {
    const page = await scene.visit('/api/v1/docs');
    const show = async (view: (typeof VIEWS)[number]): Promise<void> => {
      await turn(page, view);
      await expectFits(page);
    };
    const check = async (): Promise<void> => {
      for (const view of VIEWS) {
        await show(view);
        await expectAccessible(page);
      }
    };
    await enterKey(page, scene.key);
    for (const { id } of OPERATIONS) await open(page, id);
    expect(await page.locator('main').innerText()).not.toMatch(/\$ref|Resolver error|Could not resolve/i);
    await check();
    for (const view of [...VIEWS].reverse()) {
      await show(view);
      const heights = await Promise.all(
        OPERATIONS.map(async ({ id }) => ({ id, height: (await box(page.locator(`#${id}`))).height })),
      );
      expect(heights.filter(({ height }) => height > (view.width === 390 ? 4500 : 3300))).toEqual([]);
    }
    // the folded parts of a read and a write
    await page.goto(`${scene.gateway.url}/api/v1/docs?again#/products/list_products`);
    const read = await open(page, 'operations-products-list_products');
    const write = await open(page, 'operations-products-upsert_products');
    await read.getByRole('button', { name: 'Send request' }).click();
    await read.locator('.answer').waitFor();
    for (const folded of await page.locator('.documented > summary, .answer summary').all()) await folded.click();
    for (const headers of await page.locator('.answer-headers summary').all()) await headers.click();
    for (const schema of await page.getByRole('tab', { name: 'Schema' }).all()) await schema.click();
    await check();
    await show(VIEWS[0]!);
    await write.getByRole('button', { name: 'Send request' }).click();
    await page.getByRole('dialog', { name: 'Send the example?' }).waitFor();
    await check();
  }, 300_000);
});
