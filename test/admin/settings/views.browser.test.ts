import type { Locator, Page } from 'playwright-core';
import { expectAccessible, expectFits, inBrowser, press, says, turn, VIEWS, type Width } from '../../support/browser';
import { makeKey, makeOrganisation } from '../../support/factories';
import { late } from '../../support/gateway';
import { DAY, HOUR } from '../../../src/units';
import * as on from '../../support/settingsPage';
import { ENVIRONMENT, officeOf } from '../../api/webhooks/office';
import { failures, someDeliveries, STATES, someRequests, someUsage, successes } from './rows';

const { dialog, section } = on;

/** As long as they may be. */
const NAME = 'x'.repeat(190);
const LONG = `https://hooks.example.com/${'a-long-path-of-an-endpoint/'.repeat(4)}`;
/** Widths of windows near those of the views, at which the layout changes. */
const NEAR = { 1280: [961, 1200, 1201, 1280], 390: [360, 960, 390] };

/** Checks of a page in each view. */
function viewsOf(page: Page) {
  /** In each view; the last is the narrow one, in which the page goes on. */
  const inViews = async (check: (width: Width) => Promise<void>): Promise<void> => {
    for (const view of VIEWS) {
      await turn(page, view);
      await check(view.width);
    }
  };
  const expectFitting = (): Promise<void> =>
    inViews(async (width) => {
      await expectAccessible(page);
      for (const near of NEAR[width]) {
        await page.setViewportSize({ width: near, height: 800 });
        await expectFits(page);
      }
    });
  /** Checks the page with each dialog open; some have parts that a choice shows. */
  const checkDialogs = async (
    dialogs: Readonly<Record<string, string>>,
    open = (opener: string) => press(page, opener),
  ): Promise<void> => {
    for (const [opener, choice] of Object.entries(dialogs)) {
      await open(opener);
      if (choice !== '') await dialog(page).getByLabel(choice).check();
      await inViews(async () => {
        await expectAccessible(page);
        const beyond = await dialog(page).evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth);
        expect(beyond).toBe(0);
      });
      await page.goBack();
      await dialog(page).waitFor({ state: 'hidden' });
    }
  };
  const checkDetails = async (details: Locator, count: number): Promise<void> => {
    await details.nth(count - 1).waitFor();
    for (const one of await details.all()) {
      await one.click();
      await inViews(() => expectAccessible(page));
      await on.closeDetails(page);
    }
  };
  return { inViews, expectFitting, checkDialogs, checkDetails };
}

inBrowser('the settings page with the longest values is accessible and fits in every view:', () => {
  const { gateway, visit } = on.pageScene({ name: NAME }, ENVIRONMENT);
  const made = late(async () => {
    const of = await makeOrganisation(gateway, { name: NAME });
    const { admin } = await officeOf(gateway, of);
    const { id } = await makeKey(gateway, of, { name: NAME, expiresAt: new Date(Date.now() + DAY) });
    const ended = await makeKey(gateway, of, { name: 'ended' });
    await gateway.control.apiKeys.revoke(ended.id);
    await someUsage(gateway, id, [...successes(3, 8), ...failures(2)]);
    await someRequests(gateway, of, id, [
      { status: 404, code: 'not_found', operation: null, path: `/api/v1/${'y'.repeat(191)}` },
      { request_id: 'z'.repeat(128), address: '2001:db8:1234:5678:9abc:def0:1234:5678', operation: 'a'.repeat(200) },
      { face: 'graphql', operation: 'quotes orders customers products me events', ms: 12_345 },
      { status: 401, code: 'unauthenticated', reason: 'address' },
    ]);
    const { endpoint } = await admin('create_webhook', { url: LONG });
    const types = ['order.created', 'order.updated', 'quote.created', 'quote.updated'];
    const { endpoint: other } = await admin('create_webhook', { url: `${LONG}2`, types });
    const at = new Date();
    const state = { state: 'disabled', disabled: { reason: 'failures', at }, failing_since: at, parked: 3 };
    const rows = gateway.databases.control.collection('webhook_endpoints');
    await rows.updateOne({ _id: endpoint.id as never }, { $set: state });
    await rows.updateOne({ _id: other.id as never }, { $set: { state: 'failing', failing_since: at } });
    await someDeliveries(gateway, of, endpoint.id as string, STATES.length);
    await someDeliveries(gateway, of, other.id as string, 4, ['skipped', 'waiting']);
    return { of, keyId: id };
  });

  test('the lists, their details and dialogs', async () => {
    const page = await visit({ of: made.of });
    const { inViews, expectFitting, checkDialogs, checkDetails } = viewsOf(page);
    const ofKey = (action: string): Promise<void> => on.choose(page, NAME, action);
    await page.getByLabel('Show').selectOption('all');
    await on.named(page, 'ended').waitFor();
    await press(page, `Actions for ${NAME}`);
    await inViews(() => expectAccessible(page));
    await page.keyboard.press('Escape');
    await checkDialogs({ 'New key': '' });
    await checkDialogs({ 'Rotate…': '', 'Revoke…': '' }, ofKey);
    await inViews(async (width) => {
      const table = page.getByRole('table', { name: 'API keys' });
      expect((await table.boundingBox())!.width).toBeLessThanOrEqual(width);
    });
    for (const name of ['Overview', 'Members', 'Audit log'] as const) {
      await on.goTo(page, name);
      await expectFitting();
    }
    await on.goTo(page, 'Requests');
    await checkDetails(section(page, 'Requests').getByRole('rowheader').getByRole('link'), 4);
    await expectFitting();
    await on.goTo(page, 'Webhooks');
    await says(page, 'after nothing but failures');
    await says(page, 'and 1 more');
    await checkDialogs({ 'Add endpoint': 'Only these:' });
  });

  test('the page of a key', async () => {
    const page = await visit({ of: made.of });
    const { inViews, expectFitting, checkDialogs } = viewsOf(page);
    await on.follow(page, NAME);
    await gateway.control.apiKeys.rotate(made.keyId, { overlap: HOUR });
    await page.reload();
    await page.getByRole('img', { name: /24 hours: 5,/ }).waitFor();
    await on.rows(page, 'Audit log of this key').first().waitFor();
    await section(page, 'Requests').getByRole('rowheader').last().waitFor();
    // what is said of a bar in the middle reaches farthest
    await inViews(async (width) => {
      await page.setViewportSize({ width: NEAR[width][0]!, height: 800 });
      await section(page, 'Usage').locator('.marks a').nth(11).hover();
      await expectFits(page);
    });
    await page.getByText('As a table').click();
    await expectFitting();
    await checkDialogs({ Edit: '' });
  });

  test('the pages of two endpoints', async () => {
    const page = await visit({ of: made.of });
    const { inViews, expectFitting, checkDialogs, checkDetails } = viewsOf(page);
    await on.goTo(page, 'Webhooks');
    await page.getByRole('link', { name: `${LONG}2` }).click();
    await says(page, 'after the oldest is accepted');
    await expectFitting();
    await on.leave(page);
    await page.getByRole('link', { name: LONG, exact: true }).click();
    await says(page, 'it was disabled. See below');
    await checkDetails(section(page, 'Deliveries').getByRole('rowheader').getByRole('link'), STATES.length);
    await expectFitting();
    await checkDialogs({ Enable: 'From a time' });
    await checkDialogs({ 'Edit…': 'Only these:', 'Rotate secret…': '', 'Delete…': '' }, (action) =>
      on.act(page, action),
    );
    await on.act(page, 'Rotate secret…');
    await press(dialog(page), 'Rotate secret');
    await on.shown(page, 'The signing secret');
    await inViews(() => expectAccessible(page));
  });
});
