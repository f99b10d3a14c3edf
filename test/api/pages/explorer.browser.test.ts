import type { Locator } from 'playwright-core';
import { eventually } from '../http/eventually';
import { button, expectAccessible, hold, inBrowser, press, says, turn, VIEWS } from '../../support/browser';
import { close, headers, openDocs, query, ready, response, run, write, writeKey, written } from './graphiqlPage';
import { eventRow, eventScene } from '../../support/fixtures/events';
import { BROKEN, enterKey, pagesScene } from '../../support/fixtures/pages';
import { driver, metric } from '../../support/gateway';

const OWN = 'query Own { me { key { name } } }';

inBrowser('GraphiQL', () => {
  const scene = pagesScene();
  const bare = driver();

  test("opens examples beside the visitor's own tabs; a reload keeps tabs and history, but no keys", async () => {
    const page = await scene.visit('/graphiql');
    /** What was sent with a key, and by whom. */
    const sent = new Set<string>();
    let schemas = 0;
    page.on('request', (request) => {
      const { authorization, 'scopegate-purpose': purpose = 'visitor' } = request.headers();
      const isSchema = (request.postData() ?? '').includes('ExplorerIntrospection');
      schemas += isSchema ? 1 : 0;
      if (authorization !== undefined) sent.add(`${isSchema ? 'schema' : new URL(request.url()).pathname} ${purpose}`);
    });
    await ready(page);
    // an example is closed, and a new tab is opened
    await close(page, 'SalesByMonth');
    await page.getByLabel('Add tab').click();
    await write(query(page), OWN);
    await button(page, 'Own').waitFor();
    await page.getByLabel('Show Examples').click();
    await page.locator('.examples').getByRole('button', { name: 'SalesByMonth' }).click();
    await page.locator('.graphiql-tabs').getByRole('button', { name: 'SalesByMonth' }).waitFor();
    expect(await written(query(page))).toContain('query SalesByMonth');
    await press(page, 'Own');
    expect(await written(query(page))).toBe(OWN);
    // an open example is not opened twice
    await page.locator('.examples').getByRole('button', { name: 'QuotesWithLines' }).click();
    await page.locator('.graphiql-tab-active', { hasText: 'QuotesWithLines' }).waitFor();
    expect(await page.locator('.graphiql-tab').count()).toBe(6);
    const keeps = (expression: string) => eventually(() => page.evaluate<boolean>(expression));
    // kept after a reload, since nothing deletes them
    await keeps(`(localStorage['graphiql:tabState'] ?? '').includes('query Own')`);
    await press(page, 'Own');
    await writeKey(page, scene.key);
    await run(page);
    await says(response(page), '"name"');
    await write(query(page), `${OWN}\n${scene.key}`);
    await keeps(`JSON.stringify(JSON.parse(localStorage['graphiql:tabState'])).includes('svc_live_…')`);
    await keeps(`(localStorage['graphiql:queries'] ?? '').includes('Own')`);
    expect(await page.evaluate('JSON.stringify({ ...localStorage })')).not.toContain(scene.key);
    schemas = 0;
    await page.reload();
    await ready(page);
    await page.locator('.graphiql-tab-active', { hasText: 'Own' }).waitFor();
    expect(await page.locator('.graphiql-tab').count()).toBe(6);
    await eventually(async () => (await written(query(page))).includes('query Own'));
    // what comes from the history is sent with the key above
    await page.getByLabel('Show History').click();
    await write(query(page), '{ nothing }');
    await page.locator('.graphiql-history-item-label', { hasText: 'Own' }).first().click();
    expect(await written(query(page))).toBe(OWN);
    await run(page);
    await says(response(page), '"name"');
    expect(schemas).toBe(1);
    expect([...sent].sort()).toEqual(['/api/v1/me page', '/graphql visitor', 'schema page']);
    await page.getByLabel('Open settings dialog').click();
    await press(page, 'Clear data');
    await button(page, 'Cleared data').waitFor();
    // when what GraphiQL had not stored yet would be
    await page.waitForTimeout(700);
    expect(await page.evaluate('JSON.stringify({ ...localStorage })')).not.toContain('Own');
  });

  test('has room for query and answer at both widths, and shows whether Variables or Headers is open', async () => {
    const page = await scene.visit('/graphiql');
    await ready(page);
    const look = (name: string): Promise<string[]> =>
      button(page, name).evaluate((element: unknown) => {
        const { color, boxShadow, fontWeight, backgroundColor } = globalThis.getComputedStyle(element as never);
        return [color, boxShadow, fontWeight, backgroundColor];
      });
    const isCurrent = (name: string): Promise<string | null> => button(page, name).getAttribute('aria-current');
    const box = async (locator: Locator): Promise<{ width: number; height: number }> =>
      (await locator.boundingBox()) ?? { width: 0, height: 0 };
    for (const view of VIEWS) {
      const { width } = view;
      await turn(page, view);
      for (const [open, other] of [
        ['Variables', 'Headers'],
        ['Headers', 'Variables'],
      ] as const) {
        await press(page, open);
        await page.locator('.graphiql-editor-tools button[aria-current]', { hasText: open }).waitFor();
        expect([await isCurrent(open), await isCurrent(other)]).toEqual(['true', null]);
        expect(await look(open)).not.toEqual(await look(other));
        expect((await look(open))[1]).not.toBe('none');
      }
      const expectRoom = async (): Promise<void> => {
        for (const editor of [query(page).locator('.CodeMirror'), response(page)]) {
          const { width: wide, height: high } = await box(editor);
          expect(wide).toBeGreaterThan(width === 390 ? 250 : 290);
          expect(high).toBeGreaterThan(240);
        }
        expect((await box(headers(page))).height).toBeGreaterThan(70);
        // long lines are wrapped where they would be cut
        const lines = query(page).locator('.CodeMirror-scroll');
        if (width === 390)
          expect(await lines.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBeLessThan(50);
      };
      // texts of errors are long on any screen
      await response(page).locator('.CodeMirror-wrap').waitFor();
      await expectRoom();
      const docs = await openDocs(page);
      await expectRoom();
      expect((await box(docs)).width).toBeGreaterThan(240);
      await page.getByLabel('Show Examples').click();
      await page.locator('.examples').waitFor();
      await expectRoom();
      await page.getByLabel('Hide Examples').click();
      await page.locator('.examples').waitFor({ state: 'detached' });
    }
  });

  test('names the scope each operation needs in the docs, and omits what only signed-in users can use', async () => {
    const page = await scene.visit('/graphiql');
    await ready(page);
    const docs = await openDocs(page);
    await docs.getByRole('link', { name: 'Mutation', exact: true }).first().waitFor();
    const text = await docs.innerText();
    expect(text).toContain('QuotePage');
    expect(text).not.toMatch(/ApiKeyPage|WebhookEndpoint|AuditEvent/);
    // nor what only directives use
    expect(text).not.toMatch(/HttpMethod|FilterBy|GraphqlOnly|\bRole\b|\bScope\b/);
    await docs.getByRole('link', { name: 'Mutation', exact: true }).first().click();
    await docs.getByText('upsert_products').waitFor();
    expect(await docs.innerText()).not.toMatch(/api_key|create_key|webhook|signed-in/);
    await docs.getByRole('link', { name: /^Go back to/ }).click();
    await docs.getByRole('link', { name: 'Query', exact: true }).first().click();
    await docs.getByText('Requires the scope quotes:read.').first().waitFor();
    expect(await docs.getByText('Any valid key can call it.').count()).toBe(1);
    await docs.getByRole('link', { name: 'customer', exact: true }).click();
    await docs.getByText('Requires the scope customers:read.').waitFor();
  });

  test("reports an unreachable gateway and a proxy's HTML page in plain words, without a stack", async () => {
    const page = await scene.visit({ path: '/graphiql', tolerates: BROKEN });
    await ready(page);
    await enterKey(page, scene.key);
    await page.context().setOffline(true);
    await run(page);
    await response(page).getByText('The gateway cannot be reached.').waitFor();
    await page.getByLabel('Last answer').getByText('No answer', { exact: true }).waitFor();
    expect(await written(response(page))).not.toMatch(/stack|TypeError|\.js/);
    await page.context().setOffline(false);
    await run(page);
    await says(response(page), 'total_minor');
    await page.route('**/graphql', (route) =>
      route.fulfill({ status: 502, contentType: 'text/html', body: '<h1>Bad gateway' }),
    );
    await run(page);
    await response(page).getByText('The answer is not JSON: HTTP 502.').waitFor();
    expect(await written(response(page))).not.toMatch(/stack|SyntaxError/);
    await page.unroute('**/graphql');
    // one that is stopped is not answered any more, in whichever tab
    const next = await hold(page, '**/graphql');
    await run(page);
    const [cancelled] = [page.waitForEvent('requestfailed'), await next()];
    await says(page.getByLabel('Last answer'), 'Running…');
    await press(page, 'Me');
    await cancelled;
    expect(await page.getByLabel('Last answer').textContent()).toBe('');
    await press(page, 'QuotesWithLines');
    await says(page.getByLabel('Last answer'), 'Stopped');
  });

  test('shows the events of a subscription as they happen, until it is stopped', async () => {
    const { key, rows } = await eventScene(scene.gateway, bare);
    const page = await scene.visit('/graphiql');
    const open = (count: number) =>
      eventually(async () => (await metric(scene.gateway, 'scopegate_event_streams')) === count);
    await ready(page);
    await write(query(page), 'subscription { events { type status object { id } } }');
    await writeKey(page, key);
    await run(page);
    await open(1);
    await says(page.getByLabel('Last answer'), 'Listening…');
    for (const n of [1, 2]) {
      const row = eventRow(n, 'quote.created');
      await rows.insertOne(row);
      await says(response(page), row.object!.id);
    }
    await says(page.getByLabel('Last answer'), /^HTTP 200 in/);
    await run(page);
    await open(0);
  });

  test('is accessible with each panel, dialog and menu open, without internet', async () => {
    const page = await scene.visit('/graphiql');
    await ready(page);
    const check = async (): Promise<void> => {
      for (const view of VIEWS) {
        await turn(page, view);
        await expectAccessible(page);
      }
    };
    await enterKey(page, scene.key);
    await run(page);
    await says(response(page), 'total_minor');
    await check();
    await page.setViewportSize({ width: 390, height: 800 });
    await page.evaluate('scrollTo(0, 0)');
    await run(page);
    await eventually(async () => {
      const { y, height } = (await response(page).boundingBox())!;
      return y < 600 && y + height > 200;
    });
    await page.getByLabel('Show Examples').click();
    await page.locator('.examples').waitFor();
    await check();
    const docs = await openDocs(page);
    await docs.getByRole('link', { name: 'Query', exact: true }).first().click();
    await docs.getByText('Requires the scope').first().waitFor();
    await check();
    await docs.getByRole('link', { name: 'quotes', exact: true }).click();
    await docs.getByText('Arguments').waitFor();
    await check();
    await page.getByLabel('Show History').click();
    await page.locator('.graphiql-history').waitFor();
    await check();
    for (const dialog of ['Open short keys dialog', 'Open settings dialog']) {
      await page.getByLabel(dialog).click();
      await page.getByRole('dialog').waitFor();
      await check();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
  });
});
