import type { Page } from 'playwright-core';
import {
  button,
  copied,
  expectAccessible,
  hasFocus,
  hold,
  inBrowser,
  passed,
  press,
  says,
  VIEWS,
  type Visit,
  visitor,
} from '../support/browser';
import { makeOrganisation } from '../support/factories';
import * as on from '../support/settingsPage';
import { makeLink } from './people';

inBrowser('signing in and out', () => {
  const scene = on.pageScene(on.BROKEN);
  const { browser, gateway, visit } = scene;
  const SIGN_IN = '**/settings/sign-in';

  /** Calls `work` with a page of somebody who is not signed in. */
  async function visitAsStranger(
    view: Parameters<typeof visitor>[2],
    work: (page: Page, visit: Visit) => Promise<void>,
  ) {
    const visit = await visitor(browser, [gateway.url], view);
    try {
      await work(visit.page, visit);
    } finally {
      await visit.close();
    }
  }
  const openLink = (page: Page, link: string): Promise<unknown> =>
    page.goto(`${gateway.url}/settings/sign-in?link=${link}`);

  test.each(VIEWS)('is accessible and fits ($theme, $width px)', async (view) => {
    await visitAsStranger(view, async (page) => {
      const of = await makeOrganisation(gateway, { name: 'Northwind Traders' });
      await scene.open(page, '');
      await page.waitForURL(SIGN_IN);
      await expectAccessible(page);
      await openLink(page, 'cut-off');
      await says(page.getByRole('alert'), 'This link is incomplete.');
      await openLink(page, await makeLink(gateway, of));
      await expectAccessible(page);
      await press(page, 'Continue');
      await on.rows(page, 'Audit log').first().waitFor();
      await openLink(page, await makeLink(gateway, await makeOrganisation(gateway), 'admin', 'Bob'));
      await says(page, 'You are signed in as Ann of Northwind Traders.');
      await expectAccessible(page);
    });
  });

  test('the page of a link focuses Continue, and pressing it repeatedly while it is slow sends one request', async () => {
    await visitAsStranger({}, async (page) => {
      const next = await hold(page, SIGN_IN);
      await openLink(page, await makeLink(gateway, await makeOrganisation(gateway)));
      await hasFocus(button(page, 'Continue'));
      const { x, y } = (await button(page, 'Continue').boundingBox())!;
      await page.keyboard.press('Enter');
      const only = await next();
      // not with locators, which would wait for the page being loaded
      await page.keyboard.press('Enter');
      await page.mouse.dblclick(x + 5, y + 5);
      await passed(only);
      // another one would still be held, and its page not shown
      await on.rows(page, 'Audit log').first().waitFor();
    });
  });

  test("the sign-in page says how to find the organisation's id, and its commands can be copied", async () => {
    const command = 'npx scopegate org list';
    await visitAsStranger({ javaScriptEnabled: false }, async (page) => {
      await page.goto(`${gateway.url}/settings/sign-in`);
      await says(page, command);
      expect(await button(page, /^Copy/).count()).toBe(0);
    });
    const permissions = ['clipboard-read', 'clipboard-write'];
    await visitAsStranger({ permissions, width: 390, theme: 'dark' }, async (page, { faults }) => {
      await page.goto(`${gateway.url}/settings/sign-in`);
      await button(page, `Copy: ${command}`).waitFor();
      await expectAccessible(page);
      await button(page, `Copy: ${command}`).press('Enter');
      await says(page, 'Copied');
      expect(await copied(page)).toBe(command);
      expect(faults).toEqual([]);
    });
  });

  test('signing out leads to the sign-in page, on other open pages too, and works without scripts', async () => {
    const of = await makeOrganisation(gateway);
    await visit(of, async (page) => {
      await on.signOutElsewhere(page);
      await page.getByLabel('Show').selectOption('revoked and expired');
      await page.waitForURL(SIGN_IN);
    });
    await visitAsStranger({ javaScriptEnabled: false }, async (page) => {
      await openLink(page, await makeLink(gateway, of));
      await press(page, 'Continue');
      await press(page, 'Sign out');
      await page.waitForURL(SIGN_IN);
    });
  });

  test('signing out says so if its result is unknown, and signs nobody else out', async () => {
    const of = await makeOrganisation(gateway);
    await visit(of, async (page) => {
      const url = page.url();
      await page.route('**/settings/sign-out', async (route) => {
        await route.fetch({ maxRedirects: 0 });
        await route.abort('connectionreset');
      });
      await button(page, 'Sign out').press('Enter');
      await says(page.getByRole('alert'), 'We couldn’t confirm that you are signed out: try again.');
      expect(page.url()).toBe(url);
      await page.unroute('**/settings/sign-out');
      await press(page, 'Try again');
      await page.waitForURL(SIGN_IN);

      // the session of the same person in another tab is ended from here too, but not that of somebody else
      await on.signIn(page, gateway, await makeLink(gateway, of));
      await scene.signInElsewhere(page, of);
      await press(page, 'Sign out');
      await page.waitForURL(SIGN_IN);
      await on.signIn(page, gateway, await makeLink(gateway, of));
      await scene.signInElsewhere(page, of, 'admin', 'Eve');
      await press(page, 'Sign out');
      await says(page.getByRole('alert').first(), 'Somebody else has signed in, in another tab.');
      await page.reload();
      await says(page, 'Eve');
      expect(page.url()).toBe(url);
    });
  });
});
