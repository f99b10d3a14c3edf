import type { Locator } from 'playwright-core';
import { DAY, MINUTE } from '../../../src/units';
import { button, hasFocus, inBrowser, lost, press, says } from '../../support/browser';
import { makeKey, makeOrganisation } from '../../support/factories';
import * as on from '../../support/settingsPage';
import { failures, someRequests, someUsage, successes } from './rows';

const { counted, dialog, fact, follow, heading, named, rows, section } = on;

inBrowser('the page of a key', () => {
  const { gateway, visit } = on.pageScene(on.BROKEN);

  test('shows what the key may do, its usage, requests and audit log, and works with Back, reload and links', async () => {
    const of = await makeOrganisation(gateway, { name: 'Northwind' });
    const { id, key } = await makeKey(gateway, of, { name: 'web shop', expiresAt: new Date(Date.now() + 31 * MINUTE) });
    const other = await makeKey(gateway, of, { name: 'other' });
    await gateway.control.apiKeys.update(id, { allowed_ranges: ['127.0.0.0/8'] });
    await someUsage(gateway, id, [...successes(18, 8), ...successes(2, 1200), ...failures(4)]);
    await someUsage(gateway, id, [{ outcome: 'rate_limited', operation: 'none', code: 'rate_limited', ms: 1 }], 100);
    await someRequests(gateway, of, id, [{ status: 404, code: 'not_found', operation: 'quote' }, {}]);
    await someRequests(gateway, of, other.id, [{}]);
    const page = await visit(of);
    const usage = section(page, 'Usage');
    const cells = async (table: string): Promise<string[][]> => {
      const texts = await usage.getByRole('table', { name: table }).locator('tbody tr').allInnerTexts();
      return texts.map((text) => text.trim().split(/\s*\t\s*/));
    };
    const chart = (text: RegExp): Promise<void> => page.getByRole('img', { name: text }).waitFor();
    await page.getByLabel('Show').selectOption('all');
    await follow(page, 'web shop');
    expect(on.path(page)).toBe(`/settings/keys/${id}`);
    expect(await page.title()).toMatch(/^web shop · Northwind/);
    await hasFocus(heading(page, 'web shop'));
    for (const hidden of ['Overview', 'API keys']) expect(await section(page, hidden).count()).toBe(0);
    await says(page, /^in (31|30) minutes$/);
    for (const [name, text] of [
      ['Key', `${key.slice(0, 15)}…${key.slice(-4)}`],
      ['Scopes', 'orders:read'],
      ['Allowed addresses', '127.0.0.0/8'],
      ['Assistants, over MCP', 'read and write'],
      ['Expires', /^in 3[01] minutes \([\d-]{10} [\d:]{8} UTC\)$/],
      ['Created', 'just now by test'],
    ] as const)
      expect(await fact(page, name).innerText()).toMatch(text);

    await chart(/24 hours: 24, including 4 errors and 0 rate limited/);
    await says(usage, /^Last used never. 2 requests came over MCP./);
    expect(await usage.locator('.tiles').innerText()).toMatch(/95th percentile\s+≤ 2.5 s/);
    expect(await cells('Operations')).toEqual([
      ['quotes', '20', '0', '0', expect.stringMatching(/^≤ [\d.]+ ms$/), expect.stringMatching(/^≤ [\d.]+ s$/)],
      ['quote', '4', '4', '0', '≤ 10 ms', '≤ 10 ms'],
    ]);
    expect(await cells('Errors by code')).toEqual([['not_found', '4']]);
    const buckets = usage.getByRole('region', { name: 'Usage as a table' }).locator('tbody tr');
    await usage.getByText('As a table').click();
    expect(await buckets.count()).toBe(24);
    await page.getByRole('radio', { name: '30 days' }).check();
    await chart(/30 days: 25, including 4 errors and 1 rate limited/);
    expect(await buckets.count()).toBe(30);
    expect((await cells('Operations')).at(-1)).toEqual([...['no single operation', '1', '0', '1', '–', '–']]);
    await counted(section(page, 'Requests').getByRole('rowheader'), 2);
    await says(section(page, 'Audit log of this key'), /^Created web shop with /);

    await page.reload();
    await chart(/30 days: 25/);
    await on.leave(page);
    await heading(page, 'API keys').waitFor();
    expect(await page.getByLabel('Show').inputValue()).toBe('all');
    expect(await page.title()).toMatch(/^API keys · Northwind/);
    await hasFocus(page.getByRole('link', { name: 'web shop' }));
    await page.goBack();
    await heading(page, 'web shop').waitFor();
    await page.goForward();
    await heading(page, 'web shop').waitFor({ state: 'hidden' });
    await on.goTo(page, 'Requests');
    await counted(section(page, 'Requests').getByRole('rowheader'), 3);
  });

  test('editing changes only the edited fields, and errors are shown at their fields', async () => {
    const of = await makeOrganisation(gateway);
    const { id } = await makeKey(gateway, of, { name: 'web shop' });
    const stored = () => gateway.control.apiKeys.find(id);
    const page = await visit(of);
    await follow(page, 'web shop');
    const field = (name: string): Locator => dialog(page).getByLabel(name);
    const save = async (...texts: string[]): Promise<void> => {
      await press(page, 'Save');
      for (const text of texts) await says(dialog(page), text);
      if (texts.length === 0) await dialog(page).waitFor({ state: 'hidden' });
    };
    const edit = (): Promise<void> => press(page, 'Edit');
    await edit();
    expect(await field('Expires').locator('option').first().innerText()).toBe('never, as it is');
    await Promise.all([page.getByText('Nothing was changed.').waitFor({ state: 'attached' }), save()]);

    await edit();
    await field('Name').fill('web\u200bshop');
    await field('Allowed addresses').fill('10.0.0.0/8, everywhere');
    expect(await field('Last day (UTC)').isVisible()).toBe(false);
    await field('Expires').selectOption('on a date');
    await says(dialog(page), 'It works until that day ends in UTC.');
    await save('Enter a date.');
    await field('Last day (UTC)').fill('2020-02-02');
    await save('It must not be in the past.');
    await hasFocus(field('Last day (UTC)'));
    const end = new Date(Date.now() + 3 * DAY).toISOString().slice(0, 10);
    await field('Last day (UTC)').fill(end);
    await save('“everywhere” is not an address or CIDR range', 'It must be one non-blank line');
    expect(await dialog(page).innerText()).not.toMatch(/\/(name|allowed_ranges)/);
    await hasFocus(field('Name'));
    expect(await stored()).toMatchObject({ name: 'web shop', expires_at: null, allowed_ranges: [] });

    // somebody else changes a field that this dialog leaves alone
    await gateway.control.apiKeys.update(id, { mcp: 'off' });
    await field('Name').fill('shop');
    await field('Allowed addresses').fill('10.0.0.0/8');
    await save();
    await heading(page, 'shop').waitFor();
    expect(await stored()).toMatchObject({
      name: 'shop',
      allowed_ranges: ['10.0.0.0/8'],
      mcp: 'off',
      expires_at: new Date(`${end}T23:59:59Z`),
    });
    await says(fact(page, 'Allowed addresses'), '10.0.0.0/8');
    await says(section(page, 'Audit log of this key'), 'shop');
    await hasFocus(button(page, 'Edit'));

    await edit();
    await field('Allowed addresses').fill('');
    await field('Expires').selectOption('never');
    await save();
    await says(fact(page, 'Allowed addresses'), 'any');
    expect(await stored()).toMatchObject({ name: 'shop', allowed_ranges: [], expires_at: null, mcp: 'off' });
  });

  test('a rotated key links to the new one and back, ends with its overlap, and can be revoked', async () => {
    const of = await makeOrganisation(gateway);
    const { id } = await makeKey(gateway, of, { name: 'nightly' });
    const page = await visit(of);
    await follow(page, 'nightly');
    await button(page, 'Rotate').waitFor();
    await on.calls(page, /rotate_key/, lost);
    await press(page, 'Rotate');
    await press(page, 'Rotate key');
    await says(dialog(page), 'couldn’t confirm');
    await page.unroute('**/settings/graphql');
    await press(dialog(page), 'Cancel');
    await hasFocus(heading(page, 'nightly'));

    await says(page, /Replaced by nightly svc_live_\w+…\w{4} ?\. It works until .* UTC/);
    await says(page, /^in 1 day$|^in 2[34] hours$/);
    expect(await button(page, 'Rotate').count()).toBe(0);
    await press(page, 'Edit');
    await says(dialog(page), /It was replaced, so it ends at .* UTC\./);
    expect(await dialog(page).getByLabel('Expires').isVisible()).toBe(false);
    await page.keyboard.press('Escape');
    await press(page, 'Edit');
    await dialog(page).getByLabel('Name').fill('nightly, old');
    await press(page, 'Save');
    await heading(page, 'nightly, old').waitFor();
    await page.getByRole('link', { name: 'nightly' }).click();
    await page.waitForURL((url) => !url.pathname.endsWith(id));
    const back = fact(page, 'Replaces').getByRole('link', { name: 'nightly, old' });
    await back.waitFor();
    await hasFocus(heading(page, 'nightly'));
    await says(page, 'that is in the audit log of the other one');
    await back.click();
    await heading(page, 'nightly, old').waitFor();
    await press(page, 'Revoke');
    await press(page, 'Revoke key');
    await says(fact(page, 'Revoked'), /^just now/);
    await says(page, 'Every request with it gets a 401.');
    for (const name of ['Edit', 'Rotate', 'Revoke']) expect(await button(page, name).count()).toBe(0);
    await hasFocus(heading(page, 'nightly, old'));
    for (let step = 0; step < 3; step += 1) await page.goBack();
    await heading(page, 'API keys').waitFor();
  });

  test('a member sees all of it, without buttons to change it', async () => {
    const of = await makeOrganisation(gateway);
    const { id } = await makeKey(gateway, of, { name: 'theirs', scopes: ['quotes:read'] });
    await someUsage(gateway, id, failures(1));
    const refused = { status: 403, code: 'insufficient_scope', missing_scope: 'orders:read', operation: 'orders' };
    await someRequests(gateway, of, id, [{}, refused]);
    const page = await visit({ of, role: 'member' });
    await says(page, 'You are a member');
    expect(await button(page, /New key|Actions/).count()).toBe(0);
    await follow(page, 'theirs');
    await page.getByRole('img', { name: /24 hours: 1,/ }).waitFor();
    await rows(page, 'Audit log of this key').first().waitFor();
    await named(page, 'GET /quotes').first().waitFor();
    await says(page, /^Requests got 403 for the missing scope orders:read/);
    expect(await section(page, 'theirs').getByRole('button').allTextContents()).toEqual([' Refresh']);
    expect(await page.locator('dialog').count()).toBe(0);
  });
});
