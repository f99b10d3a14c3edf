import type { Locator, Page } from 'playwright-core';
import { ALL_SCOPES } from '../../src/auth/scopes';
import { HOUR } from '../../src/units';
import { makeKey, makeOrganisation } from '../support/factories';
import { eventually } from '../http/eventually';
import { choose, expectAccessible, inBrowser, pageScene } from './visiting';

const PATIENCE = 30_000;

inBrowser('keys on the settings page', () => {
  const scene = pageScene();
  const { visit } = scene;
  const named = (name: string) => ({ name, exact: true });
  const focused = (page: Page): Promise<string> =>
    page.evaluate('document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent');

  test('a rotated key is shown in the row of the new one during its overlap, where it can be revoked but not rotated', async () => {
    const of = await makeOrganisation(scene.gateway);
    const old = await makeKey(scene.gateway, of, { name: 'nightly' });
    await visit({ of, name: 'Bea' }, async (page) => {
      const row = page.locator('#keys tr');
      for (const ends of [/replaced, ends in (23 hours|1 day)$/, /replaced, ends in (6|7) days$/]) {
        await choose(page, 'nightly', 'Rotate…');
        if (ends.source.includes('days')) await page.getByLabel('Keep the old key').selectOption('168');
        await page.getByRole('button', { name: 'Rotate key' }).click();
        await page.locator('#made-dialog').getByText('The old key expires at').waitFor();
        await page.getByRole('button', { name: 'I have saved it' }).click();
        await row.getByText(ends).waitFor();
      }
      expect(await row.count()).toBe(1);
      expect(await row.locator('.replaced').count()).toBe(2);
      await page.getByRole('button', named('Actions for nightly')).click();
      const items = page.getByRole('menuitem');
      expect((await items.allTextContents()).map((text) => text.replace(/…\w{4}/, '…1234'))).toEqual([
        ...['Usage', 'Rotate…', 'Revoke…'],
        ...['Usage of replaced …1234', 'Revoke replaced …1234…', 'Usage of replaced …1234', 'Revoke replaced …1234…'],
      ]);
      expect(await row.getByText('by Bea').count()).toBe(1);
      const [rotated = ''] = await page.locator('#events tr', { hasText: 'Key rotated' }).allTextContents();
      expect(rotated).toMatch(/from: nightly svc_live_\w{6} \w{4} · to: .* · old expires at: [\d-]{10} [\d:]{8} UTC/);
      await expectAccessible(page);
      const [, , newest] = await scene.gateway.control.apiKeys.list(of.id);
      await scene.gateway.control.apiKeys.revoke(newest!._id);
      await page.reload();
      // a key replaced by a revoked one has its own row again, and can be rotated
      await page.getByRole('button', named('Actions for nightly')).click();
      await items.getByText('Rotate…').waitFor();
      expect(await row.count()).toBe(1);
      await items.getByText('Revoke replaced').click();
      await page.getByRole('button', { name: 'Revoke key' }).click();
      await row.locator('.replaced').waitFor({ state: 'detached' });
      expect(await scene.gateway.control.apiKeys.find(old.id)).toMatchObject({ revoked_at: expect.any(Date) });
    });
  });

  test('the focus stays in the list when rows change, even behind a dialog', async () => {
    const of = await makeOrganisation(scene.gateway);
    for (const name of ['first', 'second', 'third']) await makeKey(scene.gateway, of, { name });
    await visit(of, async (page) => {
      /** By keyboard: the menu of a key, the item, the dialog's button. */
      const act = async (name: string, action: string, button: string): Promise<void> => {
        await page.getByRole('button', named(`Actions for ${name}`)).press('Enter');
        await page.getByRole('menuitem', named('Usage')).and(page.locator(':focus')).waitFor();
        await page.keyboard.press(action.charAt(0));
        while ((await focused(page)) !== action) await page.keyboard.press('ArrowDown');
        await page.keyboard.press('Enter');
        await page.getByRole('button', { name: button }).press('Enter');
      };
      const revoke = (name: string): Promise<void> => act(name, 'Revoke…', 'Revoke key');
      const isFocused = (name: string) => eventually(async () => (await focused(page)) === name, PATIENCE);

      await revoke('second');
      await page.getByRole('rowheader', named('second')).waitFor({ state: 'detached' });
      await isFocused('Actions for first');
      await revoke('first');
      await page.getByRole('rowheader', named('first')).waitFor({ state: 'detached' });
      await isFocused('Actions for third');
      await act('third', 'Rotate…', 'Rotate key');
      await page.locator('.replaced').waitFor({ state: 'attached' });
      await page.getByRole('button', { name: 'I have saved it' }).press('Enter');
      await page.waitForSelector('#made-dialog', { state: 'hidden' });
      await isFocused('Actions for third');
      // the new key, then the one it replaced
      for (const left of [1, 0]) {
        await revoke('third');
        await page.locator('.replaced').waitFor({ state: 'detached' });
        await eventually(async () => (await page.locator('#keys tr').count()) === left, PATIENCE);
      }
      await page.getByText('No active keys.').waitFor();
      expect(await focused(page)).toBe('API keys');
    });
  });

  const lengths = async (bars: Locator): Promise<number[]> =>
    Promise.all((await bars.all()).map(async (bar) => (await bar.boundingBox())?.height ?? 0));

  test('the chart shows 5 errors of 739 without lengthening the bar, and adapts to the window', async () => {
    const of = await makeOrganisation(scene.gateway);
    const { id } = await makeKey(scene.gateway, of, { name: 'busy' });
    await scene.gateway.control.usage.add([
      { keyId: id, hour: new Date(), requests: 739, errors: 5, rate_limited: 1 },
      { keyId: id, hour: new Date(Date.now() - 5 * HOUR), requests: 739, errors: 0, rate_limited: 0 },
    ]);
    await visit(of, async (page) => {
      await choose(page, 'busy', 'Usage');
      const bars = page.locator('#usage .chart rect');
      await bars.first().waitFor();
      const [whole = 0, ...parts] = await lengths(bars);
      expect(parts).toHaveLength(3);
      for (const part of parts) expect(part).toBeGreaterThanOrEqual(3);
      expect(parts.reduce((sum, part) => sum + part, 0)).toBeCloseTo(whole, 1);
      await page.getByRole('img', { name: /including 5 errors and 1 with status 429/ }).waitFor();

      await page.setViewportSize({ width: 700, height: 800 });
      const fits = `document.querySelector('#usage .chart').viewBox.baseVal.width === document.querySelector('#chart').clientWidth`;
      await eventually(() => page.evaluate(fits), PATIENCE);
      expect(await page.evaluate('document.querySelector("#chart").clientWidth')).toBeLessThan(700);
      expect((await lengths(bars))[0]).toBeCloseTo(whole, 1);
    });
  });

  test('filter, key and period are kept in the URL, and restored from it', async () => {
    const of = await makeOrganisation(scene.gateway);
    const { id } = await makeKey(scene.gateway, of, { name: 'gone' });
    await makeKey(scene.gateway, of, { name: 'here' });
    await scene.gateway.control.apiKeys.revoke(id);
    await visit(of, async (page) => {
      await page.getByLabel('Show').selectOption('ended');
      await page.getByRole('button', named('Usage of gone')).click();
      await page.getByRole('radio', { name: '30 days' }).check();
      await page.getByRole('img', { name: /gone in the last 30 days/ }).waitFor();
      expect(new URL(page.url()).search).toBe(`?keys=ended&key=${id}&period=last_30d`);
      const steps: number = await page.evaluate('history.length');
      await page.reload();
      await page.getByRole('img', { name: /gone in the last 30 days/ }).waitFor();
      expect(await page.getByRole('radio', { name: '30 days' }).isChecked()).toBe(true);
      expect(await page.evaluate('history.length')).toBe(steps);

      await page.getByRole('link', { name: 'Integrations' }).click();
      await page.getByRole('rowheader', named('gone')).waitFor();
      expect(await page.getByRole('rowheader', named('here')).count()).toBe(0);
      expect(await page.getByLabel('Show').inputValue()).toBe('ended');
      expect(new URL(page.url()).searchParams.get('keys')).toBe('ended');
      await page.getByLabel('Show').selectOption('all');
      await page.getByRole('rowheader', named('here')).waitFor();
      expect(new URL(page.url()).searchParams.get('keys')).toBe('all');
      expect(new URL(page.url()).searchParams.has('key')).toBe(false);
      await page.getByLabel('Show').selectOption('active');
      await page.getByRole('rowheader', named('gone')).waitFor({ state: 'detached' });
      expect(new URL(page.url()).searchParams.has('keys')).toBe(false);
      expect(await page.evaluate('history.length')).toBe(steps + 1);
    });
  });

  test('keys can be searched, and a whole key that is pasted is neither sent to the gateway nor put into the URL', async () => {
    const of = await makeOrganisation(scene.gateway);
    await makeKey(scene.gateway, of, { name: 'Web shop' });
    const till = await makeKey(scene.gateway, of, { name: 'Till' });
    await visit(of, async (page) => {
      const sent: string[] = [];
      page.on('request', (request) => sent.push(`${request.url()} ${request.postData() ?? ''}`));
      const search = page.getByRole('searchbox', { name: 'Search keys' });
      await page.getByRole('rowheader', named('Till')).waitFor();
      await search.fill('SHOP');
      await page.getByRole('rowheader', named('Till')).waitFor({ state: 'detached' });
      await page.waitForURL(/[?&]search=SHOP\b/);
      await page.reload();
      await page.getByRole('rowheader', named('Web shop')).waitFor();
      expect(await search.inputValue()).toBe('SHOP');
      await search.fill(till.key);
      await page.getByRole('rowheader', named('Till')).waitFor();
      await page.waitForURL((url) => url.searchParams.get('search') === till.key.slice(-4));
      expect(sent.join('\n')).not.toContain(till.key.slice(20, 40));
      await search.fill('nothing like it');
      await page.getByText('No matching keys.').waitFor();
    });
  });

  test('a preset checks its scopes, and changing scopes selects the matching preset', async () => {
    const of = await makeOrganisation(scene.gateway);
    await visit(of, async (page) => {
      await page.getByRole('button', { name: 'New key' }).click();
      const boxes = page.getByRole('checkbox');
      const checked = async (): Promise<string[]> => {
        const all = await Promise.all(
          (await boxes.all()).map(async (box) => [await box.inputValue(), await box.isChecked()]),
        );
        return all.filter(([, is]) => is).map(([scope]) => String(scope));
      };
      await page.getByRole('radio', { name: 'Everything' }).check();
      expect(await checked()).toEqual(ALL_SCOPES);
      await page.getByRole('radio', { name: 'Read only' }).check();
      const readable = ALL_SCOPES.filter((scope) => scope.endsWith(':read'));
      expect(await checked()).toEqual(readable);
      const write = page.getByRole('checkbox', { name: /quotes:write/ });
      await write.check();
      expect(await page.getByRole('radio', { name: 'By resource' }).isChecked()).toBe(true);
      await write.uncheck();
      expect(await page.getByRole('radio', { name: 'Read only' }).isChecked()).toBe(true);
      await page.locator('#make-dialog').getByLabel('Name', { exact: true }).fill('reader');
      await page.getByRole('button', { name: 'Create key' }).click();
      await page.waitForSelector('#made-dialog[open]');
      expect(await scene.gateway.control.apiKeys.list(of.id)).toMatchObject([{ scopes: readable }]);
    });
  });
});
