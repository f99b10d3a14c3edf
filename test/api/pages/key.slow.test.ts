import { button, hasFocus, hold, inBrowser, press, says, settled, unsent } from '../../support/browser';
import { makeKey } from '../../support/factories';
import { BROKEN, enterKey, keyForm, pagesScene } from '../../support/fixtures/pages';

const SECRETS = `JSON.stringify([location.href, document.cookie, { ...localStorage }, history.state, document.body.innerText])`;
const KEPT = 'JSON.stringify({ ...sessionStorage })';

inBrowser('the form for the key', () => {
  const scene = pagesScene();

  test('a key entered once works in the reference and the explorer of this tab, until it is forgotten', async () => {
    const page = await scene.visit('/api/v1/docs/me/get');
    await press(page, 'Try it');
    await enterKey(page, scene.key);
    expect(await keyForm(page).innerText()).not.toContain(scene.key);
    await page.goto(`${scene.gateway.url}/graphiql`);
    await keyForm(page).getByText('Northwind Traders').waitFor();
    await page.locator('.graphiql-execute-button').click();
    await page.locator('.graphiql-response').getByText('total_minor').first().waitFor();
    expect(await page.evaluate(SECRETS)).not.toContain(scene.key);
    // another tab is another visitor
    const other = await page.context().newPage();
    await other.goto(`${scene.gateway.url}/api/v1/docs/me/get`);
    await press(other, 'Try it');
    await keyForm(other).getByLabel('API key').waitFor();
    await other.close();

    await press(keyForm(page), 'Forget key');
    await keyForm(page).getByLabel('API key').waitFor();
    expect(await page.evaluate(KEPT)).not.toContain('svc_');
    await page.locator('.graphiql-execute-button').click();
    await page.locator('.graphiql-response').getByText('Enter your API key').waitFor();
    // a request sent without a key waits for one
    await page.goto(`${scene.gateway.url}/api/v1/docs/me/get`);
    await press(page, 'Try it');
    await press(page, 'Send request');
    await says(keyForm(page), 'Enter your API key to send the request.');
    await hasFocus(keyForm(page).getByLabel('API key'));
    await enterKey(page, scene.key);
    await says(page.getByRole('region', { name: 'Answer' }), 'HTTP 200');
  });

  test('a rejected key is not kept, and one entered in the meantime is', async () => {
    const page = await scene.visit({ path: '/api/v1/docs/me/get', tolerates: BROKEN });
    await press(page, 'Try it');
    const field = keyForm(page).getByLabel('API key');
    const enter = async (text: string): Promise<void> => {
      await field.fill(text);
      await page.keyboard.press('Enter');
    };
    const next = await hold(page, '**/api/v1/me', undefined, 1);
    await button(keyForm(page), 'Use key').and(page.locator(':enabled')).waitFor();
    await enter('svc_live_slow');
    const slow = await next();
    await enterKey(page, scene.key);
    await slow.fulfill({ response: await slow.fetch() });
    await settled(page);
    expect(await keyForm(page).getByText('Northwind Traders').isVisible()).toBe(true);
    await press(keyForm(page), 'Forget key');
    for (const [typed, text] of [
      ['svc_live_wrong', 'The gateway refuses this key'],
      ['svc_live_…', 'letters, digits and underscores'],
    ] as const) {
      await enter(typed);
      await says(keyForm(page), text);
      expect(await page.evaluate(KEPT)).not.toContain(typed);
      expect(await field.inputValue()).toBe(typed);
    }
    // a rejected key can be replaced by typing
    await enter('svc_live_wrong');
    await says(keyForm(page), 'The gateway refuses this key');
    await page.keyboard.insertText(` "Bearer '${scene.key}'", `);
    await page.keyboard.press('Enter');
    await keyForm(page).getByText('Northwind Traders').waitFor();
  });

  test("the demo's key does not replace one that is being typed", async () => {
    const page = await scene.visit('/errors');
    await page.route('**/graphiql', async (route) => {
      const response = await route.fetch();
      const text = (await response.text()).replace('{"tabs":', `{"key":"${scene.key}","tabs":`);
      await route.fulfill({ response, body: text });
    });
    const next = await hold(page, '**/api/v1/me');
    await page.goto(`${scene.gateway.url}/graphiql`);
    const demo = await next();
    const field = keyForm(page).getByLabel('API key');
    await field.fill('svc_live_typed');
    await demo.fulfill({ response: await demo.fetch() });
    await settled(page);
    expect(await field.inputValue()).toBe('svc_live_typed');
    // nor does one that is kept, and one that could not be checked is used all the same
    await field.fill(scene.key);
    await page.keyboard.press('Enter');
    await (await next()).continue();
    await keyForm(page).getByText('Northwind Traders').waitFor();
    await page.reload();
    const kept = await next();
    await field.fill('svc_live_typed');
    await kept.fulfill({ response: await kept.fetch() });
    await settled(page);
    expect(await field.inputValue()).toBe('svc_live_typed');
    await page.reload();
    await (await next()).fulfill({ contentType: 'text/html', body: '<p>' });
    await says(keyForm(page), 'The gateway cannot be reached');
    await page.locator('.graphiql-execute-button').click();
    await says(page.locator('.graphiql-response'), 'total_minor');
  });

  test('a key that lacks the scope of an operation is told so', async () => {
    const { key } = await makeKey(scene.gateway, scene.organisation, { scopes: ['quotes:read'] });
    const page = await scene.visit('/api/v1/docs/orders/list');
    await press(page, 'Try it');
    const note = page.getByRole('dialog').getByText('Not in your key’s scopes');
    await enterKey(page, key);
    await note.waitFor();
    await page.goto(`${scene.gateway.url}/api/v1/docs/events/list`);
    await press(page, 'Try it');
    await keyForm(page).getByText('Northwind Traders').waitFor();
    // one of several scopes is enough
    expect(await note.isVisible()).toBe(false);
  });

  test.each(['/graphiql', '/graphql'])(
    '%s says that it is loading, and does not submit the key while its scripts are missing',
    async (path) => {
      // without the policy, which would also prevent it
      const page = await scene.visit({ path: '/errors', bypassCSP: true, tolerates: BROKEN });
      await page.route('**/*.js', unsent);
      await page.goto(scene.gateway.url + path);
      await says(page, 'Loading');
      await keyForm(page).getByLabel('API key').fill('svc_live_secret');
      await page.keyboard.press('Enter');
      expect(await button(keyForm(page), 'Use key').isDisabled()).toBe(true);
      expect(await keyForm(page).getByLabel('API key').inputValue()).toBe('svc_live_secret');
      expect(page.url()).toBe(scene.gateway.url + path);
    },
  );
});
