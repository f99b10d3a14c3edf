import type { Page } from 'playwright-core';
import { organisationUsageId } from '../../../src/organisations/usageUnits';
import { DAY, HOUR } from '../../../src/units';
import { webhookDeliveries } from '../../../src/webhooks/deliveries';
import { ENVIRONMENT } from '../../api/webhooks/office';
import { button, enter, expectAccessible, expectInView, hasFocus, inBrowser, press, says } from '../../support/browser';
import { makeKey, makeOrganisation } from '../../support/factories';
import * as on from '../../support/settingsPage';
import { someDeliveries, withEndpoints } from './rows';

const { dialog, follow, heading, rows, saved, search, section } = on;

inBrowser('the overview and members of the settings page', () => {
  const { gateway, visit } = on.pageScene({ on: 'Overview' }, ENVIRONMENT);
  const inDays = (days: number): Date => new Date(Date.now() + days * DAY);
  const overview = (page: Page) => section(page, 'Overview');
  const chart = (page: Page, text: RegExp): Promise<void> => page.getByRole('img', { name: text }).waitFor();
  /** As if a key had been made so many days ago. */
  const age = (id: string, days: number): Promise<unknown> =>
    gateway.databases.control
      .collection('api_keys')
      .updateOne({ _id: id as never }, { $set: { created_at: inDays(-days) } });

  test('without keys, an admin can create the first one by keyboard, and a member is told to ask an admin', async () => {
    const of = await makeOrganisation(gateway);
    const steps = 'Programs call the API with a key.';
    const theirs = await visit({ of, role: 'member', name: 'Max' });
    await says(theirs, steps);
    await says(theirs, 'Ask an admin of the organisation');
    expect(await button(theirs, 'Create the first key').count()).toBe(0);
    const page = await visit({ of, width: 390, theme: 'dark' });
    await says(page, steps);
    expect(await overview(page).getByRole('link', { name: 'reference' }).getAttribute('href')).toBe('/api/v1/docs');
    await expectAccessible(page);
    await enter(page, 'Create the first key');
    await expectInView(button(dialog(page), 'Create key'));
    await dialog(page).getByLabel('Name', { exact: true }).fill('first');
    await dialog(page).getByRole('radio', { name: 'Read only' }).check();
    await enter(page, 'Create key');
    await saved(page);
    await says(page, 'No requests in the last 24 hours.');
    await page.getByText(steps).waitFor({ state: 'hidden' });
    await hasFocus(heading(page, 'Overview'));
  });

  test('requests of all keys are shown by period with their change, and a part of the chart opens its requests', async () => {
    const of = await makeOrganisation(gateway);
    const shop = await makeKey(gateway, of, { name: 'Web shop' });
    await gateway.databases.control
      .collection('api_keys')
      .updateOne({ _id: shop.id as never }, { $set: { last_used_at: new Date() } });
    const counted = { keyId: organisationUsageId(of.id), requests: 1200, errors: 30, rate_limited: 4 };
    const details = new Map([
      ['operations.quotes.requests', 900],
      ['operations.quotes.errors', 30],
      ['operations.quotes.t2', 800],
      ['codes.not_found', 30],
    ]);
    const at = new Date();
    await gateway.control.usage.add([
      { ...counted, at, details },
      { ...counted, keyId: shop.id, at },
      { ...counted, at: inDays(-1.5), requests: 1000, errors: 0, rate_limited: 12 },
      { ...counted, at: inDays(-20), requests: 5000, errors: 0, rate_limited: 0 },
    ]);
    const page = await visit({ of, ...on.BROKEN, theme: 'dark', timezoneId: 'Asia/Kolkata' });
    const tile = (name: string) => overview(page).getByRole('term').filter({ hasText: name }).locator('..');
    await chart(page, /all keys in the last 24 hours: 1,200, including 30 errors/);
    for (const [name, text] of [
      ['Requests', /^Requests1,200 ↑ up 20%$/],
      ['Error rate', /^Error rate2.5% 30 errors↑ up from 0%$/],
      ['95th percentile', /^95th percentile≤ 25 ms nothing to compare$/],
      ['Rate limited', /^Rate limited4 ↓ down from 12$/],
    ] as const)
      expect((await tile(name).first().textContent())!.trim()).toMatch(text);
    await on.named(page, 'quotes').waitFor();
    expect(await rows(page, 'Top keys').innerText()).toMatch(/^Web shop\s+1,200\s+30\s+4$/);
    const code = page.getByRole('link', { name: 'not_found' });
    expect(await code.getAttribute('href')).toBe('/settings/requests?code=not_found&since=24');
    await expectAccessible(page);

    // the last bucket, by keyboard, in local time
    const hour = new Date(Math.floor(at.getTime() / HOUR) * HOUR);
    const clock = (time: Date): string =>
      time.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: 'Asia/Kolkata' });
    const bars = overview(page).getByRole('link', { name: /Successful / });
    await bars.last().focus();
    expect(await bars.last().getAttribute('aria-label')).toContain(
      `${clock(hour)} to ${clock(new Date(hour.getTime() + HOUR))}: Successful 1,166, Errors 30, Rate limited 4, Median ≤ 25 ms, 95th percentile ≤ 25 ms`,
    );
    await says(
      page,
      `${hour.toISOString().slice(11, 16)} to ${new Date(hour.getTime() + HOUR).toISOString().slice(11, 16)} UTC`,
    );
    await page.keyboard.press('ArrowLeft');
    await hasFocus(bars.nth(22));
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    await heading(page, 'Requests').waitFor();
    expect(decodeURIComponent(search(page))).toBe(
      `?since=${hour.toISOString()}&until=${new Date(hour.getTime() + HOUR).toISOString()}`,
    );
    await page.goBack();

    // the figures keep their period until those of the next are read, and are gone if these are lost
    const next = await on.holdCalls(page, /usage\(period/);
    await page.getByRole('radio', { name: '30 days' }).check();
    const held = await next();
    await overview(page).locator('[aria-busy="true"]').waitFor();
    await chart(page, /the last 24 hours: 1,200/);
    await held.abort('connectionreset');
    await page.getByRole('img', { name: /all keys/ }).waitFor({ state: 'detached' });
    await page.unroute('**/settings/graphql');
    await press(page, 'Try again now');
    await chart(page, /the last 30 days: 7,200/);
    expect(search(page)).toBe('?period=last_30d');
    await page.reload();
    await chart(page, /the last 30 days: 7,200/);
    // requests are kept for 7 days
    expect(await bars.count()).toBe(8);
    // what is listed of a key leaves its figures as they are
    await rows(page, 'Top keys').getByRole('link').click();
    const failed = page.getByRole('link', { name: '30 errors' });
    await says(page, '0 requests came over MCP');
    expect(await failed.getAttribute('href')).toBe(`/settings/keys/${shop.id}?result=failed&period=last_30d`);
    await failed.click();
    await page.getByRole('radio', { name: 'Failed' }).and(page.locator(':checked')).waitFor();
    await chart(page, /Web shop in the last 30 days/);
    await on.goTo(page, 'Overview');
    await page.getByRole('radio', { name: '1 hour' }).check();
    await chart(page, /the last hour: 1,200/);
    await says(tile('Error rate').first(), 'nothing to compare');
    await overview(page).getByText('As a table').click();
    expect(await overview(page).getByRole('region', { name: 'Usage as a table' }).locator('tbody tr').count()).toBe(12);
    await expectAccessible(page);
  });

  test('keys that nobody uses and webhook endpoints that fail need attention, with the last error', async () => {
    const others = Array.from({ length: 5 }, (_, at) => `https://example.com/${String(at)}`);
    const { of, ids } = await withEndpoints(gateway, 'https://example.com/hooks', ...others);
    await age((await makeKey(gateway, of, { name: 'forgotten' })).id, 91);
    await age((await makeKey(gateway, of, { name: 'younger' })).id, 89);
    await someDeliveries(gateway, of, ids[0]!, 2, ['waiting']);
    await gateway.databases.control
      .collection('webhook_endpoints')
      .updateMany({ _id: { $in: ids as never[] } }, { $set: { state: 'failing', failing_since: inDays(-1) } });
    const deliveries = gateway.databases.organisationData(of).collection(webhookDeliveries);
    const failed = { at: inDays(-0.5), ok: false, status: 503, error: 'HTTP 503', answer: null, ms: 12 };
    await deliveries.updateMany({ state: 'waiting' }, { $set: { log: [failed] } });
    const page = await visit({ of, width: 390 });
    const attention = section(page, 'Needs attention');
    const list = (name: string) => attention.getByRole('list', { name });
    await says(list('1 key was not used for 90 days'), /^forgotten .* last used never$/);
    const failing = list('6 webhook endpoints fail').getByRole('listitem');
    await says(failing.first(), /HTTP 503, 12 hours ago$/);
    expect(await failing.count()).toBe(5);
    await expectAccessible(page);
    await failing.first().getByRole('link').click();
    await heading(page, 'https://example.com/hooks').waitFor();
    await on.act(page, 'Disable…');
    await press(dialog(page), 'Disable endpoint');
    await says(page, 'Somebody disabled this endpoint');
    await page.goBack();
    await says(attention, '5 webhook endpoints fail');
    // back to its own list, whichever was left before
    await on.goTo(page, 'API keys');
    await follow(page, 'younger');
    await on.goTo(page, 'Overview');
    const next = list('5 webhook endpoints fail').getByRole('link').first();
    const address = await next.textContent();
    await next.click();
    await heading(page, address!).waitFor();
    await page.getByRole('link', { name: 'Skip to content' }).focus();
    await page.keyboard.press('Enter');
    await hasFocus(page.getByRole('main'));
    await on.leave(page);
    await heading(page, 'Webhooks').waitFor();
  });

  test('only keys that expire within a week are listed at the top, until they are rotated there', async () => {
    const of = await makeOrganisation(gateway);
    const ends = { nightly: 2.5, sooner: 1.5, later: 8, gone: -1 };
    for (const [name, days] of Object.entries(ends)) await makeKey(gateway, of, { name, expiresAt: inDays(days) });
    await makeKey(gateway, of, { name: 'endless' });
    const keys = await gateway.control.apiKeys.list(of.id);
    const [soon, sooner] = ['nightly', 'sooner'].map((name) => keys.find((key) => key.name === name)!._id);
    // so that the key that replaces it has a long life
    await age(soon!, 90);
    const listed = (page: Page) => page.getByRole('list', { name: /within 7 days/ });
    const theirs = await visit({ of, role: 'member', name: 'Max' });
    await says(theirs, '2 keys expire within 7 days');
    expect(await listed(theirs).getByRole('link').allTextContents()).toEqual(['sooner', 'nightly']);
    expect(await listed(theirs).getByRole('button').count()).toBe(0);
    await listed(theirs).getByRole('link', { name: 'nightly' }).click();
    await heading(theirs, 'nightly').waitFor();
    expect(on.path(theirs)).toBe(`/settings/keys/${soon!}`);
    const page = await visit({ of, width: 390 });
    await says(listed(page), 'in 2 days');
    await expectAccessible(page);
    await enter(page, 'Rotate nightly');
    await on.rotate(page);
    await saved(page);
    await says(page, '1 key expires within 7 days');
    expect(await listed(page).getByRole('link').allTextContents()).toEqual(['sooner']);
    await gateway.control.apiKeys.revoke(sooner!);
    await page.reload();
    await says(page, 'No requests in the last 24 hours.');
    await listed(page).waitFor({ state: 'hidden' });
  });

  test('of more keys that expire soon than are listed, those that expire first are', async () => {
    const of = await makeOrganisation(gateway);
    // the newest of them expire last, as after a rotation of all
    for (let at = 0; at < 23; at += 1)
      await makeKey(gateway, of, { name: `key ${String(at)}`, expiresAt: inDays(1 + at / 10) });
    const page = await visit(of);
    await says(page, '23 keys expire within 7 days');
    const names = await page
      .getByRole('list', { name: /within 7 days/ })
      .getByRole('link')
      .allTextContents();
    expect(names).toEqual(Array.from({ length: 20 }, (_, at) => `key ${String(at)}`));
  });

  test('remaining times are rounded, figures state their age, and large numbers fit', async () => {
    const of = await makeOrganisation(gateway);
    const end = new Date('9999-12-31T00:00:00Z');
    const ends = { ninety: inDays(90), three: inDays(3), almost: inDays(300), soon: inDays(23.6 / 24), end };
    for (const [name, expiresAt] of Object.entries(ends))
      await age((await makeKey(gateway, of, { name, expiresAt })).id, 2.9);
    const page = await visit({ of, width: 390, on: 'API keys' });
    const row = (name: string) => rows(page, 'API keys').filter({ has: on.named(page, name) });
    for (const [name, text] of Object.entries({
      ninety: 'in 90 days',
      three: 'in 3 days',
      almost: 'in 300 days',
      soon: 'in 1 day',
      end: `in ${String(Math.round((end.getTime() - Date.now()) / 31_557_600_000))} years`,
    }))
      await row(name).getByText(text, { exact: true }).waitFor();
    await row('three').getByText('2 days ago').waitFor();
    await on.goTo(page, 'Overview');
    await says(page, 'No requests in the last 24 hours. Figures are up to a minute old.');
    const counted = { at: new Date(), keyId: organisationUsageId(of.id), errors: 0, rate_limited: 0 };
    const drawn = page.getByRole('img', { name: /all keys/ });
    for (const requests of [100_000, 999_900_000]) {
      await gateway.control.usage.add([{ ...counted, requests, errors: requests - 1 }]);
      await page.reload();
      await drawn.waitFor();
      await says(overview(page), '>99.9%');
      const outside = await drawn.locator('text').evaluateAll((texts) =>
        texts.filter((text) => {
          const [inner, outer] = [text, text.closest('svg')!].map((one) => one.getBoundingClientRect());
          return inner!.left < outer!.left || inner!.right > outer!.right;
        }),
      );
      expect(outside).toEqual([]);
    }
    expect(await drawn.locator('text').allTextContents()).toEqual(expect.arrayContaining(['0', '500M', '1B']));
    await on.goTo(page, 'API keys');
    await follow(page, 'three');
    await says(
      page,
      'No requests with this key in the last 24 hours, apart from any refused with 401. Figures are up to a minute old.',
    );
    expect(await page.getByText('Loading…').count()).toBe(0);
    // what is not counted yet is not taken for no requests
    const id = on.path(page).split('/').at(-1);
    await gateway.databases.control
      .collection('api_keys')
      .updateOne({ _id: id as never }, { $set: { last_used_at: new Date() } });
    await page.reload();
    await says(page, 'This key was used just now. Its requests are counted here within a minute');
  });
});
