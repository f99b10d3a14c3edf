import type { Page } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import { button, enter, expectAccessible, hasFocus, inBrowser, press, says } from '../../support/browser';
import * as on from '../../support/settingsPage';
import { ENVIRONMENT } from '../../api/webhooks/office';
import { answerWith, type Receiver, startReceiver } from '../../support/receiver';
import { someDeliveries, withEndpoints } from './rows';

const { counted, dialog, follow, rows, section } = on;

inBrowser('deliveries on the page of a webhook endpoint', () => {
  const { gateway, visit, open } = on.pageScene({ on: 'Webhooks' }, ENVIRONMENT);
  let receiver: Receiver;
  beforeEach(async () => {
    receiver = await startReceiver();
  });
  afterEach(() => receiver.stop());

  const sent = (page: Page) => section(page, 'Deliveries').getByRole('rowheader');

  test('deliveries are listed newest first, by state and in pages, with their answers, and one can be sent again by hand', async () => {
    const { of, ids, secrets } = await withEndpoints(gateway, receiver.url);
    const [id, secret] = [ids[0]!, secrets[0]!];
    const event = await someDeliveries(gateway, of, id, 45);
    const page = await visit(of);
    await says(rows(page, 'Webhooks'), '100%');
    await follow(page, receiver.url);
    await page.getByRole('img', { name: 'Deliveries in the last 24 hours: 36 delivered, 0 failed.' }).waitFor();
    const more = button(page, 'Show older deliveries');
    for (const count of [20, 40]) {
      await counted(sent(page), count);
      await more.click();
    }
    await counted(sent(page), 45);
    expect(await more.isVisible()).toBe(false);
    const state = page.getByLabel('State');
    await state.selectOption('given up');
    await says(section(page, 'Deliveries').getByRole('cell'), 'given up');
    await counted(sent(page), 9);
    await state.selectOption('retrying');
    await says(page, 'No deliveries in this state.');
    await state.selectOption('all');
    await counted(sent(page), 20);

    await on.openFirst(page, 'Deliveries');
    const attempts = page.getByRole('table', { name: /^Attempts/ }).getByRole('row');
    await says(page, 'so full');
    await says(page, event.id);
    const errors = Array.from({ length: 40 }, (_, at) => `No quote has the id ${String(at)}.`);
    answerWith(receiver, 200, JSON.stringify({ errors }));
    await press(page, 'Resend quote.created');
    await says(dialog(page).getByRole('status'), 'Sent again: Accepted: HTTP 200');
    expect(await attempts.count()).toBe(1 + 3);
    const { body, headers } = receiver.arrived[0]!;
    expect(new Webhook(secret).verify(body, headers)).toMatchObject({ id: event.id, type: 'quote.created' });
    await page.getByText('What each attempt sent').click();
    expect(JSON.parse(await on.shown(page, 'Body'))).toMatchObject({ id: event.id, type: 'quote.created' });
    expect(await on.shown(page, 'Headers')).toContain(`webhook-id: ${event.id}`);
    await expectAccessible(page);
    await on.closeDetails(page);
    await attempts.first().waitFor({ state: 'hidden' });

    // several at once: what is not accepted is named, and stays chosen; what cannot be sent does not keep back the others
    const boxes = section(page, 'Deliveries').getByRole('checkbox', { name: /^Select quote/ });
    await boxes.first().check();
    answerWith(receiver, 500, 'full');
    await Promise.all([says(page, 'Sent again: 0 accepted, 1 failed.'), press(page, 'Resend 1')]);
    await says(
      page.getByRole('listitem'),
      new RegExp(`^quote.created ${event.object}: Failed: HTTP 500 after \\d+ ms.$`),
    );
    expect(await boxes.first().isChecked()).toBe(true);
    for (const at of [0, 1, 0]) await boxes.nth(at).click();
    answerWith(receiver, 200, '');
    await Promise.all([says(page, 'Sent again: 1 accepted, 1 failed.'), enter(page, 'Resend 2')]);
    await says(page.getByRole('listitem'), /: Not sent: The event is older than 30 days/);
    expect([await boxes.first().isChecked(), await boxes.nth(1).isChecked()]).toEqual([false, false]);
    await page.getByLabel('Select all').check();
    await button(page, 'Resend 20').waitFor();
    await more.click();
    await counted(sent(page), 40);
    expect([await boxes.nth(19).isDisabled(), await boxes.nth(20).isDisabled()]).toEqual([false, true]);
    await page.getByLabel('Select the first 20').uncheck();
    await counted(button(page, /^Resend/), 0);
    await expectAccessible(page);

    // each has an address of its own
    const link = sent(page).nth(2).getByRole('link');
    const address = (await link.getAttribute('href'))!;
    await link.click();
    await dialog(page).getByRole('heading', { name: 'quote.created' }).waitFor();
    expect(on.path(page)).toBe(address);
    await page.reload();
    await says(dialog(page), 'so full');
    await on.closeDetails(page);
    expect(on.path(page)).toBe(`/settings/webhooks/${id}`);
    await hasFocus(link);
    await open(page, `/settings/webhooks/${id}/deliveries/${id}.${'0'.repeat(28)}`);
    await says(dialog(page), 'This delivery is no longer stored, or never was.');
    await on.closeDetails(page);
    expect(on.path(page)).toBe(`/settings/webhooks/${id}`);
  });

  test('a member sees endpoints and deliveries, and cannot change anything', async () => {
    const { of, ids } = await withEndpoints(gateway, receiver.url);
    await someDeliveries(gateway, of, ids[0]!, 3);
    const page = await visit({ of, role: 'member' });
    expect(await button(page, 'Add endpoint').count()).toBe(0);
    await follow(page, receiver.url);
    await on.openFirst(page, 'Deliveries');
    await says(page, 'so full');
    expect(await dialog(page).getByRole('button').allTextContents()).toEqual(['Close']);
    await on.closeDetails(page);
    expect(await page.locator('.pages').getByRole('button').allTextContents()).toEqual(['Refresh']);
  });
});
