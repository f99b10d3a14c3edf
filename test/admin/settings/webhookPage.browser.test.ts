import type { Page } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import { DAY, HOUR } from '../../../src/units';
import { webhookDeliveries } from '../../../src/webhooks/deliveries';
import { eventually } from '../../api/http/eventually';
import { button, copy, enter, expectAccessible, hasFocus, inBrowser, passed, press, says } from '../../support/browser';
import type { Json } from '../../support/client';
import { makeOrganisation, northwind, store } from '../../support/factories';
import { served } from '../../support/gateway';
import * as on from '../../support/settingsPage';
import { ENVIRONMENT } from '../../api/webhooks/office';
import { answerWith, type Receiver, startReceiver } from '../../support/receiver';
import { someDeliveries, withEndpoints } from './rows';

const { counted, dialog, fact, follow, heading, rows, saved, section } = on;

inBrowser('webhooks on the settings page', () => {
  const { gateway, visit } = on.pageScene({ on: 'Webhooks' }, ENVIRONMENT);
  const bare = served();
  let receiver: Receiver;
  beforeEach(async () => {
    receiver = await startReceiver();
  });
  afterEach(() => receiver.stop());

  /** An organisation with an endpoint. */
  async function anEndpoint() {
    const { of, admin, ids, secrets } = await withEndpoints(gateway, receiver.url);
    return { of, admin, id: ids[0]!, secret: secrets[0]! };
  }
  /** Changes an endpoint as a delivering gateway would. */
  const become = (id: string, state: object): Promise<unknown> =>
    gateway.databases.control.collection('webhook_endpoints').updateOne({ _id: id as never }, { $set: state });

  const verified = (secret: string): unknown => {
    const { body, headers } = receiver.arrived[0]!;
    return new Webhook(secret).verify(body, headers);
  };
  const sent = (page: Page) => section(page, 'Deliveries').getByRole('rowheader');

  test('an endpoint is added, its secret is shown once and cannot be dismissed by mistake, and its test event verifies', async () => {
    const page = await visit(await makeOrganisation(gateway));
    await says(page, 'Webhooks tell your own server what happens here');
    await press(page, 'Add endpoint');
    await dialog(page).getByLabel('URL').fill(receiver.url);
    await dialog(page).getByLabel('URL').press('Enter');
    const secret = await on.shown(page, 'The signing secret');
    await says(dialog(page), receiver.url);
    expect(secret).toMatch(/^whsec_/);
    expect(await copy(dialog(page), 'Copy')).toBe(secret);
    for (let time = 0; time < 3; time += 1) await page.keyboard.press('Escape');
    await page.goBack();
    expect(await on.shown(page, 'The signing secret')).toBe(secret);
    // in the moment in which it is closed, which no caller could look at between
    const left = await button(page, 'I have saved it').evaluate((element) => {
      const { ownerDocument } = element as unknown as { ownerDocument: { body: { textContent: string } } };
      (element as unknown as { click(): void }).click();
      return ownerDocument.body.textContent;
    });
    expect(left).not.toContain(secret);
    await dialog(page).waitFor({ state: 'hidden' });
    expect(await page.content()).not.toContain(secret);
    await on.goTo(page, 'Audit log');
    await says(section(page, 'Audit log'), `Added the endpoint ${receiver.url} for all events`);
    await on.goTo(page, 'Webhooks');

    await follow(page, receiver.url);
    await says(page, 'No event was sent yet. Press “Refresh” to look again. Test events are not listed.');
    await press(page, 'Send test event');
    await says(page, 'Accepted: HTTP 204');
    expect(verified(secret)).toMatchObject({ type: 'webhook.test' });
    answerWith(receiver, 500, 'the disk is <b>full</b>');
    await press(page, 'Send test event');
    await says(page, /Failed: HTTP 500 after \d+ ms/);
    await says(page, 'the disk is <b>full</b>');
    await page.goBack();
    await heading(page, 'Webhooks').waitFor();
  });

  test('endpoints can be added once the list was read', async () => {
    const page = await visit(await makeOrganisation(gateway));
    // the page came without its first rows
    await page.route('**/settings/webhooks', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: (await response.text()).replace('"endpoints":', '"unread":') });
    });
    const next = await on.holdCalls(page, / webhooks \{/);
    await page.reload();
    const route = await next();
    expect(await button(page, 'Add endpoint').count()).toBe(0);
    await passed(route);
    await button(page, 'Add endpoint').waitFor();
  });

  test('errors are shown at their fields, and disappear once they are fixed; an endpoint can be for some customers', async () => {
    const of = await makeOrganisation(gateway);
    const [customer] = northwind('customers');
    await store(gateway, of, { customers: [customer!] });
    const page = await visit(of);
    const field = (name: string) => dialog(page).getByLabel(name, { exact: true });
    const add = (): Promise<void> => press(dialog(page), 'Add endpoint');
    await press(page, 'Add endpoint');
    await field('Only these:').check();
    await add();
    await says(dialog(page), 'Enter a URL');
    await says(dialog(page), 'Select at least one type');
    await hasFocus(field('URL'));
    await expectAccessible(page);
    for (const [url, fault] of [
      ['ftp://example.com', 'It must begin with https://.'],
      ['https://10.0.0.1/', 'It has the address 10.0.0.1, which is not public.'],
      ['example', 'It is not a URL, e.g. https://example.com/webhooks.'],
    ] as const) {
      await field('URL').fill(url);
      await field('order').check();
      await add();
      await says(dialog(page), fault);
      expect(await dialog(page).getByText('Select at least one type').isVisible()).toBe(false);
    }
    await field('URL').fill(receiver.url);
    await field('deleted of order').uncheck();
    expect(await field('order').evaluate((box) => (box as unknown as { indeterminate: boolean }).indeterminate)).toBe(
      true,
    );
    await add();
    await saved(page);
    const row = rows(page, 'Webhooks');
    const types = row.getByRole('listitem');
    await types.first().waitFor();
    expect(await types.allTextContents()).toEqual(['order.created', 'order.updated', 'order.status_changed']);

    await press(page, 'Add endpoint');
    await field('URL').fill(`${receiver.url.replace('http', 'HTTP')}#again`);
    await add();
    await says(dialog(page), 'There is already an endpoint with this URL; it will get twice what both are for.');
    expect(await row.count()).toBe(1);
    await field('Only these customers (optional)').fill(of.id);
    await add();
    await says(dialog(page), `“${of.id}” is not a customer of the organisation`);
    await field('Only these customers (optional)').fill(customer!.id);
    await add();
    await saved(page);
    await counted(row, 2);
    await says(row.last(), 'all of 1 customer');
    await row.last().getByRole('link').click();
    await says(fact(page, 'Customers'), customer!.id);
    await on.act(page, 'Edit…');
    await says(dialog(page), 'It gets events of 1 customer alone, which cannot be changed.');
    expect(await field('Only these customers (optional)').count()).toBe(0);
    await press(dialog(page), 'Cancel');
    await on.goTo(page, 'Audit log');
    await says(section(page, 'Audit log'), `Added the endpoint ${receiver.url} for all events of 1 customer`);
  });

  test('a failing endpoint says what to do, and can be enabled from where it stopped, from a time or from now', async () => {
    const { of, id, admin } = await anEndpoint();
    await become(id, { state: 'failing', failing_since: new Date(Date.now() - 2.5 * HOUR), parked: 12 });
    const { position } = await someDeliveries(gateway, of, id, 4, ['waiting']);
    await become(id, { position });
    const failed = { at: new Date(), ok: false, status: 503, error: 'HTTP 503', answer: null, ms: 12 };
    const deliveries = gateway.databases.organisationData(of).collection(webhookDeliveries);
    await deliveries.updateMany({ state: 'waiting' }, { $set: { log: [failed] } });
    const started = async (): Promise<Json[]> => {
      const events = await gateway.control.audit.page({
        isOperator: true,
        organisationId: of.id,
        action: 'webhook.enabled',
        limit: 20,
      });
      return events.data.map((one) => one.details.from);
    };
    const page = await visit({ of, timezoneId: 'Asia/Kolkata' });
    expect(await rows(page, 'Webhooks').textContent()).toMatch(
      /failing.*the first failed 2 hours ago.*12 events waiting to be retried/,
    );
    await says(rows(page, 'Webhooks'), '25%');
    await follow(page, receiver.url);
    const FAILING = 'Fix your endpoint, then retry';
    await says(page, FAILING);
    await says(page, /^Last failure: HTTP 503, (just now|1 minute ago)/);
    expect(await rows(page, 'Statistics').allInnerTexts()).toEqual([
      expect.stringMatching(/^HTTP 503\s+3\s+(just now|\d minutes? ago)$/),
    ]);
    const attempts = async (...expected: string[]): Promise<unknown> =>
      eventually(async () => {
        const places = await sent(page).locator('xpath=../td[5]').allInnerTexts();
        return places.map((text) => text.trim()).join() === expected.join();
      });
    const after = 'after the oldest is accepted';
    await attempts('–', after, after, 'in a moment');
    await says(fact(page, 'Oldest undelivered'), '12 events waiting to be retried');
    for (const name of ['Send test event', 'Resend quote.created']) {
      if (name !== 'Send test event') await on.openFirst(page, 'Deliveries');
      await enter(page, name);
      await says(page, 'what was sent by hand. That does not count');
      await hasFocus(button(page, name));
      await page.reload();
      await says(page, FAILING);
    }
    // the delivery is in the address
    await on.closeDetails(page);
    await Promise.all([page.getByText('Refreshed.').waitFor({ state: 'attached' }), enter(page, 'Refresh')]);
    await hasFocus(button(page, 'Refresh'));
    await press(page, 'Retry');
    await press(dialog(page), 'Retry');
    await says(page, '12 events failed, or wait behind one that failed.');
    expect(await started()).toEqual(['where it stopped']);
    // what becomes of it is shown by itself
    await become(id, { state: 'enabled', failing_since: null, parked: 0 });
    await page.getByText(FAILING).waitFor({ state: 'hidden' });

    await on.act(page, 'Disable…');
    await press(page, 'Disable endpoint');
    await says(page, 'Somebody disabled this endpoint');
    const waits = 'when it is enabled';
    await attempts('–', waits, waits, waits);
    await press(page, 'Enable');
    await dialog(page).getByLabel('From a time').check();
    await dialog(page).getByLabel('Time', { exact: true }).fill('2020-01-01T00:00');
    await press(dialog(page), 'Enable endpoint');
    await says(dialog(page), 'Events are kept for 30 days; choose a later time, or now.');
    const time = new Date(Date.now() - 3 * DAY).toISOString().slice(0, 16);
    const there = new Date(Date.parse(`${time}Z`) + 5.5 * HOUR).toISOString().slice(0, 16);
    await dialog(page).getByLabel('Time', { exact: true }).fill(there);
    await press(dialog(page), 'Enable endpoint');
    await on.act(page, 'Send events again…');
    expect(new Date((await started())[0]).toISOString()).toBe(`${time}:00.000Z`);
    expect(await dialog(page).getByLabel('From where it stopped').isVisible()).toBe(false);
    await dialog(page).getByLabel('From now on').check();
    await press(dialog(page), 'Send again');
    await dialog(page).waitFor({ state: 'hidden' });
    expect(Date.parse((await started())[0])).toBeGreaterThan(Date.now() - 60_000);
    expect((await admin('webhooks')).data[0].state).toBe('enabled');
  });

  test('URL and types can be changed, the secret rotated with an overlap, and the endpoint deleted', async () => {
    const { of, id, admin, secret } = await anEndpoint();
    await become(id, { parked: 1 });
    const page = await visit(of);
    const other = `${receiver.url}/other`;
    await follow(page, receiver.url);
    await says(page, 'One event failed and is retried automatically');
    await on.act(page, 'Edit…');
    expect(await dialog(page).getByLabel('URL').inputValue()).toBe(receiver.url);
    await dialog(page).getByLabel('URL').fill(other);
    await dialog(page).getByLabel('Only these:').check();
    await dialog(page).getByLabel('message_added of request').check();
    await press(page, 'Save');
    await heading(page, other).waitFor();
    await says(fact(page, 'Events'), 'request.message_added');

    await on.act(page, 'Rotate secret…');
    await enter(dialog(page), 'Rotate secret');
    await says(dialog(page), 'is also signed with the old secret until');
    const next = await on.shown(page, 'The signing secret');
    await saved(page);
    await says(fact(page, 'Signing secret'), 'the old one also signs until');
    await hasFocus(button(page, 'More actions'));
    await press(page, 'Send test event');
    await says(page, 'Accepted: ');
    for (const one of [secret, next]) expect(verified(one)).toBeTruthy();
    await on.act(page, 'Rotate secret…');
    await says(dialog(page), 'If you rotate again, the old one ends at once');
    await page.keyboard.press('Escape');

    await on.act(page, 'Delete…');
    await says(dialog(page), other);
    await press(page, 'Delete endpoint');
    await says(page, 'Webhooks tell your own server what happens here');
    expect((await admin('webhooks')).data).toEqual([]);
  });

  test('without WEBHOOK_SECRET the page says so, and offers nothing that needs it', async () => {
    const page = await visit({ of: await makeOrganisation(bare), at: bare });
    await says(page, 'Webhooks are off');
    expect(await button(page, 'Add endpoint').count()).toBe(0);
    await expectAccessible(page);
  });
});
