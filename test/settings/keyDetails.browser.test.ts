import type { Page, Route } from 'playwright-core';
import { client } from '../support/client';
import { makeKey, makeOrganisation } from '../support/factories';
import { eventually } from '../http/eventually';
import { failures, someRequests, someUsage, successes } from './logRows';
import { inBrowser, intercept, pageScene } from './visiting';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const PATIENCE = 30_000;

inBrowser('the key page', () => {
  const scene = pageScene();
  const { visit } = scene;
  const fact = (page: Page, name: string): Promise<string> =>
    page
      .locator('#key-facts > div', { has: page.locator(`dt:text-is("${name}")`) })
      .locator('dd')
      .innerText();
  const openKey = async (page: Page, name: string): Promise<void> => {
    await page.getByRole('rowheader', { name, exact: true }).getByRole('link').click();
    await page.waitForSelector('#key-body:not([hidden])');
  };
  const focused = (page: Page): Promise<string> => page.evaluate('document.activeElement.textContent');
  const buttons = (page: Page): Promise<string[]> => page.locator('#key-actions button').allTextContents();

  test('shows what the key may do, its usage, requests and audit log, and works with Back, reload and links', async () => {
    const of = await makeOrganisation(scene.gateway, { name: 'Northwind' });
    const { id, key } = await makeKey(scene.gateway, of, {
      name: 'web shop',
      expiresAt: new Date(Date.now() + 31 * MINUTE),
    });
    const other = await makeKey(scene.gateway, of, { name: 'other' });
    await scene.gateway.databases.control
      .collection('api_keys')
      .updateOne({ _id: id as never }, { $set: { allowed_ranges: ['10.0.0.0/8'] } });
    await someUsage(scene.gateway, id, [...successes(18, 8), ...successes(2, 1200), ...failures(4)]);
    await someUsage(
      scene.gateway,
      id,
      [{ outcome: 'rate_limited', operation: 'none', code: 'rate_limited', ms: 1 }],
      100,
    );
    await someRequests(scene.gateway, of, id, [{ status: 404, code: 'not_found', operation: 'quote' }, {}]);
    await someRequests(scene.gateway, of, other.id, [{}]);
    await visit(of, async (page) => {
      await page.getByLabel('Show').selectOption('all');
      await openKey(page, 'web shop');
      expect(new URL(page.url()).search).toBe(`?keys=all&key=${id}`);
      expect(await page.title()).toMatch(/^web shop · Integrations/);
      expect(await focused(page)).toBe('web shop');
      for (const hidden of ['#overview', '#lists']) expect(await page.locator(hidden).isHidden()).toBe(true);
      expect(await page.locator('#key-state').innerText()).toMatch(/^active\s+expires in (31|30) minutes$/);
      expect(await page.locator('#key-state time').getAttribute('title')).toMatch(/^[\d-]{10} [\d:]{8} UTC$/);
      expect(await fact(page, 'Key')).toBe(`${key.slice(0, 15)}…${key.slice(-4)}`);
      expect(await fact(page, 'Scopes')).toContain('orders:read');
      expect(await fact(page, 'Allowed addresses')).toBe('10.0.0.0/8');
      expect(await fact(page, 'Assistants, over MCP')).toContain('read and write');
      expect(await fact(page, 'Created')).toBe('just now by test');
      expect(await fact(page, 'Last used')).toBe('never');

      await page.getByRole('img', { name: /24 hours: 24, including 4 errors and 0 with status 429/ }).waitFor();
      expect(await page.locator('#total-mcp').innerText()).toBe('2');
      expect(await page.locator('#buckets tr').count()).toBe(24);
      const cells = (rows: string): Promise<string[][]> =>
        page
          .locator(`${rows} tr`)
          .evaluateAll((all) => all.map((row) => [...row.children].map((one) => one.textContent)));
      expect(await cells('#usage-operations')).toEqual([
        ['quotes', '20', '0', '0', expect.stringMatching(/^[\d.]+ ms$/), expect.stringMatching(/^[\d.]+ s$/)],
        ['quote', '4', '4', '0', '7.5 ms', '9.8 ms'],
      ]);
      expect(await cells('#usage-codes')).toEqual([['not_found', '4']]);
      await page.getByRole('radio', { name: '30 days' }).check();
      await page.getByRole('img', { name: /30 days: 25, including 4 errors and 1 with status 429/ }).waitFor();
      expect(await page.locator('#buckets tr').count()).toBe(30);
      expect((await cells('#usage-operations')).at(-1)).toEqual([
        'failed before it was known',
        '1',
        '0',
        '1',
        'none',
        'none',
      ]);
      expect(await page.locator('#key-requests tbody th').allTextContents()).toEqual(['quote', 'quotes']);
      await page.locator('#key-events').getByText('Key created').waitFor();
      expect(await page.locator('#key-events tr').count()).toBe(1);

      await page.reload();
      await page.getByRole('img', { name: /30 days: 25/ }).waitFor();
      expect(await focused(page)).toBe('web shop');
      await page.getByRole('link', { name: 'Integrations' }).click();
      await page.getByRole('heading', { name: 'API keys' }).waitFor();
      expect(await page.getByLabel('Show').inputValue()).toBe('all');
      expect(await page.title()).toMatch(/^Integrations · Northwind/);
      expect(await focused(page)).toBe('web shop');
      await page.goBack();
      await page.getByRole('heading', { name: 'web shop', level: 1 }).waitFor();
      await page.goForward();
      await page.waitForSelector('#key-page', { state: 'hidden' });
      await page.locator('#requests tbody tr').nth(4).waitFor();
      expect(await page.locator('#requests tbody tr:not(.request-details)').count()).toBe(3);
    });
  });

  test('editing changes only the edited fields, from the next request on, and errors are shown at their fields', async () => {
    const of = await makeOrganisation(scene.gateway);
    const { id, key } = await makeKey(scene.gateway, of, { name: 'web shop' });
    const stored = () => scene.gateway.control.apiKeys.find(id);
    await visit(of, async (page) => {
      await openKey(page, 'web shop');
      const dialog = page.locator('#edit-dialog');
      const edit = (): Promise<void> => page.getByRole('button', { name: 'Edit', exact: true }).click();
      const save = (): Promise<void> => dialog.getByRole('button', { name: 'Save' }).click();
      await edit();
      expect(await dialog.getByLabel('Expires').locator('option').first().innerText()).toBe('never, as it is');
      await save();
      await dialog.waitFor({ state: 'hidden' });
      await page.locator('#said').getByText('Nothing was changed.').waitFor({ state: 'attached' });

      await edit();
      await dialog.getByLabel('Name').fill('web\u200bshop');
      await dialog.getByLabel('Allowed addresses').fill('10.0.0.0/8, everywhere');
      expect(await dialog.getByLabel('Last day (UTC)').isVisible()).toBe(false);
      await dialog.getByLabel('Expires').selectOption('date');
      await dialog.getByText('It works until that day ends in UTC.').waitFor();
      await save();
      await dialog.getByText('Enter a date.').waitFor();
      await dialog.getByLabel('Last day (UTC)').fill('2020-02-02');
      await save();
      await dialog.getByText('It must not be in the past.').waitFor();
      expect(await page.evaluate('document.activeElement.name')).toBe('date');
      const end = new Date(Date.now() + 3 * DAY).toISOString().slice(0, 10);
      await dialog.getByLabel('Last day (UTC)').fill(end);
      await save();
      await page
        .locator('#edit-allowed_ranges-fault')
        .getByText('“everywhere” is not an address or CIDR range')
        .waitFor();
      await page.locator('#edit-name-fault').getByText('It must be one non-blank line').waitFor();
      expect(await dialog.innerText()).not.toMatch(/\/(name|allowed_ranges)/);
      expect(await page.evaluate('document.activeElement.id')).toBe('edit-name');
      expect(await stored()).toMatchObject({ name: 'web shop', expires_at: null, allowed_ranges: [] });

      // somebody else changes a field that this dialog leaves alone
      await scene.gateway.control.apiKeys.update(id, { mcp: 'off' });
      await dialog.getByLabel('Name').fill('shop');
      await dialog.getByLabel('Allowed addresses').fill('10.0.0.0/8');
      await save();
      await page.getByRole('heading', { name: 'shop', exact: true }).waitFor();
      expect(await stored()).toMatchObject({
        ...{ name: 'shop', allowed_ranges: ['10.0.0.0/8'], mcp: 'off' },
        expires_at: new Date(`${end}T23:59:59Z`),
      });
      expect((await client(scene.gateway, key).get('/me')).status).toBe(401);
      expect(await fact(page, 'Allowed addresses')).toBe('10.0.0.0/8');
      await page.locator('#key-events').getByText('shop').first().waitFor();
      expect(await focused(page)).toBe('Edit');

      await edit();
      await dialog.getByLabel('Allowed addresses').fill('');
      await dialog.getByLabel('Expires').selectOption('never');
      await save();
      await page.locator('#key-facts').getByText('any', { exact: true }).waitFor();
      expect(await stored()).toMatchObject({ name: 'shop', allowed_ranges: [], expires_at: null, mcp: 'off' });
      expect((await client(scene.gateway, key).get('/me')).status).toBe(200);

      await edit();
      await dialog.getByLabel('Name').fill('never');
      await scene.gateway.control.apiKeys.revoke(id);
      await save();
      await dialog.locator('[data-failure]').waitFor();
      expect(await dialog.locator('[data-failure]').innerText()).not.toContain('/id');
      expect(await stored()).toMatchObject({ name: 'shop' });
    });
  });

  test('a rotated key links to the new one and back, ends with its overlap, and can be revoked', async () => {
    const of = await makeOrganisation(scene.gateway);
    const { id } = await makeKey(scene.gateway, of, { name: 'nightly' });
    await visit({ of, tolerates: /Failed to load resource/ }, async (page) => {
      await openKey(page, 'nightly');
      expect(await buttons(page)).toEqual(['Edit', 'Rotate', 'Revoke']);
      // the answer is lost, and the dialog cancelled
      let isLost = true;
      await intercept(page, /rotate_api_key/, async (route: Route) => {
        if (!isLost) return route.continue();
        await route.fetch();
        await route.abort('connectionreset');
      });
      await page.getByRole('button', { name: 'Rotate', exact: true }).click();
      await page.getByRole('button', { name: 'Rotate key' }).click();
      await page.locator('#rotate-dialog').getByText('couldn’t confirm').waitFor();
      await page.getByRole('button', { name: 'Cancel' }).click();
      const doubt = page.locator('#notices');
      await doubt.getByText('We couldn’t confirm that the key nightly was rotated.').waitFor();
      isLost = false;
      await doubt.getByRole('button', { name: 'Try again' }).click();
      await page.waitForSelector('#made-dialog[open]');
      await page.getByRole('button', { name: 'I have saved it' }).click();
      await page.waitForSelector('#made-dialog', { state: 'hidden' });
      expect(await focused(page)).toBe('nightly');

      const notice = page.locator('#key-notice');
      await notice.getByText(/Replaced by nightly svc_live_\w+…\w{4} ?\. It works until .* UTC/).waitFor();
      expect(await page.locator('#key-state').innerText()).toMatch(/^active\s+ends in (23 hours|1 day)$/);
      expect(await buttons(page)).toEqual(['Edit', 'Revoke']);
      await page.getByRole('button', { name: 'Edit', exact: true }).click();
      await page
        .locator('#edit-dialog')
        .getByText(/It was replaced, so it ends at .* UTC\./)
        .waitFor();
      expect(await page.locator('#edit-dialog').getByLabel('Expires').isVisible()).toBe(false);
      await page.locator('#edit-dialog').getByLabel('Name').fill('nightly, old');
      await page.locator('#edit-dialog').getByRole('button', { name: 'Save' }).click();
      await page.getByRole('heading', { name: 'nightly, old' }).waitFor();

      await notice.getByRole('link').click();
      await page.waitForURL((url) => url.searchParams.get('key') !== id);
      await page.locator('#key-facts').getByRole('link', { name: 'nightly, old' }).waitFor();
      expect(await focused(page)).toBe('nightly');
      await page.getByText('that is in the audit log of the other one').waitFor();
      await page.locator('#key-facts').getByRole('link', { name: 'nightly, old' }).click();
      await page.getByRole('heading', { name: 'nightly, old' }).waitFor();
      await page.getByRole('button', { name: 'Revoke', exact: true }).click();
      await page.getByRole('button', { name: 'Revoke key' }).click();
      await page.locator('#key-state').getByText('revoked').waitFor();
      expect(await page.locator('#key-state').innerText()).toMatch(/^revoked\s+just now$/);
      await notice.getByText('Every request with it gets a 401.').waitFor();
      expect(await buttons(page)).toEqual([]);
      await eventually(async () => (await focused(page)) === 'nightly, old', PATIENCE);
      await page.goBack();
      await page.goBack();
      await page.goBack();
      await page.getByRole('heading', { name: 'API keys' }).waitFor();
    });
  });

  test('a member sees all of it, without buttons to change it', async () => {
    const of = await makeOrganisation(scene.gateway);
    const { id } = await makeKey(scene.gateway, of, { name: 'theirs' });
    await someUsage(scene.gateway, id, failures(1));
    await someRequests(scene.gateway, of, id, [{}]);
    await visit({ of, role: 'member' }, async (page) => {
      await page.getByText('You are a member').waitFor();
      expect(await page.getByRole('button', { name: /New key|Actions/ }).count()).toBe(0);
      await page.getByRole('button', { name: 'Usage of theirs' }).click();
      await page.waitForSelector('#usage .chart rect');
      await page.locator('#key-events tr').first().waitFor();
      await page.locator('#key-requests tbody tr').first().waitFor();
      expect(await page.locator('#key-page button:visible').allTextContents()).toEqual(['Refresh', 'Details']);
      expect(await page.locator('dialog').count()).toBe(0);
    });
  });
});
