import type { Organisation } from '../../src/auth/principal';
import { THEMES, WIDTHS } from '../support/browser';
import { client, type Json } from '../support/client';
import { makeKey, makeOrganisation } from '../support/factories';
import { choose, expectAccessible, inBrowser, pageScene } from './visiting';

const VIEWS = THEMES.flatMap((theme) => WIDTHS.map((width) => ({ theme, width })));

inBrowser('the settings page in a browser without internet', () => {
  const scene = pageScene();
  const { visit } = scene;
  let organisation: Organisation;

  beforeAll(async () => {
    organisation = await makeOrganisation(scene.gateway, { name: 'Northwind Traders' });
  });

  test.each(VIEWS)('is accessible and fits, with rows, usage and every dialog ($theme, $width px)', async (view) => {
    const name = 'x'.repeat(190);
    const own = await makeOrganisation(scene.gateway, { name });
    const { id } = await makeKey(scene.gateway, own, { name });
    const ended = await makeKey(scene.gateway, own, { name: 'ended' });
    await scene.gateway.control.apiKeys.revoke(ended.id);
    const hour = new Date();
    await scene.gateway.control.usage.add([{ keyId: id, hour, requests: 1234, errors: 40, rate_limited: 9 }]);
    await visit({ ...view, of: own, name }, async (page) => {
      await page.getByLabel('Show').selectOption('all');
      await page.waitForSelector('#keys tr.ended');
      await page.getByRole('button', { name: /^Actions for x/ }).click();
      await page.getByRole('menuitem', { name: 'Usage' }).waitFor();
      await expectAccessible(page);
      await page.getByRole('menuitem', { name: 'Usage' }).click();
      await page.waitForSelector('#usage .chart rect');
      await page.getByText('As a table').click();
      await expectAccessible(page);
      await page.goBack();
      expect((await page.locator('table.keys').boundingBox())!.width).toBeLessThanOrEqual(view.width);
      for (const [opener, dialog] of [
        ['New key', '#make-dialog'],
        ['Rotate…', '#rotate-dialog'],
        ['Revoke…', '#revoke-dialog'],
      ] as const) {
        if (opener === 'New key') await page.getByRole('button', { name: opener }).click();
        else await choose(page, /^Actions/, opener);
        await page.waitForSelector(`${dialog}[open]`);
        await expectAccessible(page);
        const beyond = `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('${dialog}'))`;
        expect(await page.evaluate(beyond)).toBe(0);
        await page.keyboard.press('Escape');
        await page.waitForSelector(dialog, { state: 'hidden' });
      }
    });
  });

  test('a key can be created by keyboard, is shown only once, can be copied, and works in its curl command', async () => {
    await visit(organisation, async (page) => {
      await page.getByRole('button', { name: 'New key' }).focus();
      await page.keyboard.press('Enter');
      await page.locator('#make-dialog').getByLabel('Name', { exact: true }).fill('web shop');
      await page.keyboard.press('Enter');
      expect(await page.locator('#make-scopes-fault').textContent()).toContain('at least one');
      await page.getByRole('checkbox', { name: /quotes:read/ }).focus();
      await page.keyboard.press('Space');
      await page.getByRole('button', { name: 'Create key' }).press('Enter');
      await page.waitForSelector('#made-dialog[open]');
      const key = (await page.locator('#made-dialog [data-key]').textContent())!;
      expect(key).toMatch(/^svc_live_/);
      await expectAccessible(page);

      await page.locator('#made-dialog').getByRole('button', { name: 'Copy' }).first().click();
      await page.locator('#made-dialog [data-copy]', { hasText: 'Copied' }).first().waitFor();
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(key);

      const curl = (await page.locator('#made-dialog [data-curl]').textContent())!;
      // quoted, since zsh would take its question mark for a pattern
      const [, authorization = '', url = ''] = /^curl -H "Authorization: (.*)" "(\S+)"$/.exec(curl) ?? [];
      expect((await fetch(url, { headers: { authorization } })).status).toBe(200);
      expect(url).toContain('/api/v1/quotes');

      // only its button closes it
      for (let time = 0; time < 3; time += 1) await page.keyboard.press('Escape');
      // nor in browsers that do not know the attribute
      await page.evaluate(`document.querySelector('#made-dialog').removeAttribute('closedby')`);
      for (let time = 0; time < 3; time += 1) await page.keyboard.press('Escape');
      await page.goBack();
      await page.getByRole('button', { name: 'I have saved it' }).click();
      await page.getByRole('rowheader', { name: 'web shop' }).waitFor();
      expect(await page.content()).not.toContain(key);
      // the dialog's place in the history is left after it is closed, which would end a reload before it loads
      await page.waitForFunction('!history.state?.isDialog');
      await page.reload();
      await page.getByRole('rowheader', { name: 'web shop' }).waitFor();
      expect(await page.content()).not.toContain(key);
    });
  });

  test('a key shows what assistants may do, and its configuration for them works', async () => {
    await visit(organisation, async (page) => {
      await page.getByRole('button', { name: 'New key' }).click();
      expect(await page.locator('#make-dialog').getByLabel('Assistants, over MCP').inputValue()).toBe('read');
      await page.locator('#make-dialog').getByLabel('Name', { exact: true }).fill('assistant');
      await page.getByRole('checkbox', { name: /requests:write/ }).check();
      await page.locator('#make-dialog').getByLabel('Assistants, over MCP').selectOption('write');
      await page.getByRole('button', { name: 'Create key' }).click();
      await page.getByText('Connect an assistant').click();
      await expectAccessible(page);
      const shown = page.locator('#made-dialog [data-mcp]');
      const { url, headers } = JSON.parse((await shown.textContent())!).mcpServers.scopegate;
      const answer = await fetch(url as string, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
      });
      const { result } = await answer.json();
      expect(result.tools.map(({ name }: Json) => name)).toContain('open_request');
      await page.getByRole('button', { name: 'I have saved it' }).click();
      await page.locator('tr', { hasText: 'assistant' }).getByText('assistants: read and write').waitFor();
      expect(await page.content()).not.toContain(headers.Authorization.split(' ')[1]);
    });
  });

  test('revoking explains what will break, can be cancelled, and ends the key immediately', async () => {
    const own = await makeOrganisation(scene.gateway);
    const { key, id } = await makeKey(scene.gateway, own, { name: 'till', scopes: ['orders:read'] });
    await client(scene.gateway, key).get('/me');
    await scene.gateway.control.usage.add([{ keyId: id, hour: new Date(), requests: 17, errors: 0, rate_limited: 0 }]);
    await visit(own, async (page) => {
      const dialog = page.locator('#revoke-dialog');
      await choose(page, 'till', 'Revoke…');
      // the call above is included once the minute's usage is written
      await dialog.getByText(/1[78] requests in the last 24 hours/).waitFor();
      expect(await dialog.textContent()).toMatch(/till.*gets a 401.*orders:read/s);
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      expect((await client(scene.gateway, key).get('/me')).status).toBe(200);

      await choose(page, 'till', 'Revoke…');
      await page.getByRole('button', { name: 'Revoke key' }).click();
      await page.getByText('No active keys.').waitFor();
      expect((await client(scene.gateway, key).get('/me')).status).toBe(401);
      await page.locator('#events').getByText('Key revoked').waitFor();
    });
  });

  test('on a plan without integrations the page says so, and keys can only be revoked', async () => {
    const own = await makeOrganisation(scene.gateway, { plan: 'starter' });
    await makeKey(scene.gateway, own, { name: 'asleep' });
    await visit(own, async (page) => {
      await page.getByRole('button', { name: 'Actions for asleep' }).waitFor();
      await page.getByText('plan does not include integrations').waitFor();
      expect(await page.getByRole('button', { name: 'New key' }).count()).toBe(0);
      await page.getByRole('button', { name: 'Actions for asleep' }).click();
      expect(await page.getByRole('menuitem').allTextContents()).toEqual(['Usage', 'Revoke…']);
      await page.keyboard.press('Escape');
      await expectAccessible(page);
      await choose(page, 'asleep', 'Revoke…');
      await page.getByRole('button', { name: 'Revoke key' }).click();
      await page.getByText('No active keys.').waitFor();
    });
  });

  test('signing out leads to the sign-in page, on other open pages too', async () => {
    await visit(organisation, async (page) => {
      const other = await page.context().newPage();
      await other.goto(`${scene.gateway.url}/settings/integrations`);
      await other.waitForSelector('#events tr');
      await page.getByRole('button', { name: 'Sign out', exact: true }).click();
      await page.waitForURL(`${scene.gateway.url}/settings/sign-in`);
      await other.getByLabel('Show').selectOption('ended');
      await other.waitForURL(`${scene.gateway.url}/settings/sign-in`);
    });
  });

  test('names are shown as text and never run as markup', async () => {
    const name = '<img src=x onerror=alert(1)>"\'&';
    const own = await makeOrganisation(scene.gateway, { name });
    await makeKey(scene.gateway, own, { name });
    await visit(own, async (page) => {
      await page.getByRole('rowheader', { name }).waitFor();
      expect(await page.locator('main img').count()).toBe(0);
    });
  });
});
