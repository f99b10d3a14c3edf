import type { Page } from 'playwright-core';
import { organisationUsageId } from '../../../src/organisations/keyUsage';
import { DAY } from '../../../src/units';
import { button, enter, expectAccessible, expectInView, hasFocus, inBrowser, says } from '../../support/browser';
import { makeKey, makeOrganisation } from '../../support/factories';
import * as on from '../../support/settingsPage';

const { dialog, follow, heading, rows, saved, search, section } = on;

inBrowser('the overview and members of the settings page', () => {
  const { gateway, visit } = on.pageScene({ on: 'Overview' });
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

  test('requests of all keys are shown by period, operation and error code, and the period is kept in the URL', async () => {
    const of = await makeOrganisation(gateway);
    await makeKey(gateway, of, { name: 'Web shop' });
    const counted = { keyId: organisationUsageId(of.id), requests: 1200, errors: 30, rate_limited: 4 };
    const details = new Map([
      ['operations.quotes.requests', 900],
      ['operations.quotes.errors', 30],
      ['operations.quotes.t2', 800],
      ['codes.not_found', 30],
    ]);
    await gateway.control.usage.add([
      { ...counted, hour: new Date(), details },
      { ...counted, hour: inDays(-20), requests: 5000, errors: 0, rate_limited: 0 },
    ]);
    const page = await visit({ of, theme: 'dark' });
    await chart(page, /all keys in the last 24 hours: 1,200, including 30 errors/);
    await overview(page).getByText('By operation').click();
    await overview(page).getByText('By error code').click();
    await on.named(page, 'quotes').waitFor();
    const code = page.getByRole('link', { name: 'not_found' });
    expect(await code.getAttribute('href')).toBe('/settings/requests?code=not_found&since=24');
    await page.getByRole('radio', { name: '30 days' }).check();
    await chart(page, /the last 30 days: 6,200/);
    expect(search(page)).toBe('?period=last_30d');
    await page.reload();
    await chart(page, /the last 30 days: 6,200/);
    await overview(page).getByText('By operation').click();
    await expectAccessible(page);
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
      ...{ ninety: 'in 90 days', three: 'in 3 days', almost: 'in 300 days', soon: 'in 1 day' },
      end: `in ${String(Math.round((end.getTime() - Date.now()) / 31_557_600_000))} years`,
    }))
      await row(name).getByText(text, { exact: true }).waitFor();
    await row('three').getByText('2 days ago').waitFor();
    await on.goTo(page, 'Overview');
    await says(page, 'No requests in the last 24 hours. Figures are up to a minute old.');
    const counted = { hour: new Date(), keyId: organisationUsageId(of.id), errors: 0, rate_limited: 0 };
    const drawn = page.getByRole('img', { name: /all keys/ });
    for (const requests of [100_000, 999_900_000]) {
      await gateway.control.usage.add([{ ...counted, requests }]);
      await page.reload();
      await drawn.waitFor();
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
  });
});
