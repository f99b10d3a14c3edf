import { randomUUID } from 'node:crypto';
import { allScopes } from '../../../src/auth/scopes';
import { DAY, HOUR } from '../../../src/units';
import { eventually } from '../../api/http/eventually';
import { button, copy, enter, expectAccessible, hasFocus, inBrowser, press, says } from '../../support/browser';
import { client, type Json } from '../../support/client';
import { makeKey, makeOrganisation, northwind, store } from '../../support/factories';
import * as on from '../../support/settingsPage';

const { choose, dialog, named, saved } = on;

inBrowser('making, rotating and revoking keys on the settings page', () => {
  const { gateway, visit } = on.pageScene();
  const statusOf = async (key: string): Promise<number> => (await client(gateway, key).get('/me')).status;

  test('a key can be created by keyboard, is shown only once, can be copy, works in its curl command, and its first request is seen', async () => {
    const page = await visit(await makeOrganisation(gateway));
    await enter(page, 'New key');
    await hasFocus(dialog(page).getByLabel('Name', { exact: true }));
    await page.keyboard.type('web shop');
    await page.keyboard.press('Enter');
    await says(dialog(page), 'Select at least one scope.');
    await dialog(page)
      .getByRole('checkbox', { name: /quotes:read/ })
      .press('Space');
    // before anything is sent again
    await dialog(page).getByText('Select at least one scope.').waitFor({ state: 'hidden' });
    await enter(page, 'Create key');
    const key = await on.shown(page, 'The key');
    expect(key).toMatch(/^svc_live_/);
    await expectAccessible(page);
    expect(await copy(dialog(page), 'Copy')).toBe(key);
    const curl = /^curl '?(\S+?)'? \\\n +-H "Authorization: (.*)"$/.exec(await on.shown(page, 'curl sample'));
    const [, url = '', authorization = ''] = curl ?? [];
    expect(url).toBe(`${gateway.url}/api/v1/me`);
    await says(dialog(page), 'Waiting for the first request…');
    await fetch(url.replace('me', 'orders'), { headers: { authorization } });
    await says(dialog(page), /^Request: 403 missing scope orders:read, just now$/);
    expect((await fetch(url, { headers: { authorization } })).status).toBe(200);
    await says(dialog(page), /^First request: 200 GET \/me, just now$/);
    for (const [name, text] of [
      ['TypeScript', `fetch("${url}"`],
      ['Python', `requests.get(\n    "${url}"`],
      ['.env', `SCOPEGATE_KEY=${key}`],
    ] as const) {
      await dialog(page).getByRole('radio', { name }).check();
      expect(await on.shown(page, `${name} sample`)).toContain(text);
    }
    // over MCP it may do nothing
    expect(await dialog(page).getByRole('radio').count()).toBe(4);

    // only its button closes it, also in browsers that do not know the attribute
    for (const attribute of ['', 'closedby']) {
      await dialog(page).evaluate((element, name) => {
        element.removeAttribute(name);
      }, attribute);
      for (let time = 0; time < 3; time += 1) await page.keyboard.press('Escape');
    }
    await page.goBack();
    await saved(page);
    await named(page, 'web shop').waitFor();
    expect(await page.content()).not.toContain(key);
    // the dialog's place in the history is left after it is closed, which would end a reload before it loads
    await eventually(() => page.evaluate<boolean>('!history.state?.isDialog'));
    await page.reload();
    await named(page, 'web shop').waitFor();
    expect(await page.content()).not.toContain(key);
  });

  test('a key for some customers is made from their ids, an unknown one is named, and the key says whose data it has', async () => {
    const organisation = await makeOrganisation(gateway);
    await store(gateway, organisation, { customers: northwind('customers').slice(0, 2) });
    const [one, other] = northwind('customers').map(({ id }) => id);
    const page = await visit(organisation);
    await enter(page, 'New key');
    await dialog(page).getByLabel('Name', { exact: true }).fill('agency');
    await dialog(page)
      .getByRole('checkbox', { name: /orders:read/ })
      .check();
    const unknown = randomUUID();
    await dialog(page).getByLabel('Only these customers').fill(`${one!}, ${unknown}`);
    await enter(page, 'Create key');
    await says(dialog(page), new RegExp(`“${unknown}” is not a customer of the organisation`));
    await dialog(page).getByLabel('Only these customers').fill(`${one!} ${other!}`);
    await dialog(page).getByText('2 customers').waitFor();
    await enter(page, 'Create key');
    const key = await on.shown(page, 'The key');
    expect((await client(gateway, key).get('/me')).body.key.customer_ids).toEqual([one, other].sort());
    await saved(page);
    await page.getByText('of 2 customers').waitFor();
    await named(page, 'agency').click();
    await page.getByText(one!).waitFor();
  });

  test('a key shows what assistants may do, and its configuration for them works', async () => {
    const page = await visit(await makeOrganisation(gateway));
    await on.fillNewKey(page, 'assistant');
    expect(await dialog(page).getByLabel('AI assistants (MCP)').inputValue()).toBe('off');
    await dialog(page)
      .getByRole('checkbox', { name: /requests:write/ })
      .check();
    await dialog(page).getByLabel('AI assistants (MCP)').selectOption('write');
    await press(page, 'Create key');
    await dialog(page).getByRole('radio', { name: 'MCP' }).check();
    const { url, headers } = JSON.parse(await on.shown(page, 'MCP sample')).mcpServers.scopegate;
    const answer = await fetch(url as string, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    });
    const { result } = await answer.json();
    expect(result.tools.map(({ name }: Json) => name)).toContain('open_request');
    await saved(page);
    expect(await page.content()).not.toContain(headers.Authorization.split(' ')[1]);
    await on.follow(page, 'assistant');
    await says(on.fact(page, 'Assistants, over MCP'), 'may read and write');
  });

  test('without a clipboard, the page says so and selects the key', async () => {
    const page = await visit(await makeOrganisation(gateway));
    // as on plain http
    await page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
    await on.fillNewKey(page, 'web shop');
    await press(page, 'Create key');
    const key = await on.shown(page, 'The key');
    await button(dialog(page), 'Copy').first().click();
    await says(dialog(page), 'The browser did not let the page copy');
    expect((await page.evaluate<string>('String(getSelection())')).trim()).toBe(key);
  });

  test('a preset checks its scopes, changing scopes selects the matching preset, and a summary says what the key will be', async () => {
    const of = await makeOrganisation(gateway);
    const page = await visit(of);
    await press(page, 'New key');
    await says(dialog(page), 'List, search and read quotes with their lines');
    const preset = (name: string) => page.getByRole('radio', { name: new RegExp(`^${name}`) });
    const summary = dialog(page).getByRole('group', { name: 'Summary' });
    await says(summary, 'nothing yet: choose scopes');
    const checked = async (): Promise<string[]> => {
      const boxes = dialog(page).locator(':checked[type=checkbox]');
      return boxes.evaluateAll((found) => found.map((box) => (box as unknown as { value: string }).value));
    };
    await preset('Everything').check();
    // what no operation uses yet is not offered
    expect(await checked()).toEqual(allScopes().filter((scope) => scope !== 'quotes:write'));
    await preset('Sync a catalogue').check();
    expect(await checked()).toEqual(['products:read', 'products:write']);
    await preset('Dashboard').check();
    expect(await checked()).toEqual(['products:read', 'quotes:read', 'orders:read', 'customers:read']);
    await preset('Read only').check();
    const readable = allScopes().filter((scope) => scope.endsWith(':read'));
    expect(await checked()).toEqual(readable);
    const write = page.getByRole('checkbox', { name: /products:write/ });
    await write.check();
    expect(await preset('Custom').isChecked()).toBe(true);
    await write.uncheck();
    expect(await preset('Read only').isChecked()).toBe(true);
    await preset('Custom').check();
    await dialog(page).getByLabel('Allowed addresses').fill('::1');
    expect(await preset('Custom').isChecked()).toBe(true);
    expect(await checked()).toEqual(readable);
    await dialog(page).getByLabel('Name', { exact: true }).fill('reader');
    await dialog(page).getByLabel('Allowed addresses').fill('127.0.0.0/8, ::1');
    await dialog(page).getByLabel('Expires').selectOption('never');
    const said = (await summary.innerText()).replaceAll(/\s+/g, ' ');
    expect(said).toContain(readable.join(' '));
    expect(said).toMatch(
      /AI assistants may not use it From 127\.0\.0\.0\/8, ::1 Data of all customers Until it is revoked$/,
    );
    await press(page, 'Create key');
    await on.shown(page, 'The key');
    expect(await gateway.control.apiKeys.list(of.id)).toMatchObject([{ scopes: readable }]);
  });

  test('revoking explains what will break, can be cancelled, and ends the key immediately', async () => {
    const of = await makeOrganisation(gateway);
    const { key, id } = await makeKey(gateway, of, { name: 'till', scopes: ['orders:read'] });
    await statusOf(key);
    await gateway.control.usage.add([{ keyId: id, at: new Date(), requests: 17, errors: 0, rate_limited: 0 }]);
    const page = await visit(of);
    await choose(page, 'till', 'Revoke…');
    // the call above is included once the minute's usage is written
    await says(dialog(page), /1[78] requests in the last 24 hours/);
    expect(await dialog(page).textContent()).toMatch(/till.*gets a 401.*orders:read/s);
    await press(dialog(page), 'Cancel');
    expect(await statusOf(key)).toBe(200);
    await choose(page, 'till', 'Revoke…');
    await press(page, 'Revoke key');
    await says(page, 'No active keys.');
    expect(await statusOf(key)).toBe(401);
    await on.goTo(page, 'Audit log');
    await says(on.section(page, 'Audit log'), 'Revoked till');
  });

  test('on a plan without integrations the page says so, and keys can only be revoked', async () => {
    const of = await makeOrganisation(gateway, { plan: 'starter' });
    await makeKey(gateway, of, { name: 'asleep' });
    const page = await visit(of);
    await says(page, 'Upgrade the plan');
    const empty = await visit({ of: await makeOrganisation(gateway, { plan: 'starter' }), on: 'Overview' });
    await says(empty, 'There is none yet. Upgrade the plan to create one');
    expect(await empty.getByText('Ask an admin').count()).toBe(0);
    await press(page, 'Actions for asleep');
    expect(await page.getByRole('menuitem').allTextContents()).toEqual(['Revoke…']);
    expect(await button(page, 'New key').count()).toBe(0);
    await page.keyboard.press('Escape');
    await expectAccessible(page);
  });

  test('a rotation shows exactly when the new key expires, before and after, and can keep the date', async () => {
    const of = await makeOrganisation(gateway);
    const end = new Date(`${new Date(Date.now() + 20 * DAY).toISOString().slice(0, 10)}T23:59:59Z`);
    const keys = gateway.databases.control.collection<{ _id: string }>('api_keys');
    for (const name of ['same', 'kept']) {
      const { id } = await makeKey(gateway, of, { name, expiresAt: end });
      await keys.updateOne({ _id: id }, { $set: { created_at: new Date(Date.now() - 70 * DAY) } });
    }
    await makeKey(gateway, of, { name: 'endless' });
    const exact = (time: Date): string => `${time.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
    const page = await visit(of);
    const expires = dialog(page).getByLabel('The new key expires');
    const chosen = (): Promise<string> => expires.locator('option:checked').innerText();
    const rotated = async (name: string, text: string): Promise<Date | null> => {
      await on.rotate(page);
      await says(dialog(page), text);
      await saved(page);
      const all = await gateway.control.apiKeys.list(of.id);
      return all.find((key) => key.name === name && key.rotated_to === null)!.expires_at;
    };
    await choose(page, 'same', 'Rotate…');
    const [, said = ''] = /^([\d-]{10} [\d:]{8} UTC), same lifetime$/.exec(await chosen()) ?? [];
    const at = await rotated('same', `It expires at ${said}.`);
    expect(exact(at!)).toBe(said);
    expect(Math.abs(at!.getTime() - end.getTime() - 70 * DAY)).toBeLessThan(HOUR);

    await choose(page, 'kept', 'Rotate…');
    await expires.selectOption({ label: `${exact(end)}, like the old key` });
    expect(await rotated('kept', `It expires at ${exact(end)}.`)).toEqual(end);

    await choose(page, 'endless', 'Rotate…');
    expect(await chosen()).toBe('never, like the old key');
    expect(await expires.locator('option:not([hidden])').count()).toBe(2);
    await says(dialog(page), 'After that, requests with the old key get 401.');
    await dialog(page).getByLabel('Yes: the old key ends at once').check();
    await dialog(page).getByLabel('Keep the old key').waitFor({ state: 'detached' });
    expect(await rotated('endless', 'It never expires. Requests with the old key get 401 from now on.')).toBeNull();

    // the lifetime to repeat is read meanwhile: what was chosen before stays
    const [late, gone] = [await makeKey(gateway, of, { name: 'late' }), await makeKey(gateway, of, { expiresAt: end })];
    await gateway.control.apiKeys.revoke(gone.id);
    await keys.updateOne({ _id: late.id }, { $set: { rotated_to: gone.id } as never });
    await page.reload();
    const next = await on.holdCalls(page, /value: key\(/);
    await choose(page, 'late', 'Rotate…');
    const held = await next();
    await expires.selectOption('on a date');
    await held.continue();
    await expires.locator('option', { hasText: 'same lifetime' }).waitFor({ state: 'attached' });
    expect(await chosen()).toBe('on a date');
  });

  test('a missing scope is added where its 403 is shown, scopes are edited, and what somebody else changes meanwhile stays', async () => {
    const of = await makeOrganisation(gateway);
    const { id, key } = await makeKey(gateway, of, { name: 'till', scopes: ['quotes:read', 'quotes:write'] });
    await client(gateway, key).get('/orders');
    const { apiKeys } = gateway.control;
    const scopes = async (): Promise<readonly string[]> => (await apiKeys.find(id))!.scopes;
    const add = 'Add orders:read to this key…';
    const page = await visit({ of, on: 'Requests' });
    await eventually(async () => {
      await press(on.section(page, 'Requests'), 'Refresh');
      return (await named(page, 'GET /orders').count()) === 1;
    });
    await named(page, 'GET /orders').getByRole('link').click();
    await press(dialog(page), add);
    await says(dialog(page), /\+ orders:read/);
    await press(page, 'Cancel');

    await on.goTo(page, 'API keys');
    await on.follow(page, 'till');
    await says(page, /^Requests got 403 for the missing scope orders:read, last (just now|\d minutes? ago)/);
    await expectAccessible(page);
    await press(page, add);
    await says(dialog(page), /\+ orders:read/);
    await expectAccessible(page);
    await apiKeys.update(id, { scopes: ['quotes:read', 'quotes:write', 'products:read'] });
    await press(page, 'Add scope');
    await button(page, add).waitFor({ state: 'detached' });
    expect(await scopes()).toEqual(['quotes:read', 'quotes:write', 'products:read', 'orders:read']);
    expect((await client(gateway, key).get('/orders')).status).toBe(200);
    await hasFocus(on.heading(page, 'till'));

    await press(page, 'Edit');
    // reserved: no operation uses it
    await dialog(page).getByLabel('quotes:write').uncheck();
    await dialog(page).getByLabel('customers:read').check();
    const summary = dialog(page).getByRole('group', { name: 'Summary' });
    await says(summary, '+ customers:read');
    await says(summary, '− quotes:write');
    await apiKeys.update(id, { scopes: ['quotes:read', 'quotes:write', 'orders:read'] });
    await press(page, 'Save');
    await says(on.section(page, 'Audit log of this key'), 'Scopes: quotes:write customers:read');
    expect(await scopes()).toEqual(['quotes:read', 'orders:read', 'customers:read']);
    await press(page, 'Edit');
    for (const scope of await scopes()) await dialog(page).getByLabel(scope).uncheck();
    await press(page, 'Save');
    await says(dialog(page), 'Select at least one scope.');
  });
});
