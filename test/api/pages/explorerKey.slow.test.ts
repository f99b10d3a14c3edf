import type { Locator } from 'playwright-core';
import type { Scope } from '../../../src/auth/scopes';
import { EXAMPLE_QUERIES, type ExampleQuery } from '../../../src/pages/queries';
import type { Json } from '../../support/client';
import { eventually } from '../http/eventually';
import { callerOf, makeKey } from '../../support/factories';
import { button, copy, inBrowser, press, says } from '../../support/browser';
import { close, headers, openDocs, query, ready, response, run, write, writeKey } from './graphiqlPage';
import { BROKEN, enterKey, keyForm, output, pagesScene } from '../../support/fixtures/pages';

inBrowser('GraphiQL with a key', () => {
  const scene = pagesScene();

  test('a key entered in one tab works in all tabs and in newly opened examples', async () => {
    const page = await scene.visit('/graphiql');
    await ready(page);
    await writeKey(page, scene.key);
    await run(page);
    await says(response(page), 'total_minor');
    await says(keyForm(page), 'Northwind Traders');
    await close(page, 'Me');
    await page.getByLabel('Show Examples').click();
    await press(page.locator('.examples'), 'Me');
    await page.locator('.graphiql-tab-active', { hasText: 'Me' }).waitFor();
    await run(page);
    await says(response(page), 'Northwind Traders');
  });

  test('offers only what the key may call; docs and examples name the missing scope', async () => {
    const { key } = await makeKey(scene.gateway, scene.organisation, { scopes: ['quotes:read', 'customers:read'] });
    const page = await scene.visit('/errors');
    // a scope of a schema of one's own
    await page.route('**/graphql', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: (await response.text()).replaceAll('requests:read', 'price_lists2:read') });
    });
    await page.goto(`${scene.gateway.url}/graphiql`);
    await ready(page);
    await enterKey(page, key);
    await page.getByLabel('Show Examples').click();
    const example = (name: string): Locator => page.locator('.examples li').filter({ has: button(page, name) });
    await example('SalesByMonth').getByText('Your key lacks orders:read.').waitFor();
    expect(await example('QuotesWithLines').innerText()).not.toContain('lacks');
    const docs = await openDocs(page, 'Query');
    await docs.getByText('Your key lacks orders:read.').first().waitFor();
    await docs.getByText('Your key lacks price_lists2:read.').first().waitFor();
    expect(await docs.getByText('Your key lacks quotes:read.').count()).toBe(0);
    // one of several scopes is enough
    expect(await docs.getByText(/Your key lacks [^.]* or /).count()).toBe(0);
    const complete = async (): Promise<string[]> => {
      await write(query(page), '{\n  \n}');
      await query(page)
        .locator('.CodeMirror')
        .evaluate((element: unknown) => {
          const { CodeMirror } = element as { CodeMirror: { setCursor(at: unknown): void; focus(): void } };
          CodeMirror.focus();
          CodeMirror.setCursor({ line: 1, ch: 2 });
        });
      await page.keyboard.press('Control+Space');
      await page.locator('.CodeMirror-hint').first().waitFor();
      // the panel comes with the next that is selected
      await page.keyboard.press('ArrowDown');
      await page.locator('.CodeMirror-hint-information-description').waitFor();
      const offered = await page.locator('.CodeMirror-hint').allInnerTexts();
      await page.keyboard.press('Escape');
      return offered.map((text) => text.split(/\s/)[0]!);
    };
    const offered = await complete();
    expect(offered).toEqual(expect.arrayContaining(['quotes', 'customers', 'me', 'events']));
    expect(offered.filter((name) => /order|product|request/.test(name))).toEqual([]);
    await press(keyForm(page), 'Forget key');
    await docs.getByText('Your key lacks').first().waitFor({ state: 'detached' });
    expect(await complete()).toEqual(expect.arrayContaining(['orders', 'products']));
  });

  test('each example runs with exactly the scopes that it names', async () => {
    const answer = async ({ query, variables }: ExampleQuery, scopes: readonly string[]): Promise<Json> => {
      const caller = await callerOf(scene.gateway, scene.organisation, { scopes: scopes as Scope[] });
      return (await caller.graphql(query, JSON.parse(variables ?? '{}') as Record<string, unknown>)).body;
    };
    for (const example of EXAMPLE_QUERIES) {
      const { scopes } = example;
      expect(await answer(example, scopes)).toEqual({ data: expect.anything() });
      for (const scope of scopes) {
        const others = scopes.filter((one) => one !== scope);
        const { errors } = await answer(example, others);
        expect(errors[0].extensions).toMatchObject({ code: 'insufficient_scope', required_scope: scope });
      }
    }
  });

  test('shows the status and duration of the last answer, and copies the request as curl without the key', async () => {
    const page = await scene.visit({ path: '/graphiql', tolerates: BROKEN });
    await ready(page);
    await enterKey(page, scene.key);
    await write(query(page), "query Found($q: String) { products(q: $q) { data { name } } } # it's $HOME");
    await press(page, 'Variables');
    await write(page.locator('.graphiql-editor-tool .graphiql-editor:nth-child(1)'), '{ "q": "chai" }');
    await press(page, 'Headers');
    await write(headers(page), JSON.stringify({ Authorization: `Bearer ${scene.key}`, 'X-Request-Id': 'curl-1' }));
    // the docs were requested, but not by the visitor
    expect(await page.getByLabel('Last answer').textContent()).toBe('');
    await run(page);
    await says(page.getByLabel('Last answer'), /^HTTP 200 in \d+ ms$/);
    const command = await copy(page, 'Copy as curl');
    expect(command).not.toContain('svc_');
    const printed = await output(['bash', '-s'], `${command} -i`, { SCOPEGATE_KEY: scene.key });
    expect(printed).toMatch(/x-request-id: curl-1/i);
    expect(printed).toContain('{"data":{"products":{"data":[{"name":"Chai"}]}}}');
    await write(query(page), '{ nothing_like_this }');
    await run(page);
    await says(page.getByLabel('Last answer'), /^HTTP 400 in/);
    // another tab has not been answered yet, and what is not sent is not the answer before
    await press(page, 'Me');
    await eventually(async () => (await page.getByLabel('Last answer').textContent()) === '');
    await press(keyForm(page), 'Forget key');
    await run(page);
    await says(page.getByLabel('Last answer'), 'Not sent');
  });
});

inBrowser('GraphiQL where introspection needs a key', () => {
  const scene = pagesScene({ INTROSPECTION: 'key' });

  test('loads the docs once a key is accepted', async () => {
    const page = await scene.visit({ path: '/graphiql', tolerates: BROKEN });
    await ready(page);
    await run(page);
    await response(page).getByText('Enter your API key').waitFor();
    await writeKey(page, scene.key);
    await run(page);
    await says(response(page), 'total_minor');
    const docs = await openDocs(page, 'Query');
    await docs.getByText('Requires the scope quotes:read.').first().waitFor();
  });
});
