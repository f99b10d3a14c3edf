import type { Browser, Page } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import { CHROMIUM, INSTALL_CHROMIUM, openBrowser } from '../support/browser';
import { describeWith } from '../support/programs';
import { eventually } from '../http/eventually';
import { newScene, openWorld, type Scene, untilArrived, type World } from '../webhooks/scene';
import { signedIn } from './visiting';

describeWith(CHROMIUM, INSTALL_CHROMIUM)('webhooks on the settings page of a gateway that delivers', () => {
  let world: World;
  let browser: Browser;
  let scene: Scene;

  beforeAll(async () => {
    world = await openWorld();
    browser = await openBrowser();
    scene = await newScene(world);
  }, 120_000);
  afterAll(async () => {
    await browser.close();
    await scene.receiver.stop();
    await world.stop();
  });

  /** Presses Refresh until the page shows a text, up to a number of times. */
  const refreshUntil = (page: Page, place: string, text: string, times = 1): Promise<true> =>
    eventually(async () => {
      await page.getByRole('button', { name: 'Refresh' }).click();
      await page.locator('#refresh-endpoint:not([aria-disabled="true"])').waitFor();
      return (await page.locator(place).getByText(text).count()) === times || undefined;
    }, 30_000);

  test('deliveries are shown, a receiver that fails puts its endpoint into the failing state, and all can be sent again from a time', async () => {
    const { receiver, organisation, id } = scene;
    await signedIn({ browser, gateway: world.gateway }, { of: organisation }, async (page) => {
      await page.getByRole('link', { name: receiver.url }).click();
      await page.getByText('Nothing was sent yet').waitFor();
      await scene.write(3);
      await untilArrived(scene, 3);
      await eventually(async () => ((await scene.rows('delivered')).length === 3 ? true : undefined));
      await refreshUntil(page, '#deliveries', 'delivered', 3);
      await refreshUntil(page, '#endpoint-facts', 'up to date');
      expect(await page.locator('#deliveries').getByText('quote.created').count()).toBe(3);

      receiver.answer = (_arrival, response) => {
        response.writeHead(503).end('down for repairs');
        return undefined;
      };
      await scene.write(12);
      await refreshUntil(page, '#endpoint-notice', 'The last events of ten different objects failed');
      expect(await page.locator('#endpoint-state').textContent()).toBe('failing');
      await page.getByLabel('State').selectOption('waiting');
      await page.locator('#deliveries').getByText('the answer was 503').first().waitFor();
      await page
        .getByRole('button', { name: /^Details/ })
        .first()
        .click();
      await page.getByText('down for repairs').waitFor();

      receiver.answer = () => 204;
      const before = receiver.arrived.slice(0, 3).map(({ id: event }) => event);
      const start = receiver.arrived.length;
      await page.getByRole('button', { name: 'Try again', exact: true }).click();
      const dialog = page.locator('#webhook-enable-dialog');
      await dialog.getByLabel('From a time').check();
      await dialog.getByRole('button', { name: 'Try again' }).click();
      await dialog.waitFor({ state: 'hidden' });
      await eventually(
        () => new Set(receiver.arrived.slice(start).map(({ id: event }) => event)).size === 15 || undefined,
        30_000,
      );
      const again = receiver.arrived.slice(start);
      expect(again.map(({ id: event }) => event)).toEqual(expect.arrayContaining(before));
      for (const { body, headers } of again) new Webhook(scene.secret).verify(body, headers);
      await refreshUntil(page, '#endpoint-facts', 'up to date');
      expect(await page.locator('#endpoint-state').textContent()).toBe('enabled');
      expect((await scene.row())._id).toBe(id);
    });
  });

  test('a delivery sent by hand is sent once, however often its button is pressed', async () => {
    const { organisation, id } = scene;
    await scene.write(1);
    await eventually(async () => (await scene.rows('delivered')).length > 0);
    await signedIn({ browser, gateway: world.gateway }, { of: organisation }, async (page) => {
      const sent: (string | undefined)[] = [];
      page.on('request', (request) => {
        const mutation = /(send_test_event|resend_event)\(/.exec(request.postData() ?? '');
        if (mutation) sent.push(mutation[1]);
      });
      await page.goto(`${world.gateway.url}/settings/integrations#webhook/${id}`);
      await page
        .getByRole('button', { name: /^Details/ })
        .first()
        .click();
      for (const [button, outcome] of [
        ['Send test event', '#endpoint-outcome'],
        [/^Send again: /, '.delivery-details:visible'],
      ] as const) {
        // all of them before anything is answered
        await page.getByRole('button', { name: button }).evaluate((pressed) => {
          for (let time = 0; time < 3; time += 1) (pressed as unknown as { click(): void }).click();
        });
        await page
          .locator(outcome)
          .getByText(/the answer was 20\d/)
          .first()
          .waitFor();
      }
      expect(sent).toEqual(['send_test_event', 'resend_event']);
    });
  });
});
