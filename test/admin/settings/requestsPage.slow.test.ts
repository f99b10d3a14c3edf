import type { Locator, Page } from 'playwright-core';
import { ERROR_CODES } from '../../../src/errors';
import { organisationUsageId } from '../../../src/organisations/keyUsage';
import { HOUR } from '../../../src/units';
import { eventually } from '../../api/http/eventually';
import { button, copied, expectAccessible, expectFits, hasFocus, inBrowser, press, says } from '../../support/browser';
import { client } from '../../support/client';
import { makeKey, makeOrganisation } from '../../support/factories';
import { served } from '../../support/gateway';
import * as on from '../../support/settingsPage';
import { someRequests } from './rows';

const { counted, follow, search, section } = on;

inBrowser('requests on the settings page', () => {
  const { gateway, visit } = on.pageScene({ on: 'Requests' });
  const silent = served({ REQUEST_LOG: 'off' });
  const requests = (page: Page): Locator => section(page, 'Requests');
  const found = (page: Page): Locator => requests(page).getByRole('rowheader');
  const rows = (page: Page): Locator =>
    requests(page)
      .getByRole('row')
      .filter({ has: page.getByRole('rowheader') });
  /** Waits until exactly these operations, or paths of those that have none, are listed. */
  const listed = (page: Page, what: readonly string[]): Promise<unknown> =>
    eventually(async () => String(await found(page).allTextContents()) === String(what));

  test('a request can be found by the request id in its error, and offers to add the missing scope to its key', async () => {
    const of = await makeOrganisation(gateway);
    const { key } = await makeKey(gateway, of, { name: 'web shop', scopes: ['quotes:read'] });
    const { body } = await client(gateway, key).get('/orders');
    await client(gateway, key).get('/quotes');
    const page = await visit(of);
    await says(requests(page), 'Requests are kept for 7 days');
    await eventually(async () => {
      await press(requests(page), 'Refresh');
      await requests(page).locator('button:text("Refresh"):not([aria-disabled="true"])').waitFor();
      return (await found(page).count()) === 2;
    });
    const id = requests(page).getByRole('searchbox', { name: 'Request id' });
    await id.fill(body.request_id);
    await listed(page, ['orders']);
    expect(search(page)).toBe(`?request_id=${String(body.request_id)}`);
    expect(await rows(page).innerText()).toMatch(
      /orders\s+web shop\s+REST\s+403\s+lacks orders:read\s+[\d.]+ ms\s+127\.0\.0\.1/,
    );
    await press(page, /^Details of orders at/);
    const details = on.dialog(page);
    await says(details, 'GET /api/v1/orders');
    await press(details, 'Copy');
    await says(details, 'Copied');
    expect(await copied(page)).toBe(body.request_id);
    const code = details.getByRole('link', { name: 'insufficient_scope' });
    expect(await code.getAttribute('href')).toBe('/errors/insufficient_scope');
    await press(details, 'Add orders:read to this key…');
    await says(details, /\+ orders:read/);
    await press(page, 'Cancel');
    expect(search(page)).toBe(`?request_id=${String(body.request_id)}`);
    await id.fill('no such id');
    await says(requests(page), 'No request with this id. It may be too old');
    await counted(found(page), 0);
  });

  test('every filter is kept in the URL, separately on the page of a key, and older requests can be shown', async () => {
    const of = await makeOrganisation(gateway);
    const shop = await makeKey(gateway, of, { name: 'shop' });
    const bot = await makeKey(gateway, of, { name: 'bot' });
    const [, fine] = await someRequests(gateway, of, shop.id, [
      { status: 404, code: 'not_found', operation: 'quote' },
      {},
      {
        ...{ face: 'graphql', method: 'POST', path: '/graphql', operation: 'quotes me' },
        ...{ code: 'invalid_request', ms: 1234 },
      },
      { status: 499, operation: 'orders' },
    ]);
    await someRequests(gateway, of, bot.id, [
      {
        ...{ face: 'mcp', path: '/mcp', operation: null, status: 429, code: 'rate_limited' },
        at: new Date(Date.now() - HOUR),
      },
    ]);
    const page = await visit(of);
    const all = ['quote', 'quotes', 'quotes me', 'orders', '/mcp'];
    const failed = ['quote', 'quotes me', '/mcp'];
    await listed(page, all);
    for (const [at, text] of [
      [0, /not_found/],
      [2, /quotes me\s+shop\s+GraphQL\s+400\s+invalid_request\s+1\.2 s/],
      [3, /caller disconnected/],
      [4, /\/mcp\s+bot\s+MCP\s+429/],
    ] as const)
      expect(await rows(page).nth(at).innerText()).toMatch(text);
    const steps = (): Promise<number> => page.evaluate('history.length');
    const before = await steps();
    for (const [label, name, value, expected] of [
      ['Result', 'result', 'failed', failed],
      ['Result', 'result', 'successful', ['quotes', 'orders']],
      // GraphQL answers with 200 what its code says is a 400
      ['Status', 'status', '4xx', ['quote', 'quotes me', 'orders', '/mcp']],
      ['Period', 'since', '1', all.slice(0, 4)],
      ['Key', 'key', bot.id, ['/mcp']],
      ['Error code', 'code', 'not_found', ['shop', 'quote']],
      ['API', 'api', 'mcp', ['/mcp']],
      ['Operation', 'operation', 'quotes me', ['quotes me']],
      ['Request id', 'request_id', fine!.request_id, ['quotes']],
    ] as const) {
      const field = requests(page).getByRole('group', { name: 'Filter requests' }).getByLabel(label);
      const isText = ['Operation', 'Error code', 'Request id'].includes(label);
      const set = (text: string): Promise<unknown> => (isText ? field.fill(text) : field.selectOption(text));
      await set(value);
      await listed(page, expected);
      expect(search(page)).toBe(`?${new URLSearchParams({ [name]: value }).toString()}`);
      if (name === 'operation') {
        await page.reload();
        await listed(page, expected);
        expect(await field.inputValue()).toBe(value);
      }
      await set('');
      await listed(page, all);
    }
    expect(await steps()).toBe(before);
    expect(await page.locator('datalist option').count()).toBeGreaterThan(10);

    await requests(page).getByLabel('Result').selectOption('failed');
    await listed(page, failed);
    await rows(page).nth(0).getByRole('link', { name: 'shop' }).click();
    await listed(page, all.slice(0, 4));
    expect([on.path(page), search(page)]).toEqual([`/settings/keys/${shop.id}`, '']);
    await requests(page).getByLabel('Status').selectOption('499');
    await listed(page, ['orders']);
    expect(search(page)).toBe('?status=499');
    await page.goBack();
    await listed(page, failed);
    expect(search(page)).toBe('?result=failed');
    await page.goForward();
    await listed(page, ['orders']);

    const more = Array.from({ length: 25 }, (_, at) => ({ request_id: `more-${String(at)}`, status: 499 }));
    await someRequests(gateway, of, shop.id, more);
    const older = button(requests(page), 'Show older requests');
    await press(requests(page), 'Refresh');
    await counted(found(page), 20);
    await older.click();
    await counted(found(page), 26);
    await hasFocus(button(rows(page).nth(20), /^Details of quotes at/));
    expect(await older.isVisible()).toBe(false);
    await on.goTo(page, 'Requests');
    await counted(found(page), 20);
    await older.press('Enter');
    await counted(found(page), 30);
    await hasFocus(button(rows(page).nth(20), /^Details of/));
  });

  test('a count of an error code leads to its requests, by key and with what each key lacks', async () => {
    const of = await makeOrganisation(gateway);
    const [shop, bot] = await Promise.all(['shop', 'bot'].map((name) => makeKey(gateway, of, { name })));
    const lacks = (scope: string) => ({ status: 403, code: 'insufficient_scope', missing_scope: scope });
    await someRequests(gateway, of, shop!.id, [lacks('orders:read'), {}]);
    await someRequests(gateway, of, bot!.id, [lacks('quotes:read'), lacks('products:read')]);
    const details = new Map([['codes.insufficient_scope', 3]]);
    const counts = { hour: new Date(), requests: 4, errors: 3, rate_limited: 0 };
    await gateway.control.usage.add([{ ...counts, keyId: organisationUsageId(of.id), details }]);
    const page = await visit({ of, on: 'Overview' });
    await page.getByText('By error code').click();
    await page.getByRole('link', { name: 'insufficient_scope' }).click();
    await counted(found(page), 3 + 2);
    expect(search(page)).toBe('?code=insufficient_scope&since=24');
    const byKey = requests(page).getByRole('table', { name: 'insufficient_scope by key' });
    expect(await byKey.locator('tbody tr').allInnerTexts()).toEqual([
      expect.stringMatching(/^bot\s+2\s+products:read Add products:read to this key…\s+quotes:read Add/),
      expect.stringMatching(/^shop\s+1\s+orders:read Add/),
    ]);
    await expectAccessible(page);
    await byKey.getByRole('link', { name: 'bot' }).click();
    await on.heading(page, 'bot').waitFor();
    await counted(found(page), 2);
    await page.goBack();
    await counted(byKey.locator('tbody tr'), 2);
    expect(search(page)).toBe('?code=insufficient_scope&since=24');
  });

  test('keys of one name, such as one that was rotated and the next, are told apart by their last four', async () => {
    const of = await makeOrganisation(gateway);
    const made = await Promise.all([1, 2].map(() => makeKey(gateway, of, { name: 'till' })));
    for (const { id } of made) await someRequests(gateway, of, id, [{}]);
    const page = await visit(of);
    for (const { key } of made) await says(rows(page), `…${key.slice(-4)}`);
  });

  test('an organisation without requests is told so, and so is one whose gateway stores none', async () => {
    const page = await visit({ of: await makeOrganisation(silent), role: 'member', at: silent });
    await says(requests(page), 'This gateway stores no requests');
    await says(requests(page), 'No stored requests.');
    expect(await requests(page).innerText()).not.toMatch(/Every failed|No requests in the last|appears within/);
    await requests(page).getByLabel('Status').selectOption('5xx');
    await says(requests(page), 'No matching requests.');
  });

  test('every error code fits into the narrowest windows', async () => {
    const of = await makeOrganisation(gateway);
    const { id } = await makeKey(gateway, of, { name: 'shop' });
    const codes = Object.entries(ERROR_CODES).map(([code, { status }]) => ({ code, status }));
    await someRequests(gateway, of, id, codes);
    const page = await visit({ of, width: 390, theme: 'dark' });
    for (const isOfKey of [false, true]) {
      if (isOfKey) {
        await on.goTo(page, 'API keys');
        await follow(page, 'shop');
      }
      await says(requests(page), 'invalid_request');
      if (codes.length > 20) await press(requests(page), 'Show older requests');
      await counted(found(page), codes.length);
      for (const width of [390, 375, 360]) {
        await page.setViewportSize({ width, height: 800 });
        await expectFits(page);
      }
    }
  });
});
