import { expectAccessible, hasFocus, inBrowser, lost, press, says, turn, VIEWS } from '../../support/browser';
import { makeOrganisation } from '../../support/factories';
import * as on from '../../support/settingsPage';

inBrowser('the members on the settings page', () => {
  const scene = on.pageScene({ ...on.BROKEN, on: 'Members' });
  const { gateway, visit, visitAsStranger } = scene;

  test('an admin invites a person with a link that is shown once, and signs them out; the audit log says so', async () => {
    const of = await makeOrganisation(gateway);
    const page = await visit(of);
    await press(page, 'Invite a person');
    await expectAccessible(page);
    await on.dialog(page).getByLabel('Name', { exact: true }).fill('Grace Hopper');
    await on.dialog(page).getByRole('combobox', { name: 'Role' }).selectOption('admin');
    await press(on.dialog(page), 'Create link');
    const link = await on.shown(page, 'The link');
    await page.keyboard.press('Escape');
    await expectAccessible(page);
    await on.saved(page);
    const row = (name: string) => page.getByRole('row').filter({ has: on.named(page, name) });
    await says(row('Grace Hopper'), /in 7 days/);
    await hasFocus(page.getByRole('button', { name: 'Invite a person' }));

    const grace = await visitAsStranger();
    await grace.goto(link);
    await press(grace, 'Continue');
    await on.heading(grace, 'Overview').waitFor();
    await on.goTo(grace, 'Members');
    await says(grace, 'Grace Hopper (you)');
    await page.reload();
    await says(row('Grace Hopper'), 'Signed in');
    for (const view of VIEWS) {
      await turn(page, view);
      await expectAccessible(page);
    }

    await on.choose(page, 'Grace Hopper', 'Sign out everywhere…');
    await expectAccessible(page);
    await Promise.all([
      says(page, 'Signed out Grace Hopper: one session ended.'),
      press(on.dialog(page), 'Sign out everywhere'),
    ]);
    await says(row('Grace Hopper'), 'Ended');
    await grace.reload();
    await says(grace, 'Your session has ended. Sign in again to go on.');

    // again, as the same member
    await on.choose(page, 'Grace Hopper', 'New link…');
    await press(on.dialog(page), 'Create link');
    await on.shown(page, 'The link');
    await on.saved(page);
    await press(page, 'Revoke the invitation of Grace Hopper');
    await Promise.all([
      says(page, 'Revoked the invitation of Grace Hopper.'),
      press(on.dialog(page), 'Revoke invitation'),
    ]);
    await on.heading(page, 'Invitations').waitFor({ state: 'hidden' });
    await hasFocus(on.heading(page, 'Members'));
    await on.goTo(page, 'Audit log');
    for (const sentence of [
      /^Revoked the invitation of Grace Hopper as admin$/,
      /^Signed Grace Hopper out everywhere: ended 1 session$/,
      /^Accepted the invitation of Ann$/,
      /^Invited Grace Hopper as admin, until /,
    ])
      await says(page.getByRole('rowheader'), sentence);
  });

  test('a lost answer says what to do, and a member sees invitations without buttons', async () => {
    const of = await makeOrganisation(gateway);
    const page = await visit(of);
    await on.calls(page, /create_invitation/, lost);
    await press(page, 'Invite a person');
    await on.dialog(page).getByLabel('Name', { exact: true }).fill('Lost');
    await press(on.dialog(page), 'Create link');
    await says(on.dialog(page), 'If it is among the invitations, revoke it');
    await says(page, 'Invited by');
    const max = await visit({ of, role: 'member', name: 'Max' });
    await says(on.named(max, 'Lost'), 'Lost');
    for (const name of [/^Revoke/, /^Actions for/, 'Invite a person'])
      expect(await max.getByRole('button', { name }).count()).toBe(0);
  });
});
