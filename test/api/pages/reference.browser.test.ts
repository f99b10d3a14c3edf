import type { Page } from 'playwright-core';
import {
  button,
  copied,
  expectAccessible,
  hasFocus,
  hold,
  inBrowser,
  LATE,
  lost,
  press,
  says,
  THEMES,
  unsent,
} from '../../support/browser';
import { BROKEN, enterKey, keyForm, pagesScene } from '../../support/fixtures/pages';
import { document } from '../../support/openapi';

const DOCS = '/api/v1/docs';
const WRITES = Object.values(document.paths).flatMap((methods) =>
  Object.keys(methods).filter((method) => method !== 'get'),
);

const list = (page: Page) => page.getByRole('navigation', { name: 'Reference' });
const answer = (page: Page) => page.getByRole('region', { name: 'Answer' });
const SAMPLE = '#language pre:visible';

inBrowser('the reference', () => {
  const scene = pagesScene();

  test('an operation is found by the search, tried with a key, and its answer is shown', async () => {
    const page = await scene.visit(DOCS);
    const search = list(page).getByRole('searchbox', { name: 'Search the reference' });
    const links = list(page).getByRole('link').filter({ visible: true });
    for (const [words, found] of [
      ['idempotency_key_reused', WRITES.length],
      ['list ORDERS', 1],
      ['pagin', 1],
      ['GET /orders/{id}', 1],
      ['orders placed_since', 1],
    ] as const) {
      await search.fill(words);
      await says(list(page).getByRole('status'), `${String(found)} found`);
      expect(await links.count()).toBe(found);
    }
    await search.fill('nothing like this');
    await says(list(page), 'Nothing found for “nothing like this”');
    await search.fill('');
    await search.blur();
    await page.keyboard.press('/');
    await hasFocus(search);
    await page.keyboard.type('list orders');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**${DOCS}/orders/list`);
    expect(await list(page).locator('[aria-current=page]').innerText()).toContain('List orders');

    await press(page, 'Try it');
    await enterKey(page, scene.key);
    const sort = page.getByLabel('sort', { exact: true });
    expect(await sort.locator('option:checked').innerText()).toBe('default');
    expect(await sort.evaluate((select) => getComputedStyle(select).backgroundImage)).toContain('gradient');
    await page.getByLabel('limit', { exact: true }).fill('1');
    await page.getByLabel('completed', { exact: true }).check();
    await page
      .getByLabel('shipped', { exact: true })
      .or(page.getByLabel('confirmed', { exact: true }))
      .check();
    await press(page, 'Copy as curl');
    const command = await copied(page);
    expect(command).toContain('/api/v1/orders?status=confirmed&status=completed&limit=1');
    expect(command).not.toContain(scene.key);
    await press(page, 'Send request');
    await says(answer(page), 'HTTP 200');
    expect(await answer(page).innerText()).toMatch(/\d ms · [\d.]+ k?B[^]*\d+ headers[^]*"next_cursor"/);
    await answer(page)
      .getByText(/^\d+ headers/)
      .click();
    await says(answer(page), /x-request-id: /);
    await page.keyboard.press('Escape');
    // the sample has the request, not the key
    expect(await page.locator(SAMPLE).innerText()).toContain('limit=1');
    expect(await page.locator('body').innerText()).not.toContain(scene.key);
    // tabs by keyboard; the language is kept
    await page.getByRole('radio', { name: 'curl' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await page.goto(`${scene.gateway.url}${DOCS}/products/upsert`);
    expect(await page.locator(SAMPLE).innerText()).toContain('requests.post(');
    await page.goto(`${scene.gateway.url}${DOCS}/products/add-attachment`);
    expect(await page.locator(SAMPLE).innerText()).toContain('requests.post(');
    await page.goto(`${scene.gateway.url}${DOCS}/products/upsert`);
    await page.getByRole('radio', { name: '422' }).focus();
    await page.keyboard.press('Space');
    await says(page.getByRole('complementary', { name: 'Samples' }), 'validation_failed');
  });

  test('while the gateway checks the key, the drawer says so', async () => {
    const page = await scene.visit(`${DOCS}/me/get`);
    const next = await hold(page, '**/api/v1/me', undefined, 1);
    await press(page, 'Try it');
    await keyForm(page).getByLabel('API key').fill(scene.key);
    await press(page, 'Use key');
    const check = await next();
    await press(page, 'Send request');
    await says(page.getByRole('dialog').getByRole('status'), 'Checking your API key…');
    await check.continue();
    await says(answer(page), 'HTTP 200');
  });

  test('a write asks before it sends the example, and is made once; a key that is refused, lacks the scope, or a gateway that is away is said', async () => {
    const page = await scene.visit({ path: `${DOCS}/products/upsert`, tolerates: BROKEN });
    const sent: (string | undefined)[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST') sent.push(request.headers()['idempotency-key']);
    });
    await press(page, 'Try it');
    await page.setViewportSize({ width: 1280, height: 300 });
    await page.getByRole('dialog').evaluate((drawer) => {
      drawer.scrollTo(0, drawer.scrollHeight);
    });
    // what waited for a key is not sent by one that is entered later
    await press(page, 'Send request');
    await press(page, 'Send the example');
    await says(page, 'Waiting for your API key above.');
    await hasFocus(keyForm(page).getByLabel('API key'));
    // it is scrolled into view
    expect((await keyForm(page).getByLabel('API key').boundingBox())!.y).toBeGreaterThanOrEqual(0);
    await page.setViewportSize({ width: 1280, height: 844 });
    await press(page, 'Close');
    await press(page, 'Try it');
    const field = keyForm(page).getByLabel('API key');
    await field.fill('svc_live_wrong');
    await press(page, 'Use key');
    await says(keyForm(page), 'The gateway refuses this key');
    await enterKey(page, scene.key);
    await button(page, 'Send request').dblclick();
    await says(page, 'The body is still the example');
    expect(sent).toEqual([]);
    await press(page, 'Send the example');
    await says(answer(page), 'HTTP 200');
    await says(page.getByRole('dialog').getByRole('status'), /^HTTP 200 in \d+ ms$/);
    await hasFocus(button(page, 'Send request'));
    expect(sent).toHaveLength(1);
    await page.route('**/api/v1/products/bulk', unsent);
    await page.getByLabel('Body', { exact: true }).fill('{"products": []}');
    await press(page, 'Send request');
    await says(answer(page), 'The gateway cannot be reached. Check your connection, then send this again.');
    expect(sent).toHaveLength(2);
    await page.unroute('**/api/v1/products/bulk');
    await press(page, 'Send request');
    await says(answer(page), 'HTTP 422');
    expect(await page.getByText('Not in your key’s scopes').first().isVisible()).toBe(false);

    const header = page.getByLabel('Idempotency-Key', { exact: true });
    await header.fill('clé');
    await press(page, 'Send request');
    await says(page, 'Idempotency-Key cannot be sent: headers must be plain ASCII text.');
    await header.fill('');
    await page.getByLabel('Body', { exact: true }).fill('{"products": [{"sku": "ONCE", "name": "Once"}]}');
    await page.route('**/api/v1/products/bulk', lost);
    await page.evaluate(`for (const press of [1, 2]) document.querySelector('#request [type=submit]').click()`);
    await says(answer(page), 'The gateway cannot be reached.');
    await page.unroute('**/api/v1/products/bulk');
    await press(page, 'Send request');
    await says(answer(page), 'HTTP 200');
    await answer(page)
      .getByText(/^\d+ headers/)
      .click();
    await says(answer(page), /idempotent-replayed: true/);
    await press(page, 'Send request');
    await answer(page)
      .getByText(/idempotent-replayed/)
      .waitFor({ state: 'detached' });
    await says(answer(page), 'HTTP 200');
    const [first, again, next, ...more] = sent.slice(3);
    expect([again, more]).toEqual([first, []]);
    await page.evaluate(LATE);
    await press(page, 'Send request');
    await says(answer(page), 'The gateway did not answer within 60 s. Send this again.');
    expect(next).not.toBe(first);

    await page.goto(`${scene.gateway.url}${DOCS}/products/delete-attachment`);
    await press(page, 'Try it');
    await press(page, 'Send request');
    await says(page, /^This deletes \/api\/v1\/products\/[^/]+\/attachments\/\S+ from the data of your organisation/);
    await press(page, 'Delete');
    await says(answer(page), 'HTTP 404');
  });

  test('where the browser refuses to copy, the text is shown and selected', async () => {
    const page = await scene.visit(`${DOCS}/products/upsert`);
    const selected = (): Promise<string> => page.evaluate('getSelection().toString()');
    // as on http
    await page.evaluate(`Object.defineProperty(navigator, 'clipboard', { value: undefined })`);
    // shown for 3 s
    await Promise.all([button(page, 'Press Ctrl+C').waitFor(), page.locator('#language [data-copy]').click()]);
    expect(await selected()).toMatch(/^curl /);
    await press(page, 'Try it');
    const drawer = page.getByRole('dialog');
    await Promise.all([button(drawer, 'Press Ctrl+C').waitFor(), press(drawer, 'Copy as curl')]);
    await page.keyboard.press('Control+C');
    expect(await selected()).toMatch(/^curl /);
    expect(await answer(page).getByLabel('Request as curl').innerText()).toBe(await selected());
  });

  test('is accessible and fits, light and dark, at 1440 and 390 pixels, also with the form open', async () => {
    const page = await scene.visit(`${DOCS}/requests/update`);
    for (const theme of THEMES) {
      for (const width of [1440, 390]) {
        await page.setViewportSize({ width, height: 844 });
        await page.emulateMedia({ colorScheme: theme });
        if (width === 390) await list(page).getByText('Contents').click();
        expect(await list(page).getByRole('searchbox').isVisible()).toBe(true);
        await expectAccessible(page);
        if (width === 390) await list(page).getByText('Contents').click();
        // the rest of the page is the same behind it
        if (theme === 'light') continue;
        await press(page, 'Try it');
        await expectAccessible(page);
        await press(page, 'Close');
      }
    }
    await page.goto(scene.gateway.url + DOCS);
    await expectAccessible(page);
  });

  test('works without scripts: pages, links, tabs, and nothing that does not work', async () => {
    const page = await scene.visit({ path: DOCS, javaScriptEnabled: false });
    await page.getByRole('link', { name: 'List orders' }).last().click();
    await page.waitForURL(`**${DOCS}/orders/list`);
    expect(await page.getByRole('button', { disabled: false }).count()).toBe(0);
    expect(await list(page).getByRole('searchbox').isDisabled()).toBe(true);
    await page.getByText('TypeScript', { exact: true }).click();
    expect(await page.locator(SAMPLE).innerText()).toContain('await fetch(');
    await page.getByText(/^\d+ fields of data/).click();
    await says(page, 'Number; unique in the organisation.');
  });

  test('says how to send a file, and does not try that', async () => {
    const page = await scene.visit(`${DOCS}/requests/add-attachment`);
    await says(page, 'The bytes of the file, as they are.');
    expect(await page.locator(SAMPLE).innerText()).toContain("--data-binary '@drawing.pdf'");
    expect(await button(page, 'Try it').count()).toBe(0);
    await says(page, 'Files cannot be sent or shown here');
    await expectAccessible(page);
  });

  test('a file is saved and never shown, even if another program stored that it is HTML', async () => {
    const page = await scene.visit('/errors');
    const [before, authorization] = [page.url(), `Bearer ${scene.key}`];
    const data = scene.gateway.databases.organisationData(scene.organisation);
    const { _id } = (await data.database.collection('products').findOne({}))!;
    const at = `${scene.gateway.url}/api/v1/products/${String(_id)}/attachments`;
    const sent = { authorization, 'content-type': 'text/plain', 'content-disposition': 'inline; filename="page.html"' };
    const body = '<!doctype html><title>shown</title><script>document.title = "run"</script>';
    const { id } = (await (await fetch(at, { method: 'POST', headers: sent, body })).json()) as { id: string };
    await page.setExtraHTTPHeaders({ authorization });
    for (const type of ['text/plain', 'text/html', 'image/svg+xml']) {
      const stored = { $set: { 'attachments.0.content_type': type } };
      await data.database.collection('products').updateOne({ _id }, stored);
      const saved = page.waitForEvent('download');
      // the navigation ends where it began
      await page.goto(`${at}/${id}`).catch(() => undefined);
      const download = await saved;
      expect([type, download.suggestedFilename(), page.url()]).toEqual([type, 'page.html', before]);
    }
  });
});
