import { THEMES, WIDTHS } from '../support/browser';
import { makeOrganisation } from '../support/factories';
import { withGateway } from '../support/gateway';
import { ENVIRONMENT, officeOf } from '../webhooks/office';
import { someDeliveries } from './deliveryRows';
import { expectAccessible, inBrowser, openDetails, pageScene, signedIn } from './visiting';

const VIEWS = THEMES.flatMap((theme) => WIDTHS.map((width) => ({ theme, width })));
const URL = 'https://hooks.example.com/a';

inBrowser('webhooks on the settings page, for everyone', () => {
  const scene = pageScene({}, ENVIRONMENT);
  const { visit } = scene;

  async function anEndpoint(url: string) {
    const { admin, organisation } = await officeOf(scene.gateway);
    const { endpoint } = await admin('create_webhook_endpoint', { url });
    return { of: organisation, id: endpoint.id as string, admin };
  }

  test('a member sees endpoints and deliveries, and cannot change anything', async () => {
    const { of, id } = await anEndpoint(URL);
    await someDeliveries(scene.gateway, of, id, 3);
    await visit({ of, role: 'member' }, async (page) => {
      await page.getByText('You are a member').waitFor();
      await page.getByRole('link', { name: URL }).click();
      await openDetails(page);
      await page.locator('.delivery-details:visible').getByText('so full', { exact: true }).waitFor();
      const buttons = await page.locator('#endpoint button:visible').allTextContents();
      expect(buttons).toEqual(['Refresh', 'Details', 'Details', 'Details']);
      await expectAccessible(page);
      await page.goBack();
      expect(await page.getByRole('button', { name: 'Add endpoint' }).count()).toBe(0);
    });
  });

  test('without WEBHOOK_SECRET the page says so, and offers nothing that needs it', async () => {
    await withGateway({}, async (bare) => {
      const of = await makeOrganisation(bare);
      await signedIn({ browser: scene.browser, gateway: bare }, { of }, async (page) => {
        await page.getByText('Webhooks are off').waitFor();
        expect(await page.getByRole('button', { name: 'Add endpoint' }).count()).toBe(0);
        await expectAccessible(page);
      });
    });
  });

  test.each(VIEWS)('is accessible and fits: list, endpoint and every dialog ($theme, $width px)', async (view) => {
    const long = `https://hooks.example.com/${'a-long-path-of-an-endpoint/'.repeat(4)}`;
    const { of, id, admin } = await anEndpoint(long);
    const at = new Date();
    await admin('create_webhook_endpoint', {
      url: `${long}2`,
      types: ['order.created', 'order.updated', 'quote.created', 'quote.updated'],
    });
    const state = { state: 'disabled', disabled: { reason: 'failures', at }, failing_since: at, parked: 3 };
    await scene.gateway.databases.control
      .collection('webhook_endpoints')
      .updateOne({ _id: id as never }, { $set: state });
    await someDeliveries(scene.gateway, of, id, 12);
    await visit({ of, ...view }, async (page) => {
      await page.getByText('after nothing but failures').waitFor();
      await page.getByText('and 1 more').waitFor();
      await expectAccessible(page);
      await page.getByRole('link', { name: long, exact: true }).click();
      await page.getByText('it was disabled. Look below').waitFor();
      await openDetails(page);
      await page.locator('.delivery-details:visible').waitFor();
      await expectAccessible(page);
      for (const [opener, name] of [
        ['Edit', 'webhook'],
        ['Rotate secret', 'webhook-rotate'],
        ['Enable', 'webhook-enable'],
        ['Delete', 'webhook-delete'],
      ] as const) {
        const dialog = page.locator(`#${name}-dialog`);
        await page.getByRole('button', { name: opener, exact: true }).click();
        if (name === 'webhook') await dialog.getByLabel('Only these').check();
        if (name === 'webhook-enable') await dialog.getByLabel('From a time').check();
        await expectAccessible(page);
        await page.goBack();
        await dialog.waitFor({ state: 'hidden' });
      }
      await page.getByRole('button', { name: 'Rotate secret' }).click();
      await page.locator('#webhook-rotate-dialog').getByRole('button', { name: 'Rotate secret' }).click();
      await page.getByText('Save this signing secret now').waitFor();
      await expectAccessible(page);
    });
  });
});
