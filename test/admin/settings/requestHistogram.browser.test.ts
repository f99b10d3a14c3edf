import type { Locator, Page } from 'playwright-core';
import { HOUR } from '../../../src/units';
import { eventually } from '../../api/http/eventually';
import { button, hasFocus, inBrowser, press, says } from '../../support/browser';
import { makeKey, makeOrganisation } from '../../support/factories';
import * as on from '../../support/settingsPage';
import { someRequests } from './rows';

const { counted, search, section } = on;

inBrowser('the requests over time on the settings page', () => {
  const { gateway, visit } = on.pageScene({ on: 'Requests' });
  const links = (page: Page): Locator =>
    section(page, 'Requests').getByRole('table', { name: 'Requests' }).getByRole('rowheader').getByRole('link');
  const listed = (page: Page, what: readonly string[]): Promise<unknown> =>
    eventually(async () => String(await links(page).allTextContents()) === String(what));

  test('bars count the listed requests over time, and one of them, or several, narrow the period', async () => {
    const of = await makeOrganisation(gateway);
    const { id } = await makeKey(gateway, of, { name: 'shop' });
    const now = Date.now();
    const day = (days: number) => ({ at: new Date(now - days * 24 * HOUR) });
    await someRequests(gateway, of, id, [
      { ...day(1), status: 500, code: 'internal' },
      { at: new Date(day(1).at.getTime() - 1), path: '/api/v1/orders' },
      { ...day(4), path: '/api/v1/products' },
    ]);
    const page = await visit(of);
    const group = section(page, 'Requests').getByRole('group', { name: 'Listed requests over time' });
    const bars = group.getByRole('button');
    const filled = group.getByRole('button', { name: /: (?!0 successful, 0 failed)/ });
    await counted(filled, 2);
    expect(await filled.last().getAttribute('aria-label')).toMatch(/–.*: 1 successful, 1 failed$/);
    await says(section(page, 'Requests'), '2 successful');
    // only one of them is a stop of the Tab key
    expect(await bars.and(page.locator('[tabindex="0"]')).count()).toBe(1);
    await bars.first().focus();
    await page.keyboard.press('End');
    await hasFocus(bars.last());
    await filled.first().focus();
    await page.keyboard.press('Enter');
    await listed(page, ['GET /products']);
    await hasFocus(group);
    expect(search(page)).toMatch(/^\?since=\S+&until=\S+$/);
    await page.reload();
    await listed(page, ['GET /products']);
    await button(section(page, 'Requests'), /show all 7 days$/).click();
    await counted(links(page), 3);
    const [from, to] = [await filled.first().boundingBox(), await filled.last().boundingBox()];
    await page.mouse.move(from!.x + 3, from!.y + 5);
    await page.mouse.down();
    await page.mouse.move(to!.x + 3, to!.y + 5);
    await page.mouse.up();
    await button(section(page, 'Requests'), /show all 7 days$/).waitFor();
    await counted(links(page), 3);
    await button(section(page, 'Requests'), 'Clear filters').click();
    await counted(links(page), 3);
    await filled.last().click();
    await listed(page, ['GET /quotes', 'GET /orders']);
    await says(section(page, 'Requests'), '1 failed');
  });

  /** The page of an organisation with one request, which failed. */
  async function withOneRequest() {
    const of = await makeOrganisation(gateway);
    const { id } = await makeKey(gateway, of, { name: 'shop' });
    await someRequests(gateway, of, id, [{ status: 404, code: 'not_found' }]);
    const page = await visit(of);
    const requests = section(page, 'Requests');
    const bars = requests.getByRole('group', { name: 'Listed requests over time' }).getByRole('button');
    return { page, requests, bars };
  }

  test('bars that become fewer while the pointer rests on the last are shown', async () => {
    const { page, requests, bars } = await withOneRequest();
    await bars.last().hover();
    await on.calls(page, /request_histogram/, async (route) => {
      const response = await route.fetch();
      const { data } = (await response.json()) as { data: { value: { intervals: object[] } } };
      data.value.intervals.splice(2);
      await route.fulfill({ response, json: { data } });
    });
    await requests.getByRole('radio', { name: 'Failed' }).press('Space');
    await counted(bars, 2);
    await listed(page, ['GET /quotes']);
  });

  test('bars that are refused say why, and are read again', async () => {
    const { page, requests, bars } = await withOneRequest();
    await bars.first().waitFor();
    await on.calls(page, /request_histogram/, (route) =>
      route.fulfill({ json: { errors: [{ message: 'Too many requests.', extensions: { code: 'rate_limited' } }] } }),
    );
    await requests.getByText('Failed', { exact: true }).click();
    await says(requests.getByRole('alert'), 'Too many requests.');
    await counted(links(page), 1);
    await page.unroute('**/settings/graphql');
    await press(requests, 'Try again');
    await bars.first().waitFor();
    await counted(requests.getByRole('alert'), 0);
  });
});
