import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { visitor } from '../support/browser';
import { makeKey, makeOrganisation } from '../support/factories';
import { makeLink } from './people';
import { expectAccessible, inBrowser, pageScene, signIn } from './visiting';

/* What all sections of the settings page do on failures. */

inBrowser('sections of the settings page, when something goes wrong', () => {
  const scene = pageScene({ tolerates: /Failed to load resource/ });
  const { visit } = scene;

  test('retrying one section after a network failure reloads all of them, one after another', async () => {
    const of = await makeOrganisation(scene.gateway);
    await makeKey(scene.gateway, of, { name: 'busy' });
    await visit(of, async (page) => {
      let isAway = true;
      let [running, most] = [0, 0];
      await page.route('**/settings/graphql', async (route) => {
        if (isAway) return route.abort('connectionreset');
        running += 1;
        most = Math.max(most, running);
        const response = await route.fetch();
        running -= 1;
        return route.fulfill({ response });
      });
      await page.reload();
      const failures = page.locator('[role="alert"]:visible').filter({ hasText: 'Could not reach the gateway' });
      await failures.nth(5).waitFor();
      // nothing is read automatically
      await page.locator('#members-failure').getByRole('button', { name: 'Try again' }).click();
      await failures.nth(5).waitFor();
      isAway = false;
      await page.locator('#members-failure').getByRole('button', { name: 'Try again' }).click();
      for (const rows of ['#members', '#events', '#keys']) await page.locator(`${rows} tr`).first().waitFor();
      for (const text of ['No requests in the last 24 hours.', 'No requests in the last 7 days.']) {
        await page.getByText(text).waitFor();
      }
      await page.locator('#no-webhooks').waitFor();
      await page.waitForFunction(`!document.querySelector('[role="alert"]:not([hidden])')`);
      expect(most).toBe(1);
    });
  });

  test('a permanent failure names the cause and a way on, and has no button to try again', async () => {
    const of = await makeOrganisation(scene.gateway);
    await visit(of, async (page) => {
      const open = (query: string): Promise<unknown> =>
        page.goto(`${scene.gateway.url}/settings/integrations?${query}`);
      const long = 'x'.repeat(300);
      await open(`search=${long}&operation=${long}&request_id=${long}`);
      await page.locator('#keys-failure').getByText('The search must not have more than 200 characters.').waitFor();
      const failed = page.locator('#requests [data-failed]');
      await failed.getByText('The operation must not have more than 200 characters.').waitFor();
      await failed.getByText('The request id must not have more than 128 characters.').waitFor();
      expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);

      await open(`keys=all&key=${randomUUID()}`);
      const failure = page.locator('#key-failure');
      await failure.getByText('There is no such API key').waitFor();
      expect(await failure.getByRole('button').count()).toBe(0);
      await expectAccessible(page);
      await failure.getByRole('link', { name: 'All API keys' }).click();
      await page.getByRole('heading', { name: 'API keys' }).waitFor();
      expect(new URL(page.url()).search).toBe('?keys=all');

      const other = await page.context().newPage();
      await signIn(other, scene.gateway, await makeLink(scene.gateway, of, 'member', 'Eve'));
      await page.getByLabel('Show').selectOption('ended');
      const stale = page.locator('#keys-failure');
      await stale.getByText('Somebody else has signed in, in another tab.').waitFor();
      expect(await stale.getByRole('button').allTextContents()).toEqual(['Reload']);
      await stale.getByRole('button', { name: 'Reload' }).click();
      await page.getByText('Eve (you)').waitFor();
    });
  });

  test('signing out says so if its result is unknown, and works without scripts', async () => {
    const of = await makeOrganisation(scene.gateway);
    const [url, form] = [`${scene.gateway.url}/settings/integrations`, '**/settings/sign-out'];
    const signOut = (page: Page) => page.getByRole('button', { name: 'Sign out', exact: true });
    await visit({ of, tolerates: /Failed to load resource/ }, async (page) => {
      await page.route(form, async (route) => {
        await route.fetch({ maxRedirects: 0 });
        await route.abort('connectionreset');
      });
      await signOut(page).press('Enter');
      const failure = page.locator('#failure');
      await failure.getByText('We couldn’t confirm that you are signed out: try again.').waitFor();
      expect(page.url()).toBe(url);
      await page.unroute(form);
      await failure.getByRole('button', { name: 'Try again' }).click();
      await page.waitForURL('**/settings/sign-in');

      await signIn(page, scene.gateway, await makeLink(scene.gateway, of));
      const other = await page.context().newPage();
      await signIn(other, scene.gateway, await makeLink(scene.gateway, of));
      await signOut(page).click();
      await page.waitForURL('**/settings/sign-in');
      await signIn(page, scene.gateway, await makeLink(scene.gateway, of, 'admin', 'Eve'));
      await signOut(other).click();
      await other.locator('#failure').getByText('Somebody else has signed in, in another tab.').waitFor();
      await page.reload();
      expect(page.url()).toBe(url);
    });
    const plain = await visitor(scene.browser, [scene.gateway.url], { javaScriptEnabled: false });
    try {
      const link = await makeLink(scene.gateway, of);
      await plain.page.goto(`${scene.gateway.url}/settings/sign-in?link=${link}`);
      await plain.page.getByRole('button', { name: 'Continue' }).click();
      await signOut(plain.page).click();
      await plain.page.waitForURL('**/settings/sign-in');
    } finally {
      await plain.close();
    }
  });
});
