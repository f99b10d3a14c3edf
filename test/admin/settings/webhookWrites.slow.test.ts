import type { Page } from 'playwright-core';
import { button, inBrowser, lost, passed, press, says, settled, unsent } from '../../support/browser';
import * as on from '../../support/settingsPage';
import { type Call, ENVIRONMENT } from '../../api/webhooks/office';
import { someDeliveries, withEndpoints } from './rows';

const { counted, dialog, fact, follow, heading, rows, saved } = on;
const [URL, OTHER] = ['https://hooks.example.com/a', 'https://hooks.example.com/b'];

inBrowser('a change of an endpoint on the settings page', () => {
  const { gateway, visit, open } = on.pageScene({ ...on.BROKEN, on: 'Webhooks' }, ENVIRONMENT);
  const url = (page: Page) => dialog(page).getByLabel('URL');

  const listed = async (admin: Call): Promise<number> => (await admin('webhooks')).data.length as number;

  async function fillEndpoint(page: Page): Promise<void> {
    await press(page, 'Add endpoint');
    await url(page).fill(URL);
  }
  const add = (page: Page): Promise<void> => press(dialog(page), 'Add endpoint');

  test('that adds it and whose answer is lost shows it with what to do; if it never arrived, the dialog says so and keeps the input', async () => {
    const { of, admin } = await withEndpoints(gateway, OTHER);
    const page = await visit(of);
    const next = await on.holdCalls(page, /create_webhook/);
    let reading = unsent;
    await on.calls(page, / webhooks \{/, (route) => reading(route));
    await fillEndpoint(page);
    await add(page);
    // a proxy's answer, which says nothing about what the gateway did
    await (await next()).fulfill({ status: 504, json: { message: 'timeout' } });
    await says(dialog(page), 'The list could not be read either');
    reading = passed;
    await add(page);
    await unsent(await next());
    await says(dialog(page), 'It is not in the list, which was read again just now.');
    await add(page);
    await lost(await next());
    await says(page, 'the answer with its secret was lost on its way');
    await heading(page, URL).waitFor();
    expect(await listed(admin)).toBe(2);
    await on.act(page, 'Rotate secret…');
    await press(dialog(page), 'Rotate secret');
    expect(await on.shown(page, 'The signing secret')).toMatch(/^whsec_/);
    await saved(page);
    await page.getByText('the answer with its secret was lost').waitFor({ state: 'hidden' });
    await on.leave(page);
    await counted(rows(page, 'Webhooks'), 2);
  });

  test('of its secret whose answer is lost says whether the secret was replaced', async () => {
    const { of, ids, admin } = await withEndpoints(gateway, URL);
    const page = await visit(of);
    await open(page, `/settings/webhooks/${ids[0]!}`);
    let fate = unsent;
    await on.calls(page, /rotate_webhook/, (route) => fate(route));
    // somebody else has changed something since the page was read
    await says(fact(page, 'Signing secret'), 'shown once, when it was created');
    await admin('rotate_webhook', { webhook_id: ids[0] });
    let reading = unsent;
    await on.calls(page, / webhooks \{/, (route) => reading(route));
    await on.act(page, 'Rotate secret…');
    await says(dialog(page), 'The endpoint could not be read: nothing was changed.');
    expect(await button(dialog(page), 'Rotate secret').count()).toBe(0);
    await page.keyboard.press('Escape');
    await dialog(page).waitFor({ state: 'hidden' });
    reading = passed;
    await on.act(page, 'Rotate secret…');
    await says(dialog(page), 'If you rotate again, the old one ends at once');
    const rotated = async (outcome: string): Promise<void> => {
      await press(dialog(page), 'Rotate secret');
      await says(dialog(page), outcome);
    };
    const MEANWHILE = 'rotated meanwhile, by this page or by somebody else';
    await rotated('The secret was not rotated so far.');
    // the page cannot know whose rotation it was
    await admin('rotate_webhook', { webhook_id: ids[0] });
    await rotated(MEANWHILE);
    await rotated('The secret was not rotated so far.');
    fate = lost;
    await rotated(MEANWHILE);
  });

  test('is sent once, however often its button is pressed, and a slow answer is announced', async () => {
    const { of, ids, admin } = await withEndpoints(gateway, OTHER);
    await someDeliveries(gateway, of, ids[0]!, 1);
    const page = await visit(of);
    const sent: string[] = [];
    page.on('request', (request) => {
      const body = request.postData() ?? '';
      sent.push(...(/(create_webhook|send_test_event|resend_event)(?=\()/.exec(body)?.slice(1) ?? []));
    });
    const next = await on.holdCalls(page, /create_webhook/);
    await fillEndpoint(page);
    for (let time = 0; time < 3; time += 1) await button(dialog(page), 'Add endpoint').dispatchEvent('click');
    for (let time = 0; time < 3; time += 1) await url(page).press('Enter');
    await says(dialog(page), 'The gateway is slow');
    expect(await button(dialog(page), 'Add endpoint').isDisabled()).toBe(true);
    // closed in the meantime: the secret is shown all the same, and another dialog does not add it again
    await page.keyboard.press('Escape');
    await dialog(page).waitFor({ state: 'hidden' });
    expect(await on.asksBeforeLeaving(page)).toBe(true);
    await fillEndpoint(page);
    await add(page);
    await says(dialog(page), 'This is being done already.');
    await page.keyboard.press('Escape');
    await dialog(page).waitFor({ state: 'hidden' });
    await passed(await next());
    await on.shown(page, 'The signing secret');
    await saved(page);
    expect(await listed(admin)).toBe(2);

    await on.calls(page, /send_test_event|resend_event/, async (route) => {
      await settled(page);
      await unsent(route);
    });
    await follow(page, OTHER);
    for (const [name, count] of [
      ['Send test event', 1],
      ['Resend quote.created', 2],
    ] as const) {
      if (count === 2) await on.openFirst(page, 'Deliveries');
      // all of them before anything is answered
      await button(page, name).evaluate((pressed) => {
        for (let time = 0; time < 3; time += 1) (pressed as unknown as { click(): void }).click();
      });
      await counted(page.getByText('Could not reach the gateway').filter({ visible: true }), count);
    }
    expect(sent).toEqual(['create_webhook', 'send_test_event', 'resend_event']);
  });

  test('leaves what somebody else has changed, and once it is late, the page and the secret that are shown', async () => {
    const { of, ids, admin } = await withEndpoints(gateway, URL);
    const page = await visit(of);
    await follow(page, URL);
    await on.act(page, 'Edit…');
    await Promise.all([says(page, 'Nothing was changed.'), press(dialog(page), 'Save')]);
    await on.act(page, 'Edit…');
    await admin('update_webhook', { webhook_id: ids[0], types: ['order.created'] });
    await url(page).fill(`${URL}/changed`);
    await press(dialog(page), 'Save');
    await heading(page, `${URL}/changed`).waitFor();
    await says(fact(page, 'Events'), 'order.created');

    const next = await on.holdCalls(page, /delete_webhook|disable_webhook/);
    const away = async (action: string, confirmed: string): Promise<void> => {
      await on.act(page, action);
      await press(dialog(page), confirmed);
      await page.keyboard.press('Escape');
      await dialog(page).waitFor({ state: 'hidden' });
      await on.leave(page);
    };
    await away('Disable…', 'Disable endpoint');
    await passed(await next());
    await says(rows(page, 'Webhooks'), 'disabled');
    expect(await page.getByText('This endpoint does not exist').count()).toBe(0);
    await follow(page, `${URL}/changed`);
    await away('Delete…', 'Delete endpoint');
    await press(page, 'Add endpoint');
    await url(page).fill(OTHER);
    await add(page);
    const secret = await on.shown(page, 'The signing secret');
    await passed(await next());
    await counted(page.getByText('Deleted the endpoint'), 1);
    expect(await on.shown(page, 'The signing secret')).toBe(secret);
    await saved(page);
    await counted(rows(page, 'Webhooks'), 1);
  });

  test('that somebody else has deleted says so, whatever the action', async () => {
    const actions = [
      ['Refresh'],
      ['Send test event'],
      ['Rotate secret…'],
      ['Edit…', 'Save'],
      ['Disable…', 'Disable endpoint'],
      ['Send events again…', 'Send again'],
      ['Resend quote.created'],
    ];
    const { of, ids, admin } = await withEndpoints(gateway, ...actions.map((_, at) => `${URL}/${String(at)}`));
    await someDeliveries(gateway, of, ids.at(-1)!, 1);
    const page = await visit(of);
    for (const [at, [action = '', does]] of actions.entries()) {
      const url = `${URL}/${String(at)}`;
      await follow(page, url);
      await (action.startsWith('Resend') ? on.openFirst(page, 'Deliveries') : says(page, 'No event was sent yet'));
      await admin('delete_webhook', { webhook_id: ids[at] });
      await (action.endsWith('…') ? on.act(page, action) : press(page, action));
      if (does === 'Save') await dialog(page).getByLabel('URL').fill(`${url}/changed`);
      if (does !== undefined) await press(dialog(page), does);
      await says(page, `The endpoint ${url} was deleted meanwhile`);
      await counted(rows(page, 'Webhooks'), actions.length - 1 - at);
    }
    await open(page, `/settings/webhooks/${ids[0]!}`);
    await says(page, 'This endpoint does not exist. It may have been deleted.');
  });
});
