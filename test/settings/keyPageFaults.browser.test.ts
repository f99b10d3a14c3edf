import type { Page, Route } from 'playwright-core';
import type { Organisation } from '../../src/auth/principal';
import { CHROMIUM, INSTALL_CHROMIUM } from '../support/browser';
import { client } from '../support/client';
import { makeKey, makeOrganisation } from '../support/factories';
import { describeWith } from '../support/programs';
import { eventually } from '../http/eventually';
import { makeLink } from './people';
import { choose, expectAccessible, intercept, pageScene, signIn } from './visiting';

/** What the browser logs about requests that the test makes fail. */
const LOST = /Failed to load resource/;

const PATIENCE = 30_000;

describeWith(CHROMIUM, INSTALL_CHROMIUM)('keys on the settings page, when something goes wrong', () => {
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
      await page.locator('#make-dialog').getByText('Whether the key web shop was made is not known.').waitFor();
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

  test('if the dialog is cancelled instead, the page says that there may be a key, lists it, and shows it on request', async () => {
    const of = await makeOrganisation(scene.gateway);
    await visit(of, async (page) => {
      let isLost = true;
      await intercept(page, /create_api_key/, (route) => (isLost ? lose(route) : route.continue()));
      await fillNew(page);
      await create(page);
      await page.locator('#make-dialog').getByText('is not known').waitFor();
      await page.getByRole('button', { name: 'Cancel' }).click();
      const doubt = page.locator('#notices').getByText('Whether the key web shop was made is not known.');
      await doubt.waitFor();
      await page.getByRole('rowheader', { name: 'web shop' }).waitFor();
      await expectAccessible(page);
      await page.locator('#notices').getByRole('button', { name: 'Try again' }).click();
      await doubt.getByText('Could not reach the gateway').waitFor();
      isLost = false;
      await page.locator('#notices').getByRole('button', { name: 'Try again' }).click();
      expect(await statusOf(await valueOf(page))).toBe(200);
      await doubt.waitFor({ state: 'detached' });
      expect(await keysOf(of)).toHaveLength(1);
    });
  });

  test('the same applies if the dialog was closed before the answer was lost', async () => {
    const of = await makeOrganisation(scene.gateway);
    await visit(of, async (page) => {
      const held: Route[] = [];
      await intercept(page, /create_api_key/, (route) => {
        held.push(route);
        return Promise.resolve();
      });
      await fillNew(page);
      await create(page);
      await eventually(() => held.length === 1, PATIENCE);
      await page.keyboard.press('Escape');
      await page.waitForSelector('#make-dialog', { state: 'hidden' });
      await lose(held[0]!);
      await page.locator('#notices').getByText('Whether the key web shop was made is not known.').waitFor();
      await page.getByRole('rowheader', { name: 'web shop' }).waitFor();
    });
  });

  test('if the answer to a rotation is lost, trying again shows the new key', async () => {
    const of = await makeOrganisation(scene.gateway);
    await makeKey(scene.gateway, of, { name: 'nightly' });
    await visit(of, async (page) => {
      let times = 0;
      await intercept(page, /rotate_api_key/, (route) => ((times += 1) === 1 ? lose(route) : route.continue()));
      await choose(page, 'nightly', 'Rotate…');
      const dialog = page.locator('#rotate-dialog');
      await dialog.getByRole('button', { name: 'Rotate key' }).click();
      await dialog.getByText('Whether the key nightly was rotated is not known.').waitFor();
      await dialog.getByRole('button', { name: 'Rotate key' }).click();
      expect(await statusOf(await valueOf(page))).toBe(200);
      expect(await keysOf(of)).toHaveLength(2);
    });
  });

  test('late answers about another key, period or filter are dropped', async () => {
    const of = await makeOrganisation(scene.gateway);
    const first = await makeKey(scene.gateway, of, { name: 'first' });
    const second = await makeKey(scene.gateway, of, { name: 'second' });
    await scene.gateway.control.apiKeys.revoke((await makeKey(scene.gateway, of, { name: 'gone' })).id);
    const counts = { hour: new Date(), errors: 0, rate_limited: 0 };
    await scene.gateway.control.usage.add([
      { ...counts, keyId: first.id, requests: 111 },
      { ...counts, keyId: second.id, requests: 222 },
      { ...counts, keyId: second.id, requests: 444, hour: new Date(Date.now() - 9 * 86_400_000) },
    ]);
    await visit(of, async (page) => {
      const held: (() => Promise<void>)[] = [];
      let late: RegExp | undefined = new RegExp(`key_usage.*${first.id}`, 's');
      await intercept(page, /./, async (route) => {
        if (!late?.test(route.request().postData() ?? '')) return route.continue();
        const response = await route.fetch();
        held.push(() => route.fulfill({ response }));
      });
      /** Releases the late answers after `choose` has made another choice and its answer is shown. */
      const then = async (choose: () => Promise<void>): Promise<void> => {
        await eventually(() => held.length > 0, PATIENCE);
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
      });
      expect(await total.textContent()).toBe('222');
      expect(await page.locator('#key-title').textContent()).toBe('second');

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

  test('what could not be read at first is reported in its place, and can be tried again', async () => {
    const of = await makeOrganisation(scene.gateway);
    const { id } = await makeKey(scene.gateway, of, { name: 'busy' });
    await visit(of, async (page) => {
      let isLost = true;
      let lost = /api_key|audit_events|request_log/;
      await page.route('**/settings/graphql', (route) =>
        isLost && lost.test(route.request().postData() ?? '') ? route.abort('connectionreset') : route.fallback(),
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
      await page.reload();
      await tryAgain('#keys-failure', '#events-failure', '#requests [data-failed]');
      await page.getByRole('rowheader', { name: 'busy' }).waitFor();
      await page.locator('#events tr').first().waitFor();

      lost = /api_key\(/;
      await page.goto(`${scene.gateway.url}/settings/integrations?key=${id}`);
      await tryAgain('#key-failure');
      await page.getByRole('heading', { name: 'busy' }).waitFor();

      lost = /key_usage|audit_events|request_log/;
      await page.reload();
      await tryAgain('#usage-failure', '#key-requests [data-failed]', '#key-events-failure');
      await page.waitForSelector('#usage .chart');
      await page.locator('#key-events tr').first().waitFor();
    });
  });

  test('a session that ended elsewhere loses no input, and works again after signing in from another tab', async () => {
    const of = await makeOrganisation(scene.gateway);
    await visit(of, async (page) => {
      await fillNew(page);
      const other = await page.context().newPage();
      await other.goto(`${scene.gateway.url}/settings/integrations`);
      await other.getByRole('button', { name: 'Sign out', exact: true }).click();
      await other.waitForURL('**/settings/sign-in');
      await create(page);
      const failure = page.locator('#make-dialog [data-failure]');
      await failure.getByText('You have been signed out.').waitFor();
      expect(await page.locator('#make-dialog').getByLabel('Name', { exact: true }).inputValue()).toBe('web shop');
      await signIn(other, scene.gateway, await makeLink(scene.gateway, of));
      await create(page);
      expect(await statusOf(await valueOf(page))).toBe(200);
      expect(await keysOf(of)).toMatchObject([{ name: 'web shop', scopes: ['quotes:read'] }]);
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

  test('errors are shown in a sentence at their fields, and the first such field gets the focus', async () => {
    const of = await makeOrganisation(scene.gateway);
    await visit(of, async (page) => {
      await page.getByRole('button', { name: 'New key' }).click();
      const name = page.locator('#make-dialog').getByLabel('Name', { exact: true });
      await name.fill('web\u200bshop');
      await create(page);
      await page.locator('#make-scopes-fault').getByText('Select at least one scope.').waitFor();
      await page.getByRole('checkbox', { name: /quotes:read/ }).check();
      const ranges = page.locator('#make-dialog').getByLabel('Allowed addresses (optional)');
      await ranges.fill('10.0.0.0/8, everywhere');
      await create(page);
      await page
        .locator('#make-allowed_ranges-fault')
        .getByText('“everywhere” is not an address or CIDR range, e.g. 203.0.113.0/24 or 2001:db8::/32.', {
          exact: true,
        })
        .waitFor();
      await page.locator('#make-name-fault').getByText('It must be one non-blank line').waitFor();
      expect(await page.locator('#make-dialog').innerText()).not.toMatch(/\/(name|allowed_ranges)/);
      expect(await page.evaluate('document.activeElement.id')).toBe('make-name');
      await name.fill('web shop');
      await ranges.fill('10.0.0.0/8');
      await create(page);
      await valueOf(page);
    });
  });

  test('losing a race to rotate a key is reported without a pointer', async () => {
    const of = await makeOrganisation(scene.gateway);
    const { id } = await makeKey(scene.gateway, of, { name: 'nightly' });
    await visit(of, async (page) => {
      await choose(page, 'nightly', 'Rotate…');
      await scene.gateway.control.apiKeys.rotate(id, { overlap: 3_600_000 });
      await page.getByRole('button', { name: 'Rotate key' }).click();
      const failure = page.locator('#rotate-dialog [data-failure]');
      await failure.getByText('It was already replaced by svc_live_').waitFor();
      expect(await failure.textContent()).not.toContain('/id');
    });
  });
});
