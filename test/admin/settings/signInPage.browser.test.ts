import type { Page } from 'playwright-core';
import { makeOrganisation } from '../../support/factories';
import * as on from '../../support/settingsPage';
import { makeLink } from './people';

const { button, expectAccessible, hasFocus, hold, passed, press, says, VIEWS } = on;

on.inBrowser('signing in and out', () => {
  const scene = on.pageScene(on.BROKEN, {}, { demoKey: 'svc_live_demo' });
  const { gateway, visit, visitAsStranger } = scene;
  const SIGN_IN = '**/settings/sign-in';

  const openLink = (page: Page, link: string): Promise<unknown> =>
    page.goto(`${gateway.url}/settings/sign-in?link=${link}`);

  test.each(VIEWS)('is accessible and fits ($theme, $width px)', async (view) => {
    const page = await visitAsStranger({ ...on.BROKEN, ...view });
    const of = await makeOrganisation(gateway, { name: 'Northwind Traders' });
    await scene.open(page, on.PAGE);
    await page.waitForURL(SIGN_IN);
    await expectAccessible(page);
    await openLink(page, 'cut-off');
    await says(page.getByRole('alert'), 'This link is incomplete.');
    await openLink(page, await makeLink(gateway, of));
    await expectAccessible(page);
    await press(page, 'Continue');
    await on.heading(page, 'Overview').waitFor();
    await openLink(page, await makeLink(gateway, await makeOrganisation(gateway), 'admin', 'Bob'));
    await says(page, 'You are signed in as Ann of Northwind Traders.');
    await expectAccessible(page);
  });

  test('the page of a link focuses Continue, and pressing it repeatedly while it is slow sends one request', async () => {
    const page = await visitAsStranger();
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
    await on.heading(page, 'Overview').waitFor();
  });

  test('the page of a demo signs in by one click, to where its visitor was going', async () => {
    await gateway.control.organisations.create({
      name: 'Northwind Demo',
      plan: 'integrations',
      currency: 'USD',
      demo: true,
    });
    const page = await visitAsStranger({ width: 390, theme: 'dark' });
    await page.goto(gateway.url);
    await page.getByRole('link', { name: 'Get an API key' }).click();
    await says(page, 'Ask an admin of your organisation for an invitation');
    await press(page, 'Continue as demo admin');
    await on.heading(page, 'API keys').waitFor();
    await says(page, 'Northwind Demo');
  });

  test('signing out leads to the sign-in page, on other open pages too, and works without scripts', async () => {
    const of = await makeOrganisation(gateway);
    const page = await visit(of);
    await on.signOutElsewhere(page);
    await page.getByLabel('Show').selectOption('ended');
    await page.waitForURL(SIGN_IN);
    // and from there back
    await openLink(page, await makeLink(gateway, of));
    await press(page, 'Continue');
    await page.waitForURL('**/settings/keys?state=ended');
    const plain = await visitAsStranger({ javaScriptEnabled: false });
    await openLink(plain, await makeLink(gateway, of));
    await press(plain, 'Continue');
    // the style sheet is there
    await button(plain, /Ann/).waitFor();
    // no button is there before it works
    expect(await button(plain, /./).allTextContents()).toEqual([
      ...[/Live/, /Sandbox/].map((name): unknown => expect.stringMatching(name)),
      expect.stringMatching(/Ann/),
    ]);
    await on.signOut(plain);
    await plain.waitForURL(SIGN_IN);
  });

  test('signing out everywhere asks first, and ends the sessions of other browsers', async () => {
    const of = await makeOrganisation(gateway);
    const [page, other] = [await visit(of), await visit(of)];
    await on.signOut(page, 'Sign out everywhere');
    await expectAccessible(page);
    await press(on.dialog(page), 'Cancel');
    await on.goTo(other, 'Members');
    await says(other, 'signed in');
    await on.signOut(page, 'Sign out everywhere');
    await press(on.dialog(page), 'Sign out everywhere');
    await page.waitForURL(SIGN_IN);
    await other.reload();
    await other.waitForURL(SIGN_IN);
    await says(other, 'Your session has ended. Sign in again to go on.');
    await expectAccessible(other);
  });

  test('signing out says so if its result is unknown, and signs nobody else out', async () => {
    const of = await makeOrganisation(gateway);
    const page = await visit(of);
    const url = page.url();
    await page.route('**/settings/sign-out', async (route) => {
      await route.fetch({ maxRedirects: 0 });
      await route.abort('connectionreset');
    });
    await on.signOut(page);
    await says(page.getByRole('alert'), 'We couldn’t confirm that you are signed out: try again.');
    expect(page.url()).toBe(url);
    await page.unroute('**/settings/sign-out');
    await press(page, 'Try again');
    await page.waitForURL(SIGN_IN);

    // the session of the same person in another tab is ended from here too, but not that of somebody else
    await on.signIn(page, gateway, await makeLink(gateway, of));
    await scene.signInElsewhere(page, of);
    await on.signOut(page);
    await page.waitForURL(SIGN_IN);
    await on.signIn(page, gateway, await makeLink(gateway, of));
    await scene.signInElsewhere(page, of, 'admin', 'Eve');
    await on.signOut(page);
    await says(page.getByRole('alert').first(), 'Somebody else has signed in, in another tab.');
    await page.reload();
    await says(page, 'Eve');
    expect(on.path(page)).toBe(on.PAGE);
  });
});
