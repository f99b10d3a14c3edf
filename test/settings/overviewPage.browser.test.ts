import type { Page } from 'playwright-core';
import { organisationUsageId } from '../../src/organisations/keyUsage';
import { makeKey, makeOrganisation } from '../support/factories';
import { eventually } from '../http/eventually';
import { signIn as signInPerson } from './people';
import { expectAccessible, inBrowser, pageScene } from './visiting';

const DAY = 86_400_000;
const PATIENCE = 30_000;

inBrowser('the overview and members of the settings page', () => {
  const scene = pageScene();
  const { visit } = scene;
  const inDays = (days: number): Date => new Date(Date.now() + days * DAY);
  const focused = (page: Page): Promise<string> => page.evaluate('document.activeElement.textContent');

  test('without keys, an admin can create the first one by keyboard, and a member is told to ask an admin', async () => {
    const of = await makeOrganisation(scene.gateway);
    const steps = (page: Page) => page.getByText('Programs call the API with a key.');
    await visit({ of, role: 'member', name: 'Max' }, async (page) => {
      await steps(page).waitFor();
      await page.getByText('Ask an admin of the organisation').waitFor();
      expect(await page.getByRole('button', { name: 'Create the first key' }).count()).toBe(0);
    });
    await visit({ of, width: 390, theme: 'dark' }, async (page) => {
      await steps(page).waitFor();
      expect(await page.locator('#first-steps').getByRole('link', { name: 'reference' }).getAttribute('href')).toBe(
        '/api/v1/docs',
      );
      await page.getByRole('button', { name: 'Create the first key' }).waitFor();
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Create the first key' }).press('Enter');
      await page.locator('#make-name').fill('first');
      await page.getByRole('radio', { name: 'Read only' }).check();
      await page.getByRole('button', { name: 'Create key' }).press('Enter');
      await page.getByRole('button', { name: 'I have saved it' }).press('Enter');
      await page.getByText('No requests in the last 24 hours.').waitFor();
      await steps(page).waitFor({ state: 'hidden' });
      await eventually(async () => (await focused(page)) === 'Overview', PATIENCE);
    });
  });

  test('requests of all keys are shown by period, operation and error code, and the period is kept in the URL', async () => {
    const of = await makeOrganisation(scene.gateway);
    await makeKey(scene.gateway, of, { name: 'Web shop' });
    const counted = { keyId: organisationUsageId(of.id), requests: 1200, errors: 30, rate_limited: 4 };
    const details = new Map([
      ['operations.quotes.requests', 900],
      ['operations.quotes.errors', 30],
      ['operations.quotes.t2', 800],
      ['codes.not_found', 30],
    ]);
    await scene.gateway.control.usage.add([
      { ...counted, hour: new Date(), details },
      { ...counted, hour: inDays(-20), requests: 5000, errors: 0, rate_limited: 0 },
    ]);
    await visit({ of, theme: 'dark' }, async (page) => {
      await page.getByRole('img', { name: /all keys in the last 24 hours: 1,200, including 30 errors/ }).waitFor();
      await page.locator('#traffic').getByText('By operation').click();
      await page.locator('#traffic').getByText('By error code').click();
      await page.getByRole('rowheader', { name: 'quotes' }).waitFor();
      const code = page.getByRole('link', { name: 'not_found' });
      expect(await code.getAttribute('href')).toBe('/errors/not_found');
      await page.getByRole('radio', { name: '30 days' }).check();
      await page.getByRole('img', { name: /the last 30 days: 6,200/ }).waitFor();
      expect(new URL(page.url()).search).toBe('?overview=last_30d');
      await page.reload();
      await page.getByRole('img', { name: /the last 30 days: 6,200/ }).waitFor();
      await page.locator('#traffic').getByText('By operation').click();
      await expectAccessible(page);
    });
  });

  test('only keys that expire within a week are listed at the top, until they are rotated there', async () => {
    const of = await makeOrganisation(scene.gateway);
    const soon = await makeKey(scene.gateway, of, { name: 'nightly', expiresAt: inDays(2.5) });
    const sooner = await makeKey(scene.gateway, of, { name: 'sooner', expiresAt: inDays(1.5) });
    // so that the key that replaces it has a long life
    const keys = scene.gateway.databases.control.collection<{ _id: string }>('api_keys');
    await keys.updateOne({ _id: soon.id }, { $set: { created_at: inDays(-90) } });
    await makeKey(scene.gateway, of, { name: 'later', expiresAt: inDays(8) });
    await makeKey(scene.gateway, of, { name: 'gone', expiresAt: inDays(-1) });
    await makeKey(scene.gateway, of, { name: 'endless' });
    const warning = (page: Page) => page.locator('#expiring');
    await visit({ of, role: 'member', name: 'Max' }, async (page) => {
      await warning(page).getByText('2 keys expire within 7 days').waitFor();
      expect(await warning(page).getByRole('link').allTextContents()).toEqual(['sooner', 'nightly']);
      expect(await warning(page).getByRole('button').count()).toBe(0);
      await warning(page).getByRole('link', { name: 'nightly' }).click();
      await page.getByRole('heading', { name: 'nightly' }).waitFor();
      expect(new URL(page.url()).searchParams.get('key')).toBe(soon.id);
    });
    await visit({ of, width: 390 }, async (page) => {
      await warning(page).getByText('expires in 2 days').waitFor();
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Rotate nightly' }).press('Enter');
      await page.getByRole('button', { name: 'Rotate key' }).press('Enter');
      await page.getByRole('button', { name: 'I have saved it' }).press('Enter');
      await warning(page).getByText('1 key expires within 7 days').waitFor();
      expect(await warning(page).getByRole('link').allTextContents()).toEqual(['sooner']);
      await scene.gateway.control.apiKeys.revoke(sooner.id);
      await page.reload();
      await page.getByText('No requests in the last 24 hours.').waitFor();
      await warning(page).waitFor({ state: 'hidden' });
    });
  });

  test('remaining times are rounded, figures state their age, and large numbers fit', async () => {
    const of = await makeOrganisation(scene.gateway);
    const keys = scene.gateway.databases.control.collection<{ _id: string }>('api_keys');
    for (const [name, expiresAt] of Object.entries({
      ...{ ninety: inDays(90), three: inDays(3), almost: inDays(300), soon: inDays(23.6 / 24) },
      end: new Date('9999-12-31T00:00:00Z'),
    })) {
      const { id } = await makeKey(scene.gateway, of, { name, expiresAt });
      await keys.updateOne({ _id: id }, { $set: { created_at: inDays(-2.9) } });
    }
    const ages = async (page: Page, column: string): Promise<Record<string, string>> => {
      const cellsOf = `tr => [tr.querySelector('th a').textContent, tr.querySelector('[data-label="${column}"] time').textContent]`;
      return Object.fromEntries(
        await page.evaluate<[string, string][]>(`[...document.querySelectorAll('#keys tr')].map(${cellsOf})`),
      );
    };
    await visit({ of, width: 390 }, async (page) => {
      await page.locator('#keys tr').nth(4).waitFor();
      expect(await ages(page, 'Expires')).toEqual({
        ...{ ninety: 'in 90 days', three: 'in 3 days', almost: 'in 300 days', soon: 'in 1 day' },
        end: `in ${String(Math.round((Date.parse('9999-12-31') - Date.now()) / 31_557_600_000))} years`,
      });
      expect((await ages(page, 'Created')).three).toBe('2 days ago');
      await page.getByText('No requests in the last 24 hours. Figures are up to a minute old.').waitFor();
      const counted = { hour: new Date(), keyId: organisationUsageId(of.id), errors: 0, rate_limited: 0 };
      for (const requests of [100_000, 999_900_000]) {
        await scene.gateway.control.usage.add([{ ...counted, requests }]);
        await page.reload();
        await page.waitForSelector('#all-chart rect');
        const outside = `[...document.querySelectorAll('#all-chart text')].filter((text) => {
          const [inner, outer] = [text, text.ownerSVGElement].map((one) => one.getBoundingClientRect());
          return inner.left < outer.left || inner.right > outer.right;
        }).map(({ textContent }) => textContent)`;
        expect(await page.evaluate(outside)).toEqual([]);
      }
      expect(await page.locator('#all-chart text[text-anchor="end"]').allTextContents()).toEqual(['0', '500M', '1B']);
      await page.getByRole('rowheader', { name: 'three' }).getByRole('link').click();
      await page.getByText('No requests with this key in the last 24 hours. Figures are up to a minute old.').waitFor();
    });
  });

  test('members are listed with their last sign-in and whether they are signed in', async () => {
    const of = await makeOrganisation(scene.gateway);
    await signInPerson(scene.gateway, of, 'member', 'Max');
    await scene.gateway.control.sessions.endAll({ organisationId: of.id }, { who: 'cli:test', from: 'here' });
    await visit({ of, width: 390 }, async (page) => {
      const rows = page.locator('#members tr');
      await rows.first().waitFor();
      const texts = (await rows.allTextContents()).map((text) => text.replace(/(\d\d[-: ]*)+ UTC/, 'TIME'));
      expect(texts[0]).toMatch(/^Ann \(you\)link:Annadmin.*TIME127\.0\.0\.1signed in$/);
      expect(texts[1]).toMatch(/^Maxlink:Maxmember.*TIME127\.0\.0\.1ended$/);
    });
  });
});
