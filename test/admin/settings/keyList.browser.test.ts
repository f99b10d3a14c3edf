import { DAY, HOUR } from '../../../src/units';
import { eventually } from '../../api/http/eventually';
import { button, enter, expectAccessible, hasFocus, inBrowser, passed, press, says } from '../../support/browser';
import { makeKey, makeOrganisation } from '../../support/factories';
import * as on from '../../support/settingsPage';

const { choose, counted, dialog, heading, holdCalls, named, rows, saved } = on;

inBrowser('the list of keys on the settings page', () => {
  const { gateway, visit } = on.pageScene();

  test('a rotated key is shown in the row of the new one during its overlap, where it can be revoked but not rotated', async () => {
    const of = await makeOrganisation(gateway);
    const old = await makeKey(gateway, of, { name: 'nightly' });
    const page = await visit({ of, name: 'Bea' });
    const row = rows(page, 'API keys');
    const items = page.getByRole('menuitem');
    for (const [overlap, ends] of [
      [undefined, /replaced, ends in (23 hours|1 day)$/],
      ['7 days', /replaced, ends in (6|7) days$/],
    ] as const) {
      await choose(page, 'nightly', 'Rotate…');
      if (overlap !== undefined) await page.getByLabel('Keep the old key').selectOption(overlap);
      await on.rotate(page);
      await says(dialog(page), 'The old key works until');
      await saved(page);
      await says(row, ends);
    }
    expect(await row.count()).toBe(1);
    await press(page, 'Actions for nightly');
    expect((await items.allTextContents()).map((text) => text.replace(/…\w{4}/, '…1234'))).toEqual([
      ...['Rotate…', 'Revoke…', 'Revoke replaced …1234…', 'Revoke replaced …1234…'],
    ]);
    await on.goTo(page, 'Audit log');
    const rotated = rows(page, 'Audit log').getByRole('rowheader', { name: /Rotated nightly/ });
    await rotated.first().waitFor();
    expect(await rotated.first().textContent()).toMatch(
      /^Rotated nightly; the old key works until [\d-]{10} [\d:]{8} UTC, the new one has products read/,
    );
    await on.goTo(page, 'API keys');
    await expectAccessible(page);
    const [, , newest] = await gateway.control.apiKeys.list(of.id);
    await gateway.control.apiKeys.revoke(newest!._id);
    await page.reload();
    // a key replaced by a revoked one has its own row again, and can be rotated
    await press(page, 'Actions for nightly');
    await says(items, 'Rotate…');
    expect(await row.count()).toBe(1);
    await items.filter({ hasText: 'Revoke replaced' }).click();
    // looked for meanwhile, since it is shown for 8 s
    const [said] = await Promise.all([
      page.getByText(/^Revoked key nightly, the replaced one …\w{4}\.$/).boundingBox(),
      press(page, 'Revoke key'),
    ]);
    // not for screen readers alone
    expect(said?.height).toBeGreaterThan(20);
    await row.getByText('replaced, ends').waitFor({ state: 'detached' });
    expect(await gateway.control.apiKeys.find(old.id)).toMatchObject({ revoked_at: expect.any(Date) });
  });

  test('an open menu stays beside its button when the page scrolls', async () => {
    const of = await makeOrganisation(gateway);
    for (let at = 0; at < 20; at++) await makeKey(gateway, of, { name: `key ${String(at)}` });
    const page = await visit(of);
    await press(page, 'Actions for key 15');
    const gap = async (): Promise<number> => {
      const menu = await page.getByRole('menu', { name: 'Actions for key 15' }).boundingBox();
      return menu!.y - (await button(page, 'Actions for key 15').boundingBox())!.y;
    };
    const before = await gap();
    await page.evaluate('scrollBy(0, 100)');
    await eventually(() => page.evaluate('scrollY === 100'));
    await eventually(async () => (await gap()) === before);
    await page.getByRole('menuitem', { name: 'Revoke…' }).click();
    await heading(page, 'Revoke this key?').waitFor();
  });

  test('the focus stays in the list when rows change, even behind a dialog', async () => {
    const of = await makeOrganisation(gateway);
    for (const name of ['first', 'second', 'third']) await makeKey(gateway, of, { name });
    const page = await visit(of);
    /** By keyboard: the menu of a key, the item, the dialog's button. */
    const act = async (name: string, action: string, does: string): Promise<void> => {
      const item = (of: string) => page.getByRole('menuitem', { name: of, exact: true });
      await enter(page, `Actions for ${name}`);
      await hasFocus(item('Rotate…'));
      await page.keyboard.press(action.charAt(0));
      while ((await item(action).and(page.locator(':focus')).count()) === 0) await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await enter(page, does);
    };
    const revoke = (name: string): Promise<void> => act(name, 'Revoke…', 'Revoke key');
    for (const [name, next] of [
      ['second', 'first'],
      ['first', 'third'],
    ] as const) {
      await revoke(name);
      await named(page, name).waitFor({ state: 'detached' });
      await hasFocus(button(page, `Actions for ${next}`));
    }
    await act('third', 'Rotate…', 'Rotate key');
    await rows(page, 'API keys').getByText('replaced, ends').waitFor({ state: 'attached' });
    await saved(page);
    await hasFocus(button(page, 'Actions for third'));
    // the new key, then the one it replaced
    for (const left of [1, 0]) {
      await revoke('third');
      await rows(page, 'API keys').getByText('replaced, ends').waitFor({ state: 'detached' });
      await counted(rows(page, 'API keys'), left);
    }
    await says(page, 'No active keys.');
    await hasFocus(heading(page, 'API keys'));
  });

  test('a key can be revoked while another of the same name is, and the same one cannot', async () => {
    const of = await makeOrganisation(gateway);
    for (let made = 0; made < 2; made += 1) await makeKey(gateway, of, { name: 'ERP' });
    const page = await visit(of);
    const next = await holdCalls(page, /revoke_key/);
    const revoke = async (at: number): Promise<void> => {
      await button(page, 'Actions for ERP').nth(at).click();
      await page.getByRole('menuitem', { name: 'Revoke…' }).click();
      await press(page, 'Revoke key');
    };
    await revoke(0);
    await page.keyboard.press('Escape');
    await revoke(0);
    await says(page, 'This is being done already.');
    await page.keyboard.press('Escape');
    await revoke(1);
    const held = [await next(), await next()];
    for (const route of held) await passed(route);
    await named(page, 'ERP').first().waitFor({ state: 'detached' });
  });

  test('the chart shows 5 errors of 739 without lengthening the bar, and adapts to the window', async () => {
    const of = await makeOrganisation(gateway);
    const { id: keyId } = await makeKey(gateway, of, { name: 'busy' });
    await gateway.control.usage.add([
      { keyId, at: new Date(), requests: 739, errors: 5, rate_limited: 1 },
      { keyId, at: new Date(Date.now() - 5 * HOUR), requests: 739, errors: 0, rate_limited: 0 },
    ]);
    const page = await visit(of);
    await on.follow(page, 'busy');
    const chart = page.getByRole('img', { name: /including 5 errors and 1 rate limited/ });
    const lengths = async (): Promise<number[]> => {
      await chart.locator('rect').first().waitFor();
      return chart.locator('rect').evaluateAll((bars) => bars.map((bar) => bar.getBoundingClientRect().height));
    };
    const [whole = 0, ...parts] = await lengths();
    expect(parts).toHaveLength(3);
    for (const part of parts) expect(part).toBeGreaterThanOrEqual(3);
    expect(parts.reduce((sum, part) => sum + part, 0)).toBeCloseTo(whole, 1);
    await page.setViewportSize({ width: 700, height: 800 });
    await eventually(async () => ((await chart.boundingBox())?.width ?? 700) < 700);
    expect((await lengths())[0]).toBeCloseTo(whole, 1);
  });

  test('a page comes with its first rows, unless its address chooses others', async () => {
    const of = await makeOrganisation(gateway);
    await makeKey(gateway, of, { name: 'shop' });
    const page = await visit(of);
    let calls = 0;
    page.on('request', (request) => {
      if (request.url().endsWith('/settings/graphql')) calls += 1;
    });
    await page.goto(`${gateway.url}/settings/keys`);
    await named(page, 'shop').waitFor();
    await page.goto(`${gateway.url}/settings/integrations`);
    await says(page, 'No requests in the last 24 hours.');
    expect(calls).toBe(0);
    await page.goto(`${gateway.url}/settings/keys?state=ended`);
    await says(page, 'No matching keys.');
    expect(calls).toBe(1);
  });

  test('filter, key and period are kept in the URL, and restored from it', async () => {
    const of = await makeOrganisation(gateway);
    const { id } = await makeKey(gateway, of, { name: 'gone' });
    await makeKey(gateway, of, { name: 'here' });
    await gateway.control.apiKeys.revoke(id);
    const page = await visit(of);
    const show = page.getByLabel('Show');
    const steps = (): Promise<number> => page.evaluate('history.length');
    await show.selectOption('ended');
    await on.follow(page, 'gone');
    await page.getByRole('radio', { name: '30 days' }).check();
    const chart = page.getByRole('img', { name: /gone in the last 30 days/ });
    await chart.waitFor();
    expect([on.path(page), on.search(page)]).toEqual([`/settings/keys/${id}`, '?period=last_30d']);
    const before = await steps();
    await page.reload();
    await chart.waitFor();
    expect(await page.getByRole('radio', { name: '30 days' }).isChecked()).toBe(true);
    expect(await steps()).toBe(before);

    await on.leave(page);
    await named(page, 'gone').waitFor();
    expect(await named(page, 'here').count()).toBe(0);
    expect(await show.inputValue()).toBe('ended');
    expect(on.search(page)).toBe('?state=ended');
    await show.selectOption('all');
    await named(page, 'here').waitFor();
    expect(on.search(page)).toBe('?state=all');
    await show.selectOption('active');
    await named(page, 'gone').waitFor({ state: 'detached' });
    expect(on.search(page)).toBe('');
    expect(await steps()).toBe(before + 1);
  });

  test('keys can be searched, and a whole key that is pasted is neither sent to the gateway nor put into the URL', async () => {
    const of = await makeOrganisation(gateway);
    await makeKey(gateway, of, { name: 'Web shop' });
    const till = await makeKey(gateway, of, { name: 'Till' });
    const page = await visit(of);
    const sent: string[] = [];
    page.on('request', (request) => sent.push(`${request.url()} ${request.postData() ?? ''}`));
    const searched = page.getByRole('searchbox', { name: 'Search keys' });
    await named(page, 'Till').waitFor();
    await searched.fill('SHOP');
    await named(page, 'Till').waitFor({ state: 'detached' });
    await page.waitForURL(/[?&]search=SHOP\b/);
    await page.reload();
    await named(page, 'Web shop').waitFor();
    expect(await searched.inputValue()).toBe('SHOP');
    await searched.fill(`Bearer ${till.key}`);
    await named(page, 'Till').waitFor();
    await page.waitForURL((url) => url.searchParams.get('search') === till.key.slice(-4));
    expect(sent.join('\n')).not.toContain(till.key.slice(20, 40));
    await searched.fill('nothing like it');
    await says(page, 'No matching keys.');
  });

  test('names are shown as text, in two lines at most, and as the key if they are invisible', async () => {
    const markup = '<img src=x onerror=alert(1)>"\'&';
    const long = `${'name '.repeat(39)}end`;
    const of = await makeOrganisation(gateway, { name: markup });
    const expiresAt = new Date(Date.now() + DAY);
    for (const name of [markup, long]) await makeKey(gateway, of, { name, expiresAt });
    const { key } = await makeKey(gateway, of, { name: '\u3164', expiresAt });
    const page = await visit(of);
    const lists = { 'API keys': page.getByRole('table'), Overview: page.getByRole('list', { name: /expire/ }) };
    for (const [name, list] of Object.entries(lists)) {
      await on.goTo(page, name as on.PageName);
      const link = list.getByRole('link', { name: 'name name' });
      await link.waitFor();
      expect(await link.getAttribute('title')).toBe(long);
      expect((await link.boundingBox())!.height).toBeLessThan(60);
      const all = await list.getByRole('link').allInnerTexts();
      expect(all).toEqual(expect.arrayContaining([markup, `${key.slice(0, 15)}…${key.slice(-4)}`]));
    }
    expect(await page.locator('main img').count()).toBe(0);
  });
});
