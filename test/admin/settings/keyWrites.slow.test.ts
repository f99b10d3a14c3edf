import type { Page } from 'playwright-core';
import type { Organisation } from '../../../src/auth/principal';
import { DAY } from '../../../src/units';
import { client } from '../../support/client';
import { makeKey, makeOrganisation } from '../../support/factories';
import * as on from '../../support/settingsPage';
import { ENVIRONMENT, officeOf } from '../../api/webhooks/office';

const { button, enter, expectAccessible, expectInView, hasFocus, lost, passed, press, says, unsent } = on;
const { asksBeforeLeaving, counted, dialog, fact, fillNewKey, follow, heading, named, saved } = on;
const URL = 'https://hooks.example.com/a';

on.inBrowser('a change of a key on the settings page', () => {
  const scene = on.pageScene(on.BROKEN, ENVIRONMENT);
  const { gateway, visit } = scene;
  const field = (page: Page, name: string) => dialog(page).getByLabel(name, { exact: true });
  const keysOf = ({ id }: Organisation) => gateway.control.apiKeys.list(id);

  test('that makes a key whose answer is lost says to look for it, and a closed one continues, also if the page is left, which asks first', async () => {
    const of = await makeOrganisation(gateway);
    for (const name of 'abcdefghijkl') await makeKey(gateway, of, { name });
    const page = await visit(of);
    const next = await on.holdCalls(page, /create_key/);
    const create = () => press(dialog(page), 'Create key');
    await fillNewKey(page, 'web shop');
    await create();
    await lost(await next());
    await says(dialog(page), 'We couldn’t confirm that the key was created. Look for it in the list');
    expect(await field(page, 'Name').inputValue()).toBe('web shop');
    await hasFocus(button(page, 'Create key'));
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    // the lost key is in the list, and can be revoked there
    await page.getByRole('link', { name: 'web shop' }).waitFor();
    await fillNewKey(page, 'till');
    await create();
    await passed(await next());
    await says(dialog(page), 'till: it will not be shown again');
    const key = await on.shown(page, 'The key');
    expect((await client(gateway, key).get('/me')).status).toBe(200);
    expect(await keysOf(of)).toHaveLength(14);
    await saved(page);
    expect(await asksBeforeLeaving(page)).toBe(false);

    // closed before the answer
    await fillNewKey(page, 'late');
    await create();
    const late = await next();
    await page.keyboard.press('Escape');
    await says(page, 'Creating the key late…');
    await expectInView(page.getByText('Creating the key late…'));
    await fillNewKey(page, 'typed');
    await passed(late);
    await page.getByText('The key late is ready').waitFor();
    expect(await field(page, 'Name').inputValue()).toBe('typed');
    expect(await asksBeforeLeaving(page)).toBe(true);
    await page.keyboard.press('Escape');
    await press(page, 'Show the key');
    await says(dialog(page), 'late: it will not be shown again');
    await says(dialog(page), /It expires at [\d-]{10} [\d:]{8} UTC\./);
    await saved(page);
    expect(await page.getByText('The key late').count()).toBe(0);
    await hasFocus(heading(page, 'API keys'));
  });

  test('that is lost, or refused because the key has ended, shows the key as it is, and keeps the focus', async () => {
    const of = await makeOrganisation(gateway);
    await makeKey(gateway, of, { name: 'till' });
    const shop = await makeKey(gateway, of, { name: 'shop', expiresAt: new Date(Date.now() + 3 * DAY) });
    const page = await visit(of);
    const next = await on.holdCalls(page, /revoke_key|update_key/);
    await on.choose(page, 'till', 'Revoke…');
    await press(page, 'Revoke key');
    await lost(await next());
    await says(dialog(page), 'We couldn’t confirm that the key till was revoked.');
    await hasFocus(button(page, 'Revoke key'));
    await named(page, 'till').waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    await hasFocus(button(page, 'Actions for shop'));

    await follow(page, 'shop');
    const save = async (name: string, text: string): Promise<void> => {
      await press(page, 'Edit');
      await field(page, name).fill(text);
      await enter(page, 'Save');
    };
    await save('Name', 'web shop');
    await lost(await next());
    await says(dialog(page), 'We couldn’t confirm that it was saved.');
    await hasFocus(button(page, 'Save'));
    await page.keyboard.press('Escape');
    await heading(page, 'web shop').waitFor();

    // closed before the answer: saving continues, and a notice says so
    await save('Name', 'webshop');
    const late = await next();
    await page.keyboard.press('Escape');
    await says(page, 'Saving the key webshop…');
    await passed(late);
    await counted(page.getByText('Saving'), 0);
    await heading(page, 'webshop').waitFor();

    await save('Allowed addresses (optional)', '10.0.0.0/8');
    const never = await next();
    await page.keyboard.press('Escape');
    await unsent(never);
    await says(page, 'Saving the key webshop: Could not reach the gateway.');
    await enter(page, 'Dismiss');
    await hasFocus(heading(page, 'webshop'));

    await gateway.control.apiKeys.revoke(shop.id);
    await save('Name', 'never');
    await passed(await next());
    await says(dialog(page), 'It is revoked or expired');
    expect(await dialog(page).innerText()).not.toContain('/key_id');
    await button(page, 'Save').waitFor({ state: 'hidden' });
    await hasFocus(button(page, 'Cancel'));
    await page.keyboard.press('Escape');
    await hasFocus(heading(page, 'webshop'));
    await fact(page, 'Revoked').waitFor();
    expect([await fact(page, 'Expires').count(), await button(page, 'Edit').count()]).toEqual([0, 0]);
  });

  test('says how to continue if the session ended or somebody else signed in, and loses no input', async () => {
    const { admin, organisation: of } = await officeOf(gateway);
    const add = (page: Page): Promise<void> => press(dialog(page), 'Add endpoint');
    const page = await visit({ of, on: 'Webhooks' });
    await press(page, 'Add endpoint');
    await field(page, 'URL').fill(URL);
    await on.signOutElsewhere(page);
    await add(page);
    await says(dialog(page), 'You have been signed out.');
    const link = dialog(page).getByRole('link', { name: 'Sign in' });
    expect([await link.getAttribute('href'), await link.getAttribute('target')]).toEqual([
      ...['/settings/sign-in', '_blank'],
    ]);
    expect(await field(page, 'URL').inputValue()).toBe(URL);
    // somebody else, in the same browser
    await scene.signInElsewhere(page, of, 'admin', 'Eve');
    await add(page);
    await says(dialog(page), 'Somebody else has signed in');
    await on.signOutElsewhere(page);
    expect((await admin('webhooks')).data).toEqual([]);
    await scene.signInElsewhere(page, of);
    await add(page);
    await on.shown(page, 'The signing secret');
    await saved(page);

    // the notice stays after the dialog is closed, and goes once it works
    await on.goTo(page, 'API keys');
    await on.signOutElsewhere(page);
    await fillNewKey(page, 'web shop');
    await press(page, 'Create key');
    await says(dialog(page), 'You have been signed out.');
    await page.keyboard.press('Escape');
    await expectInView(page.getByRole('alert').filter({ hasText: 'You have been signed out.' }).first());
    await scene.signInElsewhere(page, of);
    await page.getByLabel('Show').selectOption('all');
    await counted(page.getByText('You have been signed out.').filter({ visible: true }), 0);
    await scene.signInElsewhere(page, of, 'admin', 'Bea');
    await fillNewKey(page, 'web shop');
    await press(page, 'Create key');
    await says(dialog(page), 'Somebody else has signed in');
    await page.keyboard.press('Escape');
    await button(page, 'Reload').first().click();
    await says(page, 'Bea');
  });
});
