import type { Locator, Page, Route } from 'playwright-core';
import { makeKey, makeOrganisation } from '../support/factories';
import { eventually } from '../http/eventually';
import { makeLink } from './people';
import { choose, expectAccessible, inBrowser, intercept, pageScene, signIn } from './visiting';

/* Changes to keys whose answers are lost, rejected or late. */

const PATIENCE = 30_000;

inBrowser('key changes on the settings page', () => {
  const scene = pageScene({ tolerates: /Failed to load resource/ });
  const { visit } = scene;
  const focused = (page: Page): Promise<string> =>
    page.evaluate('(document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent).trim()');
  const isFocused = (page: Page, name: string) => eventually(async () => (await focused(page)) === name, PATIENCE);
  const asksBeforeLeaving = (page: Page): Promise<boolean> =>
    page.evaluate("!dispatchEvent(new Event('beforeunload', { cancelable: true }))");
  const row = (page: Page, name: string): Locator => page.getByRole('rowheader', { name, exact: true });
  const button = (page: Page, name: string): Locator => page.getByRole('button', { name, exact: true });
  const notices = (page: Page): Locator => page.locator('#notices');
  /** Whether it is within the window, as far as it fits. */
  const isSeen = async (page: Page, place: Locator): Promise<boolean> => {
    const box = await place.boundingBox();
    return box !== null && box.y >= 0 && box.y + box.height <= page.viewportSize()!.height;
  };

  /** Lets the gateway process the request, but loses its answer. */
  async function lose(route: Route): Promise<void> {
    await route.fetch();
    await route.abort('connectionreset');
  }

  /** Holds calls whose body matches, until the test releases them. */
  async function hold(page: Page, body: RegExp): Promise<() => Promise<Route>> {
    const held: Route[] = [];
    await intercept(page, body, (route) => {
      held.push(route);
      return Promise.resolve();
    });
    return async () => {
      await eventually(() => held.length > 0, PATIENCE);
      return held.shift()!;
    };
  }

  async function fillNew(page: Page, name: string): Promise<void> {
    await button(page, 'New key').click();
    await page.locator('#make-name').fill(name);
    await page.getByRole('checkbox', { name: /quotes:read/ }).check();
  }

  test('if a change is lost, or refused because the key has ended, the page shows the key as it is, and keeps the focus', async () => {
    const of = await makeOrganisation(scene.gateway);
    const expiresAt = new Date(Date.now() + 3 * 86_400_000);
    await makeKey(scene.gateway, of, { name: 'till' });
    const shop = await makeKey(scene.gateway, of, { name: 'shop', expiresAt });
    await visit(of, async (page) => {
      const answers = await hold(page, /revoke_api_key|update_api_key/);
      await choose(page, 'till', 'Revoke…');
      const revoke = page.locator('#revoke-dialog');
      await button(page, 'Revoke key').click();
      await lose(await answers());
      await revoke.getByText('We couldn’t confirm that the key till was revoked.').waitFor();
      expect(await focused(page)).toBe('Revoke key');
      await row(page, 'till').waitFor({ state: 'detached' });
      await page.keyboard.press('Escape');
      await isFocused(page, 'Actions for shop');

      await row(page, 'shop').getByRole('link').click();
      const edit = page.locator('#edit-dialog');
      await button(page, 'Edit').click();
      await edit.getByLabel('Name').fill('web shop');
      await button(page, 'Save').click();
      await lose(await answers());
      await edit.getByText('We couldn’t confirm that it was saved.').waitFor();
      expect(await focused(page)).toBe('Save');
      await page.locator('#key-title').getByText('web shop').waitFor();

      // closed before the answer: saving continues, and a notice says so
      await button(page, 'Save').press('Enter');
      const late = await answers();
      await page.keyboard.press('Escape');
      await notices(page).getByText('Saving the key web shop…').waitFor();
      await late.continue();
      await notices(page).getByText('Saving').waitFor({ state: 'detached' });

      await button(page, 'Edit').click();
      await edit.getByLabel('Allowed addresses').fill('10.0.0.0/8');
      await button(page, 'Save').click();
      const lost = await answers();
      await page.keyboard.press('Escape');
      await lost.abort('connectionreset');
      await notices(page).getByText('Saving the key web shop: Could not reach the gateway.').waitFor();
      await button(page, 'Dismiss').press('Enter');
      await isFocused(page, 'web shop');

      await button(page, 'Edit').click();
      await edit.getByLabel('Name').fill('never');
      await scene.gateway.control.apiKeys.revoke(shop.id);
      await button(page, 'Save').click();
      await (await answers()).continue();
      await edit.getByText('It is revoked or expired').waitFor();
      await button(page, 'Save').waitFor({ state: 'hidden' });
      expect(await focused(page)).toBe('Cancel');
      await page.locator('#key-state').getByText('revoked').waitFor();
      await page.keyboard.press('Escape');
      await isFocused(page, 'web shop');
      expect(await page.locator('#key-facts').innerText()).not.toContain('Expires');
      await page.locator('#key-facts').getByText('Revoked', { exact: true }).waitFor();
      expect(await page.locator('#key-actions').isVisible()).toBe(false);
    });
  });

  test('a lost creation can be retried until the page is left, which asks first; a closed one continues, and its key waits to be shown', async () => {
    const of = await makeOrganisation(scene.gateway);
    for (const name of 'abcdefghijkl') await makeKey(scene.gateway, of, { name });
    await visit(of, async (page) => {
      const answers = await hold(page, /create_api_key/);
      await fillNew(page, 'till');
      await page.locator('#make-name').press('Enter');
      await lose(await answers());
      await page.locator('#make-dialog').getByText('couldn’t confirm').waitFor();
      expect(await focused(page)).toBe('Create key');
      expect(await asksBeforeLeaving(page)).toBe(true);
      const background = "getComputedStyle(document.querySelector('#make-name')).backgroundColor";
      const disabled = await page.evaluate(background);
      await page.keyboard.press('Escape');
      await notices(page).getByText('We couldn’t confirm that the key till was created.').waitFor();
      await isFocused(page, 'Try again');
      expect(await isSeen(page, notices(page))).toBe(true);
      expect(await asksBeforeLeaving(page)).toBe(true);
      await expectAccessible(page);
      await button(page, 'Try again').click();
      await (await answers()).abort('connectionreset');
      await notices(page).getByText('Could not reach the gateway').waitFor();
      await button(page, 'Try again').click();
      await (await answers()).continue();
      await button(page, 'I have saved it').click();
      await page.waitForSelector('#made-dialog', { state: 'hidden' });
      expect(await asksBeforeLeaving(page)).toBe(false);

      await fillNew(page, 'web shop');
      expect(await page.evaluate(background)).not.toBe(disabled);
      await button(page, 'Create key').click();
      const late = await answers();
      await page.keyboard.press('Escape');
      await notices(page).getByText('Creating the key web shop…').waitFor();
      expect(await isSeen(page, notices(page))).toBe(true);
      await fillNew(page, 'typed');
      await late.continue();
      await notices(page).getByText('The key web shop is ready').waitFor();
      expect(await page.locator('#made-dialog').isVisible()).toBe(false);
      expect(await page.locator('#make-name').inputValue()).toBe('typed');
      expect(await asksBeforeLeaving(page)).toBe(true);
      await page.keyboard.press('Escape');
      await button(page, 'Show the key').click();
      await page.locator('#made-dialog').getByText('web shop: it will not be shown again').waitFor();
      await page
        .locator('#made-dialog')
        .getByText(/It expires at [\d-]{10} [\d:]{8} UTC\./)
        .waitFor();
      await button(page, 'I have saved it').click();
      expect(await notices(page).innerText()).toBe('');
      await isFocused(page, 'API keys');
    });
  });

  test('if the session ended elsewhere, or somebody else signed in, a notice says how to continue, and goes once it works', async () => {
    const of = await makeOrganisation(scene.gateway);
    await visit(of, async (page) => {
      const other = await page.context().newPage();
      const elsewhere = async (): Promise<void> => {
        await other.goto(`${scene.gateway.url}/settings/integrations`);
        await other.getByRole('button', { name: 'Sign out', exact: true }).click();
        await other.waitForURL('**/settings/sign-in');
      };
      const attempt = async (says: string): Promise<void> => {
        await fillNew(page, 'web shop');
        await button(page, 'Create key').click();
        await page.locator('#make-dialog').getByText(says).waitFor();
        await page.keyboard.press('Escape');
        await notices(page).getByText(says).waitFor();
      };
      await elsewhere();
      await attempt('You have been signed out.');
      expect(await notices(page).getByRole('link', { name: 'Sign in' }).getAttribute('href')).toBe('/settings/sign-in');
      expect(await isSeen(page, notices(page))).toBe(true);
      await signIn(other, scene.gateway, await makeLink(scene.gateway, of));
      await page.getByLabel('Show').selectOption('all');
      await notices(page).getByText('signed out').waitFor({ state: 'detached' });

      await elsewhere();
      await signIn(other, scene.gateway, await makeLink(scene.gateway, of, 'admin', 'Bea'));
      await attempt('Somebody else has signed in');
      await notices(page).getByRole('button', { name: 'Reload' }).click();
      await page.locator('.account').getByText('Bea').waitFor();
    });
  });

  test('a rotation shows exactly when the new key expires, before and after, and can keep the date', async () => {
    const of = await makeOrganisation(scene.gateway);
    const DAY = 86_400_000;
    const end = new Date(`${new Date(Date.now() + 20 * DAY).toISOString().slice(0, 10)}T23:59:59Z`);
    const keys = scene.gateway.databases.control.collection<{ _id: string }>('api_keys');
    for (const name of ['same', 'kept']) {
      const { id } = await makeKey(scene.gateway, of, { name, expiresAt: end });
      await keys.updateOne({ _id: id }, { $set: { created_at: new Date(Date.now() - 70 * DAY) } });
    }
    await makeKey(scene.gateway, of, { name: 'endless' });
    const exact = (time: Date): string => `${time.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
    await visit(of, async (page) => {
      const dialog = page.locator('#rotate-dialog');
      const expires = dialog.getByLabel('The new key expires');
      const rotated = async (name: string, says: string): Promise<Date | null> => {
        await button(page, 'Rotate key').click();
        await page.locator('#made-dialog').getByText(says).waitFor();
        await button(page, 'I have saved it').click();
        const made = (await scene.gateway.control.apiKeys.list(of.id)).find(
          (key) => key.name === name && key.rotated_to === null,
        );
        return made!.expires_at;
      };
      await choose(page, 'same', 'Rotate…');
      const [said = '', ...rest] = (await expires.locator('option:checked').innerText()).split(', ');
      expect(said).toMatch(/^[\d-]{10} [\d:]{8} UTC$/);
      expect(rest).toEqual(['same lifetime']);
      await expectAccessible(page);
      const at = await rotated('same', `It expires at ${said}.`);
      expect(exact(at!)).toBe(said);
      expect(Math.abs(at!.getTime() - Date.now() - (end.getTime() - Date.now() + 70 * DAY))).toBeLessThan(DAY / 24);

      await choose(page, 'kept', 'Rotate…');
      await expires.selectOption({ label: `${exact(end)}, like the old key` });
      expect(await rotated('kept', `It expires at ${exact(end)}.`)).toEqual(end);

      await choose(page, 'endless', 'Rotate…');
      expect(await expires.locator('option:checked').innerText()).toBe('never, like the old key');
      expect(await expires.locator('option:not([hidden])').count()).toBe(2);
      expect(await rotated('endless', 'It never expires.')).toBeNull();
    });
  });

  test("one button stands out if there are no keys, dialog buttons are in view, and names take two lines, or show the key's text if invisible", async () => {
    const of = await makeOrganisation(scene.gateway);
    await visit(of, async (page) => {
      await button(page, 'Create the first key').waitFor();
      const prominent = await page.locator('main .button:visible').evaluateAll((all) => {
        const colour = (one: unknown) =>
          (globalThis as never as { getComputedStyle(of: unknown): { backgroundColor: string } }).getComputedStyle(one)
            .backgroundColor;
        const [first] = all.filter(({ textContent }) => textContent === 'Create the first key');
        return all.filter((one) => colour(one) === colour(first)).map(({ textContent }) => textContent);
      });
      expect(prominent).toEqual(['Create the first key']);
      await button(page, 'New key').click();
      expect(await isSeen(page, button(page, 'Create key'))).toBe(true);
      await page.keyboard.press('Escape');

      const long = `${'name '.repeat(39)}end`;
      const expiresAt = new Date(Date.now() + 86_400_000);
      const { key } = await makeKey(scene.gateway, of, { name: '\u3164', expiresAt });
      await makeKey(scene.gateway, of, { name: long, expiresAt });
      await page.reload();
      for (const list of ['#keys', '#expiring-keys']) {
        const named = page.locator(list).getByRole('link', { name: 'name name' });
        await named.waitFor();
        expect(await named.getAttribute('title')).toBe(long);
        expect((await named.boundingBox())!.height).toBeLessThan(60);
        expect(await page.locator(list).getByRole('link').allInnerTexts()).toContain(
          `${key.slice(0, 15)}…${key.slice(-4)}`,
        );
      }
    });
  });
});
