import type { Locator, Page } from 'playwright-core';
import { ERROR_CODES } from '../../../src/errors';
import { organisationUsageId } from '../../../src/organisations/usageUnits';
import { HOUR } from '../../../src/units';
import { eventually } from '../../api/http/eventually';
import {
  button,
  copy,
  expectAccessible,
  expectFits,
  hasFocus,
  inBrowser,
  press,
  says,
  settled,
  unsent,
} from '../../support/browser';
import { makeKey, makeOrganisation } from '../../support/factories';
import { served } from '../../support/gateway';
import * as on from '../../support/settingsPage';
import { someRequests } from './rows';

const { counted, dialog, path, search, section } = on;

inBrowser('requests on the settings page', () => {
  const { gateway, visit, open } = on.pageScene({ on: 'Requests', ...on.BROKEN });
  const silent = served({ REQUEST_LOG: 'off' });
  const requests = (page: Page): Locator => section(page, 'Requests');
  const found = (page: Page): Locator => requests(page).getByRole('table', { name: 'Requests' }).getByRole('rowheader');
  const rows = (page: Page): Locator =>
    requests(page)
      .getByRole('table', { name: 'Requests' })
      .getByRole('row')
      .filter({ has: page.getByRole('rowheader') });
  const links = (page: Page): Locator => found(page).getByRole('link');
  /** Waits until exactly these requests are listed, by the text of their links. */
  const listed = (page: Page, what: readonly string[]): Promise<unknown> =>
    eventually(async () => String(await links(page).allTextContents()) === String(what));
  const field = (page: Page): Locator => requests(page).getByRole('combobox', { name: 'Search requests' });
  const choose = (page: Page, name: string): Promise<void> => requests(page).getByText(name, { exact: true }).click();

  test('each has an address of its own, at which its details open beside the list, however old it is, and only for its organisation', async () => {
    const of = await makeOrganisation(gateway);
    const key = await makeKey(gateway, of, { name: 'web shop', scopes: ['quotes:read'] });
    const lacking = { status: 403, code: 'insufficient_scope', missing_scope: 'orders:read' };
    const many = Array.from({ length: 21 }, () => ({ ms: 0.3 }));
    const [first, ...others] = await someRequests(gateway, of, key.id, [
      { ...lacking, path: '/api/v1/orders', operation: 'orders', ms: 1234 },
      ...many,
    ]);
    const oldest = others.at(-1)!;
    const elsewhere = await makeOrganisation(gateway);
    const [foreign] = await someRequests(gateway, elsewhere, (await makeKey(gateway, elsewhere)).id, [{}]);
    const page = await visit(of);
    expect(await rows(page).first().innerText()).toMatch(
      /^403\s+GET \/orders\s*Missing scope orders:read\s+web shop\s+1\.2 s\s+(?:1 minute ago|just now)$/,
    );
    expect(await rows(page).nth(1).innerText()).toMatch(/^200\s+GET \/quotes\s+web shop\s+<1 ms\s/);
    await choose(page, 'Failed');
    await listed(page, ['GET /orders']);
    await says(page, 'the overview does not count either among its errors.');

    // anywhere in the row
    await rows(page)
      .first()
      .click({ position: { x: 500, y: 8 } });
    await says(dialog(page), 'GET /api/v1/orders');
    await says(dialog(page), 'HTTP 403');
    const address = page.url();
    expect([path(page), search(page)]).toEqual([`/settings/requests/${first!._id}`, '?result=failed']);
    expect(await copy(dialog(page), 'Copy')).toBe(first!.request_id);
    const code = dialog(page).getByRole('link', { name: 'insufficient_scope' });
    expect(await code.getAttribute('href')).toBe('/errors/insufficient_scope');
    await on.closeDetails(page);
    await hasFocus(links(page).first());
    await page.waitForURL('**/settings/requests?result=failed');
    await page.goForward();
    await says(dialog(page), 'HTTP 403');
    expect(page.url()).toBe(address);
    await page.goBack();
    await dialog(page).waitFor({ state: 'hidden' });
    await listed(page, ['GET /orders']);

    // the page of a key has the same filters in the same document
    await requests(page).getByRole('link', { name: 'web shop' }).first().click();
    await on.heading(page, 'web shop').waitFor();
    await page.getByRole('table', { name: 'Requests' }).and(page.locator(':visible')).waitFor();
    await page.goBack();
    await counted(requests(page).getByRole('radio', { checked: true }), 2);

    // it is not among the newest 20
    await open(page, `/settings/requests/${oldest._id}`);
    await says(dialog(page), oldest.request_id);
    await page.keyboard.press('Escape');
    await counted(found(page), 20);
    await page.waitForURL('**/settings/requests');
    await hasFocus(on.heading(page, 'Requests'));
    await open(page, `/settings/requests/${oldest._id}`);
    await dialog(page).getByRole('link', { name: 'web shop' }).click();
    await on.heading(page, 'web shop').waitFor();
    expect(await dialog(page).count()).toBe(0);
    await page.goBack();
    await says(dialog(page), oldest.request_id);
    await on.closeDetails(page);
    await counted(found(page), 20);

    for (const id of [foreign!._id, '689defbf-4477-4b15-966e-4830b650ded3']) {
      await open(page, `/settings/requests/${id}`);
      await says(dialog(page), 'This request is no longer stored, or never was.');
      expect(await dialog(page).innerText()).not.toContain(foreign!.request_id);
      await dialog(page).getByRole('link', { name: 'All requests' }).click();
      await counted(dialog(page), 0);
      await page.waitForURL('**/settings/requests');
    }
  });

  test('details do not open in place of a secret that is shown once', async () => {
    const of = await makeOrganisation(gateway);
    const { id } = await makeKey(gateway, of, { name: 'web shop' });
    const [request] = await someRequests(gateway, of, id, [{}]);
    const page = await visit(of);
    await open(page, `/settings/requests/${request!._id}`);
    await dialog(page).getByRole('link', { name: 'web shop' }).click();
    await press(page, 'Rotate');
    await on.rotate(page);
    const secret = await on.shown(page, 'The key');
    await page.evaluate('history.go(-2)');
    await page.waitForURL(`**/settings/requests/${request!._id}`);
    await settled(page);
    expect(await on.shown(page, 'The key')).toBe(secret);
    await on.saved(page);
  });

  test('one search finds a path, operation, request id or error code; filters and search are in the URL, separately on the page of a key', async () => {
    const of = await makeOrganisation(gateway);
    const shop = await makeKey(gateway, of, { name: 'shop' });
    const bot = await makeKey(gateway, of, { name: 'bot' });
    const graphql = { face: 'graphql', method: 'POST', path: '/graphql' } as const;
    const given = await someRequests(gateway, of, shop.id, [
      { status: 404, code: 'not_found', operation: 'quote', path: '/api/v1/quotes/1' },
      {},
      { ...graphql, operation: 'quotes me', code: 'invalid_request' },
      { ...graphql, operation: 'order_totals', operation_type: 'query', operation_name: 'SalesByMonth' },
      { ...graphql, operation: 'customer customer quotes', operation_type: 'query', operation_name: null },
      { status: 499, operation: 'orders', path: '/api/v1/orders' },
    ]);
    const at = new Date(Date.now() - 3 * HOUR);
    await someRequests(gateway, of, bot.id, [
      { face: 'mcp', path: '/mcp', operation: 'quotes', status: 429, code: 'rate_limited', at },
    ]);
    const page = await visit(of);
    const [one, list, old, named, fields, left, tool] = [
      ...[
        'GET /quotes/1',
        'GET /quotes',
        'quotes, me',
        'query SalesByMonth',
        'customer ×2, quotes',
        'GET /orders',
        'quotes',
      ],
    ] as const;
    const all = [one, list, old, named, fields, left, tool];
    await listed(page, all);
    for (const [index, text] of [
      [2, /^400\s+quotes, me\s*GraphQL\s*invalid_request/],
      [5, /^499\s+GET \/orders\s*Caller disconnected/],
      [6, /^429\s+quotes\s*MCP\s*rate_limited\s+bot/],
    ] as const)
      expect(await rows(page).nth(index).innerText()).toMatch(text);
    const steps = (): Promise<number> => page.evaluate('history.length');
    const before = await steps();
    for (const [text, expected] of [
      ['/quotes', [one, list]],
      ['SalesByMonth', [named]],
      ['me', [old]],
      // a segment of a path
      ['orders', [left]],
      [given[1]!.request_id, [list]],
      ['rate_limited', [tool]],
    ] as const) {
      await field(page).fill(text);
      await listed(page, expected);
      expect(search(page)).toBe(`?${new URLSearchParams({ search: text }).toString()}`);
    }
    await button(requests(page), 'Clear filters').click();
    await hasFocus(field(page));
    await listed(page, all);
    for (const [label, name, value, expected] of [
      ['Status', 'status', '4xx', [one, old, left, tool]],
      ['Key', 'key', bot.id, [tool]],
      ['API', 'api', 'mcp', [tool]],
    ] as const) {
      await requests(page).getByRole('group', { name: 'Filter requests' }).getByLabel(label).selectOption(value);
      await listed(page, expected);
      expect(search(page)).toBe(`?${name}=${value}`);
      await button(requests(page), 'Clear filters').click();
      await listed(page, all);
    }
    await choose(page, '1 hour');
    await listed(page, all.slice(0, 6));
    await choose(page, 'Successful');
    await listed(page, [list, named, fields, left]);
    expect(search(page).slice(1).split('&').sort()).toEqual(['result=successful', 'since=1']);
    expect(await steps()).toBe(before);
    // from anywhere in the settings
    await page.keyboard.press('Control+K');
    await page.keyboard.type('/quotes/1');
    await page.getByRole('option', { name: 'Search requests for “/quotes/1”' }).click();
    await listed(page, [one]);
    await field(page).fill('no such');
    await says(requests(page), 'No stored request matches.');
    await page.reload();
    await says(requests(page), 'No stored request matches.');
    expect(await field(page).inputValue()).toBe('no such');
    await requests(page).locator('.empty').getByRole('button', { name: 'Clear filters' }).click();
    await listed(page, all);
    expect(search(page)).toBe('');

    await choose(page, 'Failed');
    await rows(page).first().getByRole('link', { name: 'shop' }).click();
    await listed(page, all.slice(0, 6));
    expect([path(page), search(page)]).toEqual([`/settings/keys/${shop.id}`, '']);
    await rows(page).last().click();
    await says(dialog(page), '499: the caller disconnected');
    expect(path(page)).toBe(`/settings/requests/${given[5]!._id}`);
    await on.closeDetails(page);
    await page.waitForURL(`**/settings/keys/${shop.id}`);
    await requests(page).getByLabel('Status').selectOption('499');
    await listed(page, [left]);
    await page.goBack();
    await listed(page, [one, old, tool]);

    await on.calls(page, /request_log/, unsent);
    await press(requests(page), 'Refresh');
    await says(page.getByRole('alert'), 'Could not reach the gateway');
    await on.settled(page);
    expect(await page.getByText('Refreshed.').count()).toBe(0);
    await page.unroute('**/settings/graphql');
    await Promise.all([says(page, 'Refreshed.'), press(requests(page), 'Refresh')]);
  });

  test('a count of an error code leads to its requests, by key and with what each key lacks, which can be added', async () => {
    const of = await makeOrganisation(gateway);
    const [shop, bot] = await Promise.all(
      ['shop', 'bot'].map((name) => makeKey(gateway, of, { name, scopes: ['customers:read'] })),
    );
    const lacks = (scope: string) => ({ status: 403, code: 'insufficient_scope', missing_scope: scope });
    await someRequests(gateway, of, shop!.id, [lacks('orders:read'), {}]);
    await someRequests(gateway, of, bot!.id, [lacks('quotes:read'), lacks('products:read')]);
    const details = new Map([['codes.insufficient_scope', 3]]);
    const counts = { at: new Date(), requests: 4, errors: 3, rate_limited: 0 };
    await gateway.control.usage.add([{ ...counts, keyId: organisationUsageId(of.id), details }]);
    const page = await visit(of);
    await open(page, '/settings/requests?code=insufficient_scope&since=24');
    const byKey = requests(page).getByRole('table', { name: 'insufficient_scope by key' });
    await counted(byKey.locator('tbody tr'), 2);
    await counted(found(page), 3);
    expect(search(page)).toBe('?since=24&search=insufficient_scope');
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
    await rows(page).filter({ hasText: 'orders:read' }).last().click();
    await press(dialog(page), 'Add orders:read to this key…');
    await says(dialog(page), /\+ orders:read/);
    await press(page, 'Cancel');
    await page.waitForURL('**/settings/requests?*');
  });

  test('on a phone rows have two lines, of a key and of all, with every error code, and filters are folded', async () => {
    const of = await makeOrganisation(gateway);
    const made = await Promise.all([1, 2].map(() => makeKey(gateway, of, { name: 'till' })));
    const codes = Object.entries(ERROR_CODES).map(([code, { status }]) => ({ code, status }));
    await someRequests(gateway, of, made[0]!.id, codes);
    await someRequests(gateway, of, made[1]!.id, [{ at: new Date() }]);
    const page = await visit({ of, width: 390, theme: 'dark' });
    await counted(found(page), 20);
    // keys of one name, such as one that was rotated and the next, are told apart
    for (const { key } of made) await says(rows(page), `…${key.slice(-4)}`);
    const height = async (): Promise<number> => (await requests(page).getByRole('table').boundingBox())!.height;
    expect(await height()).toBeLessThan(1200);
    expect(await requests(page).getByLabel('Status').isVisible()).toBe(false);
    await press(requests(page), 'Filters');
    await requests(page).getByLabel('Status').selectOption('4xx');
    await choose(page, 'Failed');
    await button(requests(page), 'Filters (2)').waitFor();
    await expectAccessible(page);
    await button(requests(page), 'Clear filters').click();
    await counted(found(page), 20);
    await press(requests(page), 'Show older requests');
    await counted(found(page), codes.length + 1);
    await hasFocus(links(page).nth(20));
    await open(page, `/settings/keys/${made[0]!.id}`);
    await found(page).first().waitFor();
    for (const width of [390, 375, 360]) {
      await page.setViewportSize({ width, height: 800 });
      await expectFits(page);
    }
  });

  test('an organisation without requests is told so, and so is one whose gateway stores none', async () => {
    const page = await visit({ of: await makeOrganisation(silent), role: 'member', at: silent });
    await says(requests(page), 'This gateway stores no requests');
    await says(requests(page), 'No stored requests.');
    await requests(page).getByLabel('Status').selectOption('5xx');
    await says(requests(page), 'No stored request matches.');
  });
});
