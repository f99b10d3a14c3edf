import type { Page, Route } from 'playwright-core';
import type { Organisation } from '../../src/auth/principal';
import { client } from '../support/client';
import { makeKey, makeOrganisation } from '../support/factories';
import { eventually } from '../http/eventually';
import { someRequests } from './logRows';
import { choose, expectAccessible, inBrowser, intercept, pageScene } from './visiting';

/** What the browser logs about requests that the test makes fail. */
const LOST = /Failed to load resource/;

const PATIENCE = 30_000;

inBrowser('keys on the settings page, when something goes wrong', () => {
  const scene = pageScene({ tolerates: LOST });
  const { visit } = scene;
  const keysOf = (of: Organisation) => scene.gateway.control.apiKeys.list(of.id);
  const statusOf = async (key: string): Promise<number> => (await client(scene.gateway, key).get('/me')).status;
  const valueOf = async (page: Page): Promise<string> => {
    await page.waitForSelector('#made-dialog[open]');
    return (await page.locator('#made-dialog [data-key]').textContent()) ?? '';
  };

  async function fillNew(page: Page): Promise<void> {
    await page.getByRole('button', { name: 'New key' }).click();
    await page.locator('#make-dialog').getByLabel('Name', { exact: true }).fill('web shop');
    await page.getByRole('checkbox', { name: /quotes:read/ }).check();
  }
  const create = (page: Page): Promise<void> => page.getByRole('button', { name: 'Create key' }).click();

  /** Lets the gateway process the request, but loses its answer. */
  async function lose(route: Route): Promise<void> {
    await route.fetch();
    await route.abort('connectionreset');
  }

  test('if the answer to creating a key is lost, trying again shows the same key, and no second one is created', async () => {
    const of = await makeOrganisation(scene.gateway);
    await visit(of, async (page) => {
      let times = 0;
      await intercept(page, /create_api_key/, (route) => ((times += 1) === 1 ? lose(route) : route.continue()));
      await fillNew(page);
      await create(page);
      await page.locator('#make-dialog').getByText('We couldn’t confirm that the key web shop was created.').waitFor();
      expect(await page.locator('#make-dialog').getByLabel('Name', { exact: true }).isDisabled()).toBe(true);
      await expectAccessible(page);
      await create(page);
      expect(await statusOf(await valueOf(page))).toBe(200);
      await page.locator('#made-dialog').getByText('web shop: it will not be shown again').waitFor();
      expect(await keysOf(of)).toHaveLength(1);
      await page.getByRole('button', { name: 'I have saved it' }).click();

      // the next key is a different one
      await fillNew(page);
      await create(page);
      await valueOf(page);
      expect(await keysOf(of)).toHaveLength(2);
    });
  });

  test('late answers about another key, period or filter are dropped', async () => {
    const of = await makeOrganisation(scene.gateway);
    const first = await makeKey(scene.gateway, of, { name: 'first' });
    const second = await makeKey(scene.gateway, of, { name: 'second' });
    await scene.gateway.control.apiKeys.revoke((await makeKey(scene.gateway, of, { name: 'gone' })).id);
    await someRequests(scene.gateway, of, first.id, [{ operation: 'orders' }]);
    await someRequests(scene.gateway, of, second.id, [{ operation: 'customers' }]);
    const counts = { hour: new Date(), errors: 0, rate_limited: 0 };
    await scene.gateway.control.usage.add([
      { ...counts, keyId: first.id, requests: 111 },
      { ...counts, keyId: second.id, requests: 222 },
      { ...counts, keyId: second.id, requests: 444, hour: new Date(Date.now() - 9 * 86_400_000) },
    ]);
    await visit(of, async (page) => {
      const held: (() => Promise<void>)[] = [];
      let late: RegExp | undefined = new RegExp(`(key_usage|request_log|audit_events).*${first.id}`, 's');
      await intercept(page, /./, async (route) => {
        if (!late?.test(route.request().postData() ?? '')) return route.continue();
        const response = await route.fetch();
        held.push(() => route.fulfill({ response }));
      });
      /** Releases the late answers after `choose` has made another choice and its answer is shown. */
      const then = async (choose: () => Promise<void>, count = 1): Promise<void> => {
        await eventually(() => held.length >= count, PATIENCE);
        late = undefined;
        await choose();
        for (const answer of held.splice(0)) await answer();
        // a call after them is answered after them
        await page.evaluate('fetch("/healthz").then(() => new Promise((go) => setTimeout(go, 50)))');
      };
      const total = page.locator('#total-requests');

      await choose(page, 'first', 'Usage');
      await then(async () => {
        await page.goBack();
        await choose(page, 'second', 'Usage');
        await total.getByText('222').waitFor();
        await page.locator('#key-requests tbody').getByText('customers').waitFor();
        await page.locator('#key-events').getByText('second').first().waitFor();
      }, 3);
      expect(await total.textContent()).toBe('222');
      expect(await page.locator('#key-title').textContent()).toBe('second');
      expect(await page.locator('#key-requests tbody th').allTextContents()).toEqual(['customers']);
      expect(await page.locator('#key-events').innerText()).not.toContain('first');

      late = /last_30d/;
      await page.getByRole('radio', { name: '30 days' }).check();
      await then(async () => {
        await page.getByRole('radio', { name: '24 hours' }).check();
        await page.getByRole('img', { name: /24 hours: 222/ }).waitFor();
      });
      expect(await total.textContent()).toBe('222');
      await page.getByRole('link', { name: 'Integrations' }).click();

      late = /"ended"/;
      await page.getByLabel('Show').selectOption('ended');
      await then(async () => {
        await page.getByLabel('Show').selectOption('all');
        await page.locator('#keys tr').nth(2).waitFor();
      });
      expect(await page.locator('#keys tr').count()).toBe(3);

      late = new RegExp(`key_usage.*${first.id}`, 's');
      const use = page.locator('#revoke-dialog [data-use]');
      await choose(page, 'first', 'Revoke…');
      await then(async () => {
        await page.getByRole('button', { name: 'Cancel' }).click();
        await choose(page, 'second', 'Revoke…');
        await use.getByText('222 requests').waitFor();
      });
      expect(await use.textContent()).toContain('222 requests');
    });
  });

  test('what of a key could not be read at first is reported in its place, and can be tried again', async () => {
    const of = await makeOrganisation(scene.gateway);
    const { id } = await makeKey(scene.gateway, of, { name: 'busy' });
    await visit(of, async (page) => {
      let isLost = true;
      let lost = ['api_key('];
      await page.route('**/settings/graphql', (route) =>
        isLost && lost.some((name) => route.request().postData()?.includes(name))
          ? route.abort('connectionreset')
          : route.fallback(),
      );
      const tryAgain = async (...selectors: string[]): Promise<void> => {
        const places = selectors.map((place) => page.locator(place));
        for (const place of places) await place.getByText('Could not reach the gateway').waitFor();
        isLost = false;
        // the others are then read automatically
        await places[0]!.getByRole('button', { name: 'Try again' }).click();
        for (const place of places) await place.waitFor({ state: 'hidden' });
        expect(await page.evaluate('document.activeElement.localName')).toMatch(/^h[12]$/);
        isLost = true;
      };
      await page.goto(`${scene.gateway.url}/settings/integrations?key=${id}`);
      await tryAgain('#key-failure');
      await page.getByRole('heading', { name: 'busy' }).waitFor();

      lost = ['key_usage', 'audit_events', 'request_log'];
      await page.reload();
      await tryAgain('#usage-failure', '#key-requests [data-failed]', '#key-events-failure');
      await page.waitForSelector('#usage .chart');
      await page.locator('#key-events tr').first().waitFor();
    });
  });

  test('without a clipboard, the page says so and selects the key', async () => {
    const of = await makeOrganisation(scene.gateway);
    await visit(of, async (page) => {
      // as on plain http
      await page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
      await fillNew(page);
      await create(page);
      const key = await valueOf(page);
      const dialog = page.locator('#made-dialog');
      await dialog.getByRole('button', { name: 'Copy' }).first().click();
      await dialog.getByText('The browser did not let the page copy').waitFor();
      expect(String(await page.evaluate('String(getSelection())')).trim()).toBe(key);
    });
  });
});
