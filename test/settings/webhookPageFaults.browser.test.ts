import type { Page } from 'playwright-core';
import type { Organisation } from '../../src/auth/principal';
import { eventually } from '../http/eventually';
import { type Call, ENVIRONMENT, officeOf } from '../webhooks/office';
import { someDeliveries } from './deliveryRows';
import { makeLink } from './people';
import { inBrowser, intercept, pageScene, signIn } from './visiting';

/** What the browser logs about requests that the test makes fail. */
const LOST = /Failed to load resource/;
const URL = 'https://hooks.example.com/a';
const OTHER = 'https://hooks.example.com/b';

inBrowser('webhooks on the settings page, when something goes wrong', () => {
  const scene = pageScene({ tolerates: LOST }, ENVIRONMENT);
  const { visit } = scene;

  async function endpoints(...urls: string[]): Promise<{ of: Organisation; admin: Call; ids: string[] }> {
    const { admin, organisation } = await officeOf(scene.gateway);
    const ids: string[] = [];
    for (const url of urls) ids.push((await admin('create_webhook_endpoint', { url })).endpoint.id as string);
    return { of: organisation, admin, ids };
  }

  async function fillNew(page: Page, url = URL): Promise<void> {
    await page.getByRole('button', { name: 'Add endpoint' }).click();
    await page.locator('#webhook-dialog').getByLabel('URL').fill(url);
  }
  const add = (page: Page) => page.locator('#webhook-dialog').getByRole('button', { name: 'Add endpoint' });

  test('if the answer to adding is lost, the list is reloaded, and the endpoint is shown with what to do', async () => {
    const { of, admin } = await endpoints(OTHER);
    await visit(of, async (page) => {
      await intercept(page, /create_webhook_endpoint/, async (route) => {
        await route.fetch();
        await route.abort('connectionreset');
      });
      await fillNew(page);
      await add(page).click();
      await page.getByText('the answer with its secret was lost on its way').waitFor();
      expect(await page.locator('#endpoint-title').textContent()).toBe(URL);
      expect((await admin('webhook_endpoints')).data).toHaveLength(2);
      await page.getByRole('button', { name: 'Rotate secret' }).click();
      await page.locator('#webhook-rotate-dialog').getByRole('button', { name: 'Rotate secret' }).click();
      await page.locator('[data-secret]', { hasText: 'whsec_' }).waitFor();
      await page.getByRole('button', { name: 'I have saved it' }).click();
      await page.getByText('the answer with its secret was lost').waitFor({ state: 'hidden' });
      await page.getByRole('link', { name: 'Integrations' }).click();
      expect(await page.locator('#webhooks tr').count()).toBe(2);
    });
  });

  test('if adding never reached the gateway, the dialog says so, keeps the input, and can try again', async () => {
    const { of } = await endpoints();
    await visit(of, async (page) => {
      let isLost = true;
      await intercept(page, /create_webhook_endpoint/, (route) =>
        isLost ? route.abort('connectionrefused') : route.continue(),
      );
      await fillNew(page);
      await add(page).click();
      await page.getByText('It is not in the list, which was read again just now.').waitFor();
      isLost = false;
      await add(page).click();
      await page.locator('[data-secret]', { hasText: 'whsec_' }).waitFor();
    });
  });

  test('if the answer to a rotation is lost, the page says whether the secret was replaced', async () => {
    const { of, ids, admin } = await endpoints(URL);
    await visit(of, async (page) => {
      await page.goto(`${scene.gateway.url}/settings/integrations#webhook/${ids[0]!}`);
      let isDone = false;
      await intercept(page, /rotate_webhook_endpoint/, async (route) => {
        if (isDone) await route.fetch();
        await route.abort('connectionreset');
      });
      // somebody else has changed something since the page was read
      await page.locator('#endpoint-facts').getByText('shown once, when it was made').waitFor();
      await admin('rotate_webhook_endpoint', { id: ids[0] });
      const dialog = page.locator('#webhook-rotate-dialog');
      let isUnread = true;
      await intercept(page, /webhook_endpoints/, (route) =>
        isUnread ? route.abort('connectionreset') : route.continue(),
      );
      await page.getByRole('button', { name: 'Rotate secret' }).click();
      await dialog.getByText('The endpoint could not be read: nothing was changed.').waitFor();
      expect(await dialog.getByRole('button', { name: 'Rotate secret' }).isVisible()).toBe(false);
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'hidden' });
      isUnread = false;
      await page.getByRole('button', { name: 'Rotate secret' }).click();
      await dialog.getByText('If you rotate again, that one ends at once').waitFor();
      await dialog.getByRole('button', { name: 'Rotate secret' }).click();
      await dialog.getByText('The secret was not rotated so far.').waitFor();
      // the page cannot know whose rotation it was
      await admin('rotate_webhook_endpoint', { id: ids[0] });
      await dialog.getByRole('button', { name: 'Rotate secret' }).click();
      await dialog.getByText('rotated meanwhile, by this page or by somebody else').waitFor();
      await dialog.getByRole('button', { name: 'Rotate secret' }).click();
      await dialog.getByText('The secret was not rotated so far.').waitFor();
      isDone = true;
      await dialog.getByRole('button', { name: 'Rotate secret' }).click();
      await dialog.getByText('rotated meanwhile, by this page or by somebody else').waitFor();
    });
  });

  test('a button sends once, however often it is pressed, and a slow answer is announced', async () => {
    const { of, admin } = await endpoints();
    await visit(of, async (page) => {
      let go = (): void => undefined;
      const held = new Promise<void>((resolve) => (go = resolve));
      await intercept(page, /create_webhook_endpoint/, async (route) => {
        await held;
        await route.continue();
      });
      await fillNew(page);
      for (let time = 0; time < 3; time += 1) await add(page).dispatchEvent('click');
      for (let time = 0; time < 3; time += 1) await page.locator('#webhook-url').press('Enter');
      await page.getByText('The gateway takes its time').waitFor();
      expect(await add(page).isDisabled()).toBe(true);
      // closed in the meantime: the secret is shown all the same
      await page.keyboard.press('Escape');
      await page.locator('#webhook-dialog').waitFor({ state: 'hidden' });
      go();
      await page.locator('[data-secret]', { hasText: 'whsec_' }).waitFor();
      expect((await admin('webhook_endpoints')).data).toHaveLength(1);
    });
  });

  test('an event sent by hand is sent once, however often its button is pressed', async () => {
    const { of, ids } = await endpoints(URL);
    await someDeliveries(scene.gateway, of, ids[0]!, 1);
    await visit(of, async (page) => {
      const sent: (string | undefined)[] = [];
      await intercept(page, /send_test_event|resend_event/, async (route) => {
        sent.push(/(send_test_event|resend_event)\(/.exec(route.request().postData() ?? '')?.[1]);
        await page.evaluate('fetch("/healthz").then(() => new Promise((go) => setTimeout(go, 50)))');
        await route.abort('connectionreset');
      });
      await page.getByRole('link', { name: URL }).click();
      await page.getByRole('button', { name: /^Details/ }).click();
      for (const [button, outcome] of [
        ['Send test event', '#endpoint-outcome'],
        [/^Send again: /, '.delivery-details:visible'],
      ] as const) {
        // all of them before anything is answered
        await page.getByRole('button', { name: button }).evaluate((pressed) => {
          for (let time = 0; time < 3; time += 1) (pressed as unknown as { click(): void }).click();
        });
        await page.locator(outcome).getByText('Could not reach the gateway').waitFor();
      }
      expect(sent).toEqual(['send_test_event', 'resend_event']);
    });
  });

  test('late answers about another endpoint or filter are dropped', async () => {
    const { of, ids } = await endpoints(URL, OTHER);
    const [first = '', second = ''] = ids;
    await someDeliveries(scene.gateway, of, first, 8);
    await someDeliveries(scene.gateway, of, second, 3);
    await visit(of, async (page) => {
      const held: (() => Promise<void>)[] = [];
      // the deliveries of the first endpoint, and every test event
      await intercept(page, new RegExp(`webhook_deliveries.*${first}|send_test_event`, 's'), async (route) => {
        const response = await route.fetch();
        held.push(() => route.fulfill({ response }));
      });
      const heading = page.locator('#endpoint-title');
      const rows = page.locator('#deliveries tr:not(.delivery-details)');
      const release = async (): Promise<void> => {
        const answers = held.splice(0);
        expect(answers.length).toBeGreaterThan(0);
        for (const answer of answers) await answer();
        // a call after them is answered after them
        await page.evaluate('fetch("/healthz").then(() => new Promise((go) => setTimeout(go, 50)))');
      };

      await page.getByRole('link', { name: URL }).click();
      await page.getByRole('button', { name: 'Send test event' }).click();
      await eventually(() => held.length === 2);
      await page.goBack();
      await page.getByRole('link', { name: OTHER }).click();
      await rows.nth(2).waitFor();
      await release();
      expect(await heading.textContent()).toBe(OTHER);
      expect(await rows.count()).toBe(3);
      expect(await page.locator('#endpoint-outcome').textContent()).toBe('');

      await page.goBack();
      await page.getByRole('link', { name: URL }).click();
      await eventually(() => held.length === 1);
      await page.getByLabel('State').selectOption('failed');
      await eventually(() => held.length === 2);
      // the newer answer arrives first
      held.reverse();
      await release();
      expect(await rows.count()).toBe(2);
      expect(await rows.getByText('given up').count()).toBe(2);
    });
  });

  test('a page of deliveries that could not be read is reported, and can be tried again', async () => {
    const { of, ids } = await endpoints(URL);
    await someDeliveries(scene.gateway, of, ids[0]!, 2);
    await visit(of, async (page) => {
      let isLost = false;
      await intercept(page, /webhook_deliveries/, (route) =>
        isLost ? route.abort('connectionreset') : route.continue(),
      );
      await page.getByRole('link', { name: URL }).click();
      await page.locator('#deliveries tr').first().waitFor();
      isLost = true;
      await page.getByLabel('State').selectOption('delivered');
      await page.locator('#deliveries-failure').getByText('Could not reach the gateway').waitFor();
      isLost = false;
      await page.locator('#deliveries-failure').getByRole('button', { name: 'Try again' }).click();
      await page.locator('#deliveries tr').first().waitFor();
      expect(await page.locator('#deliveries-failure').isVisible()).toBe(false);
    });
  });

  test('a session that ended elsewhere loses no input, and works again after signing in from another tab', async () => {
    const { of, admin } = await endpoints();
    await visit(of, async (page) => {
      await fillNew(page);
      const other = await page.context().newPage();
      await other.goto(`${scene.gateway.url}/settings/integrations`);
      await other.getByRole('button', { name: 'Sign out', exact: true }).click();
      await other.waitForURL('**/settings/sign-in');
      await add(page).click();
      const failure = page.locator('#webhook-dialog [data-failure]');
      await failure.getByText('You have been signed out.').waitFor();
      expect(await failure.getByRole('link', { name: 'Sign in' }).getAttribute('target')).toBe('_blank');
      expect(await page.locator('#webhook-url').inputValue()).toBe(URL);

      // somebody else, in the same browser
      await signIn(other, scene.gateway, await makeLink(scene.gateway, of, 'admin', 'Eve'));
      await add(page).click();
      await failure.getByText('Somebody else has signed in').waitFor();
      await other.getByRole('button', { name: 'Sign out', exact: true }).click();
      await other.waitForURL('**/settings/sign-in');
      expect((await admin('webhook_endpoints')).data).toEqual([]);

      await signIn(other, scene.gateway, await makeLink(scene.gateway, of, 'admin', 'Ann'));
      await add(page).click();
      await page.locator('[data-secret]', { hasText: 'whsec_' }).waitFor();
    });
  });

  test('the focus returns to the button that opened a dialog, even if the actions were redrawn', async () => {
    const { of, ids } = await endpoints(URL);
    await visit(of, async (page) => {
      await page.goto(`${scene.gateway.url}/settings/integrations#webhook/${ids[0]!}`);
      await page.getByRole('button', { name: 'Rotate secret' }).press('Enter');
      const rotate = page.locator('#webhook-rotate-dialog').getByRole('button', { name: 'Rotate secret' });
      await rotate.press('Enter');
      await page.getByText('the one before signs too until').waitFor({ state: 'attached' });
      await page.getByRole('button', { name: 'I have saved it' }).press('Enter');
      await page.getByRole('button', { name: 'Rotate secret' }).and(page.locator(':focus')).waitFor();
    });
  });

  test('an endpoint deleted by somebody else is reported as gone by every action', async () => {
    const actions = [
      ['Refresh'],
      ['Send test event'],
      ['Rotate secret'],
      ['Edit', 'Save'],
      ['Disable', 'Disable endpoint'],
      ['Send events again', 'Send again'],
      ['Send again: quote.created'],
    ];
    const { of, ids, admin } = await endpoints(...actions.map((_, at) => `${URL}/${String(at)}`));
    await someDeliveries(scene.gateway, of, ids.at(-1)!, 1);
    await visit(of, async (page) => {
      for (const [at, [action = '', button]] of actions.entries()) {
        const url = `${URL}/${String(at)}`;
        await page.getByRole('link', { name: url }).click();
        const details = page.getByRole('button', { name: /^Details/ });
        await (action.startsWith('Send again:') ? details.click() : page.getByText('Nothing was sent yet').waitFor());
        await admin('delete_webhook_endpoint', { id: ids[at] });
        await page.getByRole('button', { name: action, exact: true }).click();
        if (button !== undefined) await page.locator('dialog[open]').getByRole('button', { name: button }).click();
        await page.getByText(`The endpoint ${url} was deleted meanwhile`).waitFor();
        await eventually(async () => (await page.locator('#webhooks tr').count()) === actions.length - 1 - at);
      }
      await page.goto(`${scene.gateway.url}/settings/integrations#webhook/${ids[0]!}`);
      await page.getByText('This endpoint does not exist. It may have been deleted.').waitFor();
    });
  });
});
