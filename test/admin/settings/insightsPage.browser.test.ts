import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { button, expectAccessible, hasFocus, inBrowser, press, says, turn, VIEWS } from '../../support/browser';
import type { Json } from '../../support/client';
import { makeOrganisation, makeStored, northwind, store } from '../../support/factories';
import { withGateway } from '../../support/gateway';
import * as on from '../../support/settingsPage';

const { heading, path, search, section } = on;

inBrowser('Insights, of the settings page', () => {
  const { gateway, visit } = on.pageScene({ on: 'Insights', role: 'member', name: 'Max' });
  const now = new Date();
  /** Noon of the first day of a month, so many before this one. */
  const monthsAgo = (count: number): Date => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - count, 1, 12));
  const nameOf = (month: Date): string =>
    month.toLocaleString('en', { month: 'long', year: 'numeric', timeZone: 'UTC' });
  const [first] = northwind('orders') as [Json];
  const [quote] = northwind('quotes') as [Json];
  /** An order of so many minor units, so many months ago. */
  const order = (total_minor: number, months: number, changes: object = {}): Json => ({
    ...first,
    id: randomUUID(),
    number: randomUUID(),
    placed_at: monthsAgo(months).toISOString(),
    total_minor,
    ...changes,
  });
  /** The largest amount, and the longest texts. */
  const MOST = Number.MAX_SAFE_INTEGER;
  const [line] = first.lines;
  const LONG = [{ ...line, qty: 1, unit_price_minor: MOST, uom: 'x'.repeat(20), description: 'y'.repeat(190) }];
  const bar = (page: Page, name: string) => page.getByRole('img', { name, exact: true });
  const row = (page: Page, list: string, name: string) =>
    page
      .getByRole('table', { name: list })
      .getByRole('row')
      .filter({ has: page.getByText(name, { exact: true }) });
  /** Lets some figures of the page's answers fail. */
  const lacking = (page: Page, ...names: string[]): Promise<void> =>
    on.calls(page, /order_totals/, async (route) => {
      const { data } = await (await route.fetch()).json();
      const errors = names.map((name) => ({
        message: 'Narrow it.',
        path: [name],
        extensions: { code: 'unavailable' },
      }));
      await route.fulfill({
        json: { data: { ...data, ...Object.fromEntries(names.map((name) => [name, null])) }, errors },
      });
    });

  test('shows orders, quotes, customers and products of a period in one currency, and reads them again', async () => {
    const of = await makeStored(gateway, {
      customers: northwind('customers'),
      orders: [
        ...[order(1_234_56, 0), order(500_00, 0, { status: 'placed' }), order(99_00, 3, { status: 'cancelled' })],
        ...[order(MOST, 1, { currency: 'JPY', lines: LONG }), order(20_00, 30)],
      ] as never,
      quotes: [{ ...quote, created_at: monthsAgo(2).toISOString() }] as never,
    });
    const page = await visit({ of, width: 1280 });
    const [latest, before] = [nameOf(monthsAgo(0)), nameOf(monthsAgo(1))];
    await bar(page, `${latest}: $1,734.56 in 2 orders`).waitFor();
    await says(section(page, 'Orders by month'), '$1,734.56');
    await says(row(page, 'Orders by status', 'Cancelled'), '$99.00');
    await says(row(page, 'Quotes by status', 'Accepted'), '1');
    await says(row(page, 'Top customers', 'Vins et alcools Chevalier'), '$1,734.56');
    await row(page, 'Top products', 'Queso Cabrales').waitFor();
    // by keyboard, from the column at the end
    await page.getByRole('radio', { name: 'All', exact: true }).focus();
    await page.keyboard.press('Tab');
    await hasFocus(bar(page, `${latest}: $1,734.56 in 2 orders`));
    await page.keyboard.press('ArrowLeft');
    await hasFocus(bar(page, `${before}: $0.00 in 0 orders`));
    await says(page.locator('.tip'), before);
    // what another program does is there when somebody looks again, and the focus stays
    await store(gateway, of, { orders: [order(1_000_00, 1) as never] });
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await hasFocus(bar(page, `${before}: $1,000.00 in 1 order`));

    await page.getByRole('radio', { name: 'JPY' }).check();
    await bar(page, `${before}: ¥9,007,199,254,740,991 in 1 order`).waitFor();
    for (const view of VIEWS) {
      await turn(page, view);
      await expectAccessible(page);
    }
    await page.getByRole('radio', { name: 'All', exact: true }).check();
    await says(section(page, 'Quotes by month'), 'No quotes in this period.');
    expect(search(page)).toBe('?currency=JPY&period=all');
    await page.getByRole('radio', { name: 'USD' }).check();
    await bar(page, `${nameOf(monthsAgo(30))}: $20.00 in 1 order`).waitFor();
    await page.reload();
    await bar(page, `${nameOf(monthsAgo(30))}: $20.00 in 1 order`).waitFor();
    expect(await page.getByRole('radio', { name: 'All', exact: true }).isChecked()).toBe(true);
    // an answer that arrives on another page is there after Back
    await on.overtaken(
      page,
      { body: /order_totals/ },
      () => page.getByRole('radio', { name: 'This year' }).check(),
      () => on.goTo(page, 'API keys'),
    );
    await page.goBack();
    await bar(page, `${latest}: $1,734.56 in 2 orders`).waitFor();
    // one order of the far future is beside the months, which it does not turn into years
    await store(gateway, of, { orders: [order(7_00, -600) as never] });
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await bar(page, `${nameOf(monthsAgo(-600))}: $7.00 in 1 order`).waitFor();
    await bar(page, `${latest}: $1,734.56 in 2 orders`).waitFor();

    // one figure that fails is no loss of the others
    await lacking(page, 'products');
    await page.getByRole('radio', { name: 'All', exact: true }).check();
    await says(section(page, 'Top products'), 'The database took too long for this, or did not respond.');
    await says(row(page, 'Top customers', 'Vins et alcools Chevalier'), '$2,761.56');
    expect(await page.getByRole('alert').filter({ visible: true }).count()).toBe(1);
    await expectAccessible(page);
    await page.unrouteAll();
    await press(section(page, 'Top products'), 'Try again');
    await row(page, 'Top products', 'Queso Cabrales').waitFor();
  });

  test('without orders it leads to the reference; what fails can be tried again; and who sees none is told so', async () => {
    const page = await visit({ of: await makeOrganisation(gateway), ...on.BROKEN });
    await heading(page, 'No orders yet').waitFor();
    const link = section(page, 'Insights').getByRole('link', { name: 'reference' });
    expect(await link.getAttribute('href')).toBe('/api/v1/docs');
    await page.getByRole('radio', { name: 'This year' }).check();
    await heading(page, 'No orders or quotes in this period').waitFor();
    await press(page, 'Show all');
    await heading(page, 'No orders yet').waitFor();
    await expectAccessible(page);
    await on.intercept(page, '**/settings/graphql', /order_totals/, (route) =>
      route.fulfill({ json: { errors: [{ message: 'Too many requests.', extensions: { code: 'rate_limited' } }] } }),
    );
    await page.getByRole('radio', { name: 'Last year' }).check();
    await says(page, 'Too many requests.');
    await page.unrouteAll();
    await press(page, 'Try again');
    await heading(page, 'No orders or quotes in this period').waitFor();
    // what could not be read is not taken for a period without orders, instead of which all are shown
    await lacking(page, 'orders');
    await page.goto(gateway.url + path(page));
    await says(section(page, 'Orders by status'), 'The database took too long for this, or did not respond.');
    expect(await page.getByRole('radio', { name: '12 months' }).isChecked()).toBe(true);
    await page.unrouteAll();

    await withGateway({ INSIGHTS: 'admins' }, async (careful) => {
      const theirs = await visit({ of: await makeOrganisation(careful), at: careful, on: 'Overview' });
      expect(await theirs.getByRole('link', { name: 'Insights' }).count()).toBe(0);
      await theirs.goto(`${careful.url}/settings/insights`);
      await says(theirs, 'Only admins of the organisation see its figures.');
      expect(path(theirs)).toBe('/settings/insights');
      expect(await button(theirs, 'Try again').count()).toBe(0);
      await expectAccessible(theirs);
    });
  });
});
