import type { Page } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import type { Organisation } from '../../src/auth/principal';
import type { Json } from '../support/client';
import { makeOrganisation } from '../support/factories';
import { eventually } from '../http/eventually';
import { ENVIRONMENT, officeOf } from '../webhooks/office';
import { type Receiver, startReceiver } from '../webhooks/receiver';
import { someDeliveries } from './deliveryRows';
import { expectAccessible, inBrowser, openDetails, pageScene } from './visiting';

inBrowser('webhooks on the settings page', () => {
  const scene = pageScene({}, ENVIRONMENT);
  const { visit } = scene;
  let receiver: Receiver;
  beforeEach(async () => {
    receiver = await startReceiver();
  });
  afterEach(() => receiver.stop());

  /** An organisation with an endpoint. */
  async function anEndpoint(
    url = receiver.url,
  ): Promise<{ of: Organisation; id: string; secret: string; admin: Call }> {
    const { admin, organisation } = await officeOf(scene.gateway);
    const { endpoint, secret } = await admin('create_webhook_endpoint', { url });
    return { of: organisation, id: endpoint.id, secret, admin };
  }
  type Call = Awaited<ReturnType<typeof officeOf>>['admin'];

  /** Changes an endpoint as a delivering gateway would. */
  const become = (id: string, state: object): Promise<unknown> =>
    scene.gateway.databases.control.collection('webhook_endpoints').updateOne({ _id: id as never }, { $set: state });

  const open = async (page: Page, url = receiver.url): Promise<void> => {
    await page.getByRole('link', { name: url }).click();
    await page.waitForSelector('#endpoint-body:not([hidden])');
  };

  test('an endpoint is added, its secret is shown once and cannot be dismissed by mistake, and its test event verifies', async () => {
    const of = await makeOrganisation(scene.gateway);
    await visit(of, async (page) => {
      await page.getByText('Webhooks tell your own server what happens here').waitFor();
      await page.getByRole('button', { name: 'Add endpoint' }).click();
      await page.getByLabel('URL').fill(receiver.url);
      await page.getByLabel('URL').press('Enter');
      const dialog = page.locator('#webhook-secret-dialog');
      await dialog.getByText(receiver.url).waitFor();
      const secret = (await dialog.locator('[data-secret]').textContent())!;
      expect(secret).toMatch(/^whsec_/);
      await dialog.getByRole('button', { name: 'Copy' }).click();
      await dialog.getByText('Copied').waitFor();
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(secret);
      for (let time = 0; time < 3; time += 1) await page.keyboard.press('Escape');
      await page.goBack();
      expect(await dialog.locator('[data-secret]').textContent()).toBe(secret);
      expect(await dialog.isVisible()).toBe(true);
      // in the moment in which it is closed, which no caller could look at between
      const inside = 'document.querySelector("#webhook-secret-dialog';
      expect(
        await page.evaluate(`${inside} form button.primary").click(), ${inside} [data-secret]").textContent`),
      ).toBe('');
      await dialog.waitFor({ state: 'hidden' });
      expect(await page.content()).not.toContain(secret);
      await page.locator('#events').getByText('Webhook endpoint added').waitFor();

      await open(page);
      await page.getByText('Nothing was sent yet').waitFor();
      await page.getByRole('button', { name: 'Send test event' }).click();
      await page.getByText('Accepted: the answer was 204').waitFor();
      const [{ body, headers } = { body: '', headers: {} }] = receiver.arrived;
      expect(new Webhook(secret).verify(body, headers)).toMatchObject({ type: 'webhook.test' });

      receiver.answer = (_arrival, response) => {
        response.writeHead(500).end('the disk is <b>full</b>');
        return undefined;
      };
      await page.getByRole('button', { name: 'Send test event' }).click();
      await page.getByText(/Failed: the answer was 500, after \d+ ms/).waitFor();
      await page.getByText('the disk is <b>full</b>').waitFor();
      await page.goBack();
      await page.getByRole('heading', { name: 'API keys' }).waitFor();
    });
  });

  test('errors are shown at their fields, and disappear once they are fixed', async () => {
    const of = await makeOrganisation(scene.gateway);
    await visit(of, async (page) => {
      await page.getByRole('button', { name: 'Add endpoint' }).click();
      const dialog = page.locator('#webhook-dialog');
      const add = dialog.getByRole('button', { name: 'Add endpoint' });
      await dialog.getByLabel('Only these').check();
      await add.click();
      expect(await dialog.locator('#webhook-url-fault').textContent()).toContain('Enter a URL');
      expect(await dialog.locator('#webhook-types-fault').textContent()).toContain('Select at least one type');
      expect(await page.evaluate('document.activeElement.name')).toBe('url');
      await expectAccessible(page);

      for (const [url, fault] of [
        ['ftp://example.com', 'It must begin with https://.'],
        ['https://10.0.0.1/', '10.0.0.1 is not a public address.'],
        ['example', 'It is not a URL, e.g. https://example.com/webhooks.'],
      ] as const) {
        await dialog.getByLabel('URL').fill(url);
        await dialog.getByLabel('Only these').check();
        await dialog.getByLabel('order', { exact: true }).check();
        await add.click();
        await dialog.getByText(fault).waitFor();
        expect(await dialog.locator('#webhook-types-fault').isVisible()).toBe(false);
      }
      await dialog.getByLabel('URL').fill(receiver.url);
      await dialog.getByLabel('deleted of order').uncheck();
      expect(
        await dialog
          .getByLabel('order', { exact: true })
          .evaluate((box: unknown) => (box as { indeterminate: boolean }).indeterminate),
      ).toBe(true);
      await add.click();
      await page.getByRole('button', { name: 'I have saved it' }).click();
      const row = page.locator('#webhooks tr', { hasText: receiver.url });
      expect(await row.locator('.chips').textContent()).toBe('order.createdorder.updatedorder.status_changed');

      await page.getByRole('button', { name: 'Add endpoint' }).click();
      await dialog.getByLabel('URL').fill(`${receiver.url.replace('http', 'HTTP')}#again`);
      await add.click();
      await dialog.getByText('There is already an endpoint with this URL; it will get each event twice.').waitFor();
      expect(await row.count()).toBe(1);
      await add.click();
      await page.getByRole('button', { name: 'I have saved it' }).click();
      await row.nth(1).waitFor();
    });
  });

  test('deliveries are listed newest first, by state and in pages, with their answers, and one can be sent again by hand', async () => {
    const { of, id, secret } = await anEndpoint();
    const event = await someDeliveries(scene.gateway, of, id, 45);
    await visit(of, async (page) => {
      await open(page);
      const rows = page.locator('#deliveries tr:not(.delivery-details)');
      await rows.nth(19).waitFor();
      const more = page.getByRole('button', { name: 'Show older deliveries' });
      await more.click();
      await rows.nth(39).waitFor();
      await more.click();
      await rows.nth(44).waitFor();
      expect(await rows.count()).toBe(45);
      expect(await more.isVisible()).toBe(false);

      await page.getByLabel('State').selectOption('failed');
      await rows.getByText('given up').first().waitFor();
      await eventually(async () => (await rows.count()) === 9);
      await page.getByLabel('State').selectOption('waiting');
      await page.getByText('No deliveries in this state.').waitFor();
      await page.getByLabel('State').selectOption('');
      await rows.nth(19).waitFor();

      const first = page.getByRole('button', { name: /^Details/ }).first();
      await first.click();
      const details = page.locator('.delivery-details:visible');
      await details.getByText('so full', { exact: true }).waitFor();
      await details.getByText(event.id).waitFor();
      receiver.answer = (_arrival, response) => {
        response.end(
          JSON.stringify({ errors: Array.from({ length: 40 }, (_, at) => `No quote has the id ${String(at)}.`) }),
        );
        return undefined;
      };
      await details.getByRole('button', { name: 'Send again' }).click();
      await details.getByText('Sent again: Accepted: the answer was 200').waitFor();
      expect(await details.locator('.attempts tbody tr').count()).toBe(3);
      const [{ body, headers } = { body: '', headers: {} }] = receiver.arrived;
      expect(new Webhook(secret).verify(body, headers)).toMatchObject({ id: event.id, type: 'quote.created' });
      await expectAccessible(page);
      await first.click();
      await details.waitFor({ state: 'hidden' });
    });
  });

  test('a failing endpoint says what to do, and can be enabled from where it stopped, from a time or from now', async () => {
    const { of, id, admin } = await anEndpoint();
    await become(id, { state: 'failing', failing_since: new Date(Date.now() - 2.5 * 3_600_000), parked: 12 });
    const { position } = await someDeliveries(scene.gateway, of, id, 4, ['waiting']);
    await become(id, { position });
    const started = async (): Promise<Json[]> =>
      (
        await scene.gateway.control.audit.page({ organisationId: of.id, action: 'webhook.enabled', limit: 20 })
      ).data.map((one) => one.details.from);
    await visit(of, async (page) => {
      const row = page.locator('#webhooks tr');
      expect(await row.textContent()).toMatch(/failing.*the first failed 2 hours ago.*12 events waiting to be retried/);
      await open(page);
      await page.getByText('The last events of ten different objects failed').waitFor();
      const attempts = (): Promise<string[]> => page.locator('#deliveries [data-label="Next attempt"]').allInnerTexts();
      const after = 'after the oldest is accepted';
      await page.locator('#deliveries tr').first().waitFor();
      expect(await attempts()).toEqual(['none', after, after, 'as soon as there is room']);
      await page.locator('#endpoint-facts').getByText('up to date, but for 12 events waiting to be retried').waitFor();
      const notice = page.locator('#endpoint-notice');
      for (const button of ['Send test event', 'Send again: quote.created']) {
        if (button !== 'Send test event') await openDetails(page);
        await page.getByRole('button', { name: button }).press('Enter');
        await notice.getByText('what was sent by hand. That does not count').waitFor();
        await page.getByRole('button', { name: button }).and(page.locator(':focus')).waitFor();
        await page.reload();
        await notice.getByText('The last events of ten different objects failed').waitFor();
      }
      await page.getByRole('button', { name: 'Refresh' }).press('Enter');
      await page.locator('#said', { hasText: 'Refreshed.' }).waitFor({ state: 'attached' });
      await page.getByRole('button', { name: 'Refresh' }).and(page.locator(':focus')).waitFor();
      const dialog = page.locator('#webhook-enable-dialog');
      await page.getByRole('button', { name: 'Try again', exact: true }).click();
      await dialog.getByRole('button', { name: 'Try again' }).click();
      await page.locator('#endpoint-state', { hasText: 'enabled' }).waitFor();
      expect(await started()).toEqual(['where it stopped']);
      await notice.getByText('12 events failed, or wait behind one that failed.').waitFor();

      await page.getByRole('button', { name: 'Disable' }).click();
      await page.getByRole('button', { name: 'Disable endpoint' }).click();
      await page.getByText('Somebody disabled this endpoint').waitFor();
      const waits = 'when it is enabled';
      await eventually(async () => String(await attempts()) === String(['none', waits, waits, waits]));
      await page.getByRole('button', { name: 'Enable' }).click();
      await dialog.getByLabel('From a time').check();
      await dialog.getByLabel('Time (UTC)').fill('2020-01-01T00:00');
      await dialog.getByRole('button', { name: 'Enable' }).click();
      await dialog.getByText('Events are kept for 30 days; choose a later time, or now.').waitFor();
      const time = new Date(Date.now() - 3 * 86_400_000).toISOString().slice(0, 16);
      await dialog.getByLabel('Time (UTC)').fill(time);
      await dialog.getByRole('button', { name: 'Enable' }).click();
      await page.locator('#endpoint-state', { hasText: 'enabled' }).waitFor();
      expect(new Date((await started())[0]).toISOString()).toBe(`${time}:00.000Z`);

      await page.getByRole('button', { name: 'Send events again' }).click();
      expect(await dialog.getByLabel('From where it stopped').isVisible()).toBe(false);
      await dialog.getByLabel('From now on').check();
      await dialog.getByRole('button', { name: 'Send again' }).click();
      await dialog.waitFor({ state: 'hidden' });
      expect(Date.parse((await started())[0])).toBeGreaterThan(Date.now() - 60_000);
      expect((await admin('webhook_endpoints')).data[0].state).toBe('enabled');
    });
  });

  test('URL and types can be changed, the secret rotated with an overlap, and the endpoint deleted', async () => {
    const { of, id, admin, secret } = await anEndpoint();
    await become(id, { parked: 1 });
    await visit(of, async (page) => {
      await open(page);
      await page.getByText('One event failed and is tried again automatically').waitFor();
      await page.getByRole('button', { name: 'Edit' }).click();
      const dialog = page.locator('#webhook-dialog');
      expect(await dialog.getByLabel('URL').inputValue()).toBe(receiver.url);
      await dialog.getByLabel('URL').fill(`${receiver.url}/other`);
      await dialog.getByLabel('Only these').check();
      await dialog.getByLabel('message_added of request').check();
      await dialog.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('heading', { name: `${receiver.url}/other` }).waitFor();
      await page.locator('#endpoint-facts').getByText('request.message_added').waitFor();

      await page.getByRole('button', { name: 'Rotate secret' }).click();
      await page.locator('#webhook-rotate-dialog').getByRole('button', { name: 'Rotate secret' }).click();
      const shown = page.locator('#webhook-secret-dialog');
      await shown.getByText('is signed with the old secret too until').waitFor();
      const other = (await shown.locator('[data-secret]').textContent())!;
      await page.getByRole('button', { name: 'I have saved it' }).click();
      await page.getByText('the one before signs too until').waitFor();
      await page.getByRole('button', { name: 'Send test event' }).click();
      await page.getByText('Accepted: ').waitFor();
      const { body, headers } = receiver.arrived[0]!;
      for (const one of [secret, other]) expect(new Webhook(one).verify(body, headers)).toBeTruthy();
      await page.getByRole('button', { name: 'Rotate secret' }).click();
      await page.getByText('If you rotate again, that one ends at once').waitFor();
      await page.keyboard.press('Escape');

      await page.getByRole('button', { name: 'Delete' }).click();
      const asks = page.locator('#webhook-delete-dialog');
      expect(await asks.textContent()).toContain(`${receiver.url}/other`);
      await asks.getByRole('button', { name: 'Delete endpoint' }).click();
      await page.getByText('Webhooks tell your own server what happens here').waitFor();
      expect((await admin('webhook_endpoints')).data).toEqual([]);
    });
  });
});
