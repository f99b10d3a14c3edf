import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { DAY } from '../../../src/units';
import { eventually } from '../../api/http/eventually';
import { button, expectAccessible, hasFocus, inBrowser, press, says, settled, unsent } from '../../support/browser';
import { makeKey, makeOrganisation } from '../../support/factories';
import * as on from '../../support/settingsPage';
import { ENVIRONMENT } from '../../api/webhooks/office';
import { someDeliveries, someRequests, withEndpoints } from './rows';

const { choose, counted, fact, follow, heading, named, overtaken, rows, section } = on;
const [ONE, OTHER] = ['https://hooks.example.com/a', 'https://hooks.example.com/b'] as const;

inBrowser('if the settings page cannot read something,', () => {
  const scene = on.pageScene(on.BROKEN, ENVIRONMENT);
  const { gateway, visit, open } = scene;

  async function endpoints() {
    const { of, ids } = await withEndpoints(gateway, ONE, OTHER);
    for (const [at, count] of [8, 3].entries()) await someDeliveries(gateway, of, ids[at]!, count);
    return { of, one: ids[0]! };
  }

  const banner = (page: Page) => page.getByRole('alert').filter({ hasText: 'This page tries again by itself' });

  test.each([
    {
      what: 'the overview',
      body: /./,
      path: '/settings/integrations?period=last_24h',
      then: 'No requests in the last 24 hours.',
    },
    {
      what: 'a key',
      body: /key\(key_id/,
      path: '/settings/keys/KEY',
      then: 'No requests with this key in the last 24',
    },
    {
      what: 'all of a key but itself',
      body: /usage\(|request_log|audit_events/,
      path: '/settings/keys/KEY',
      then: 'No requests with this key in the last 24',
    },
    {
      what: 'what was sent to an endpoint',
      body: /webhook_deliveries/,
      path: '/settings/webhooks/ENDPOINT',
      then: 'given up',
    },
  ])('$what, one notice says so, and trying again there reads all of it, one after another', async (lost) => {
    const { of, one } = await endpoints();
    const { id } = await makeKey(gateway, of, { name: 'busy' });
    const page = await visit(of);
    let isAway = true;
    let [running, most] = [0, 0];
    await on.calls(page, lost.body, async (route) => {
      if (isAway) return unsent(route);
      running += 1;
      most = Math.max(most, running);
      const response = await route.fetch();
      running -= 1;
      return route.fulfill({ response });
    });
    await open(page, lost.path.replace('KEY', id).replace('ENDPOINT', one));
    await says(banner(page), 'Could not reach the gateway.');
    await expectAccessible(page);
    const again = button(page, 'Try again now');
    const tried = page.waitForEvent('requestfailed');
    await again.press('Enter');
    await tried;
    await counted(page.getByRole('alert').filter({ visible: true }), 1);
    // or the page tries again by itself, every 15 s
    await page.evaluate("Object.defineProperty(document, 'hidden', { value: true })");
    isAway = false;
    await again.press('Enter');
    await counted(page.getByRole('alert').filter({ visible: true }), 0);
    await says(page, lost.then);
    await hasFocus(page.getByRole('heading'));
    expect(most).toBe(1);
  });

  test('what cannot be read at all does not keep it from reading the rest', async () => {
    const of = await makeOrganisation(gateway);
    await makeKey(gateway, of, { name: 'busy' });
    const page = await visit(of);
    let isAway = true;
    /** What is tried first. */
    let stuck: string | undefined;
    const tried = new Set<string>();
    await on.calls(page, /./, (route) => {
      const { query } = route.request().postDataJSON() as { readonly query: string };
      if (isAway) return unsent(route);
      stuck ??= query;
      tried.add(query);
      return query === stuck ? unsent(route) : route.continue();
    });
    await open(page, '/settings/integrations?period=last_24h');
    await says(banner(page), 'Could not reach the gateway.');
    // or the page tries again by itself, every 15 s
    await page.evaluate("Object.defineProperty(document, 'hidden', { value: true })");
    isAway = false;
    await press(page, 'Try again now');
    await eventually(() => tried.size === 1);
    await settled(page);
    await press(page, 'Try again now');
    await eventually(() => tried.size > 1);
    await banner(page).waitFor();
  });

  test('it reads that by itself as soon as the computer is online', async () => {
    const of = await makeOrganisation(gateway);
    await makeKey(gateway, of, { name: 'shop' });
    const page = await visit({ of, on: 'Members' });
    await on.calls(page, / keys\(/, unsent);
    await on.goTo(page, 'API keys');
    await says(banner(page), 'Could not reach the gateway');
    await page.unroute('**/settings/graphql');
    await page.evaluate("dispatchEvent(new Event('online'))");
    await named(page, 'shop').waitFor();
    await counted(page.getByRole('alert'), 0);
  });

  test('what was shown stays if it cannot be refreshed, unless something else was chosen, and a link opens the details of a request', async () => {
    const of = await makeOrganisation(gateway);
    const { id } = await makeKey(gateway, of, { name: 'shop' });
    await someRequests(gateway, of, id, [{ status: 404, code: 'not_found', operation: 'quote' }, {}]);
    const page = await visit({ of, on: 'Requests' });
    const requests = section(page, 'Requests');
    const found = requests.getByRole('rowheader');
    await counted(found, 2);
    await requests.getByText('Successful', { exact: true }).click();
    await counted(found, 1);
    await on.calls(page, /request_log/, unsent);
    await press(requests, 'Refresh');
    await says(banner(page), 'Could not reach the gateway');
    await hasFocus(button(requests, 'Refresh'));
    expect(await found.count()).toBe(1);
    await requests.getByText('All', { exact: true }).click();
    await counted(found, 0);
    await page.unroute('**/settings/graphql');
    await press(page, 'Try again now');
    await counted(found, 2);
    await counted(banner(page), 0);
    await found.first().getByRole('link').click();
    await says(on.dialog(page), 'GET /api/v1/quotes');
    await on.calls(page, /logged_request/, unsent);
    await page.reload();
    await says(banner(page), 'Could not reach the gateway');
    await page.unroute('**/settings/graphql');
    await page.evaluate("dispatchEvent(new Event('online'))");
    await says(on.dialog(page), 'GET /api/v1/quotes');
    await page.goBack();
    await on.dialog(page).waitFor({ state: 'hidden' });
    expect([on.path(page), on.search(page)]).toEqual(['/settings/requests', '']);
    await counted(found, 2);
  });

  test('late answers about another key, period or filter are dropped', async () => {
    const of = await makeOrganisation(gateway);
    const [first, second, gone] = await Promise.all(
      ['first', 'second', 'gone'].map((name) => makeKey(gateway, of, { name })),
    );
    await gateway.control.apiKeys.revoke(gone!.id);
    await someRequests(gateway, of, first!.id, [{ path: '/api/v1/orders' }]);
    await someRequests(gateway, of, second!.id, [{ path: '/api/v1/customers', status: 404, code: 'not_found' }]);
    const counts = { at: new Date(), errors: 0, rate_limited: 0 };
    await gateway.control.usage.add([
      { ...counts, keyId: first!.id, requests: 111 },
      { ...counts, keyId: second!.id, requests: 222 },
      { ...counts, keyId: second!.id, requests: 444, at: new Date(Date.now() - 9 * DAY) },
    ]);
    const found = (page: Page): Promise<string[]> =>
      section(page, 'Requests').getByRole('rowheader').getByRole('link').allTextContents();
    const used = (text: string) => (page: Page) => page.getByRole('img', { name: new RegExp(text) }).waitFor();
    const page = await visit({ of, on: 'Requests' });
    const choosing = (words: string) => (): Promise<void> =>
      section(page, 'Requests').getByText(words, { exact: true }).click();
    await overtaken(page, { body: /"failed":true/, count: 2 }, choosing('Failed'), async () => {
      await choosing('Successful')();
      await eventually(async () => String(await found(page)) === 'GET /orders');
    });
    expect(await found(page)).toEqual(['GET /orders']);
    await choosing('All')();
    await on.goTo(page, 'API keys');

    const body = new RegExp(`(usage\\(|request_log|audit_events).*${first!.id}`, 's');
    await overtaken(
      page,
      { body, count: 4 },
      () => follow(page, 'first'),
      async () => {
        await page.goBack();
        await follow(page, 'second');
        await used('24 hours: 222')(page);
        await says(section(page, 'Requests'), 'GET /customers');
        await says(section(page, 'Audit log of this key'), 'second');
      },
    );
    expect(await fact(page, 'Requests').innerText()).toBe('222');
    expect(await heading(page, 'second').count()).toBe(1);
    expect(await found(page)).toEqual(['GET /customers']);
    const events = rows(page, 'Audit log of this key').filter({ hasText: 'Created' });
    expect(await events.allInnerTexts()).toEqual([expect.stringContaining('Created second')]);

    const period = (name: string) => () => section(page, 'Usage').getByRole('radio', { name }).check();
    await overtaken(page, { body: /last_30d/ }, period('30 days'), async () => {
      await period('24 hours')();
      await used('24 hours: 222')(page);
    });
    expect(await fact(page, 'Requests').innerText()).toBe('222');
    await on.leave(page);

    const show = (state: string) => () => page.getByLabel('Show').selectOption(state);
    await overtaken(page, { body: /"ended"/ }, show('ended'), async () => {
      await show('all')();
      await named(page, 'gone').waitFor();
    });
    expect(await rows(page, 'API keys').count()).toBe(3);

    const usage = new RegExp(`usage\\(.*${first!.id}`, 's');
    await overtaken(
      page,
      { body: usage },
      () => choose(page, 'first', 'Revoke…'),
      async () => {
        await press(on.dialog(page), 'Cancel');
        await choose(page, 'second', 'Revoke…');
        await says(on.dialog(page), '222 requests');
      },
    );
    await says(on.dialog(page), '222 requests');
  });

  test('late answers about another endpoint or another filter of its deliveries are dropped', async () => {
    const { of, one } = await endpoints();
    const page = await visit({ of, on: 'Webhooks' });
    const sent = section(page, 'Deliveries').getByRole('rowheader');
    const test = async (): Promise<void> => {
      await follow(page, ONE);
      await press(page, 'Send test event');
    };
    // the deliveries of the first endpoint, and a test event
    const body = new RegExp(`webhook_deliveries.*${one}|send_test_event`, 's');
    await overtaken(page, { body, count: 2 }, test, async () => {
      await page.goBack();
      await follow(page, OTHER);
      await counted(sent, 3);
    });
    expect([await heading(page, OTHER).count(), await sent.count()]).toEqual([1, 3]);
    expect(await page.getByText('Test event:').count()).toBe(0);

    await page.goBack();
    const state = () => page.getByLabel('State').selectOption('given up');
    await overtaken(
      page,
      { body: /webhook_deliveries/ },
      () => follow(page, ONE),
      async () => {
        await state();
        await counted(sent, 2);
      },
    );
    expect(await sent.count()).toBe(2);
    expect(await rows(page, 'Deliveries').filter({ hasText: 'given up' }).count()).toBe(2);

    await on.calls(page, /webhook_deliveries/, unsent);
    await press(section(page, 'Deliveries'), 'Refresh');
    await says(banner(page), 'Could not reach the gateway');
    await on.settled(page);
    expect(await page.getByText('Refreshed.').count()).toBe(0);
  });

  test('for good, it names the cause and a way on, and has no button to try again', async () => {
    const of = await makeOrganisation(gateway);
    const page = await visit(of);
    const long = 'x'.repeat(300);
    await open(page, `/settings/keys?search=${long}`);
    const alert = (place: string) => section(page, place).getByRole('alert');
    await says(alert('API keys'), 'The search must not have more than 200 characters.');
    await open(page, `/settings/requests?search=${'x'.repeat(2001)}&status=${long}`);
    await says(alert('Requests'), 'The search must not have more than 2000 characters.');
    await says(alert('Requests'), 'The status must not have more than 3 characters.');
    expect(await button(page, 'Try again').count()).toBe(0);

    await open(page, `/settings/keys/${randomUUID()}`);
    await says(alert('API key'), 'There is no such API key');
    expect(await alert('API key').getByRole('button').allTextContents()).toEqual(['Switch to the sandbox']);
    await expectAccessible(page);
    await alert('API key').getByRole('link', { name: 'All API keys' }).click();
    await heading(page, 'API keys').waitFor();

    await scene.signInElsewhere(page, of, 'member', 'Eve');
    await page.getByLabel('Show').selectOption('ended');
    await says(alert('API keys'), 'Somebody else has signed in, in another tab.');
    expect(await alert('API keys').getByRole('button').allTextContents()).toEqual(['Reload']);
    await press(alert('API keys'), 'Reload');
    await says(page, 'Eve');
  });
});
