import type { Page, Route } from 'playwright-core';
import { ERROR_CODES } from '../../src/errors';
import { overflowOf } from '../support/axe';
import { THEMES, WIDTHS } from '../support/browser';
import { client } from '../support/client';
import { makeKey, makeOrganisation } from '../support/factories';
import { withGateway } from '../support/gateway';
import { eventually } from '../http/eventually';
import { failures, someRequests, someUsage, successes } from './logRows';
import { expectAccessible, inBrowser, intercept, pageScene, signedIn } from './visiting';

const VIEWS = THEMES.flatMap((theme) => WIDTHS.map((width) => ({ theme, width })));
const PATIENCE = 30_000;

inBrowser('requests on the settings page', () => {
  const scene = pageScene();
  const { visit } = scene;
  const section = (page: Page) => page.locator('#requests');
  const rows = (page: Page) => page.locator('#requests tbody tr:not(.request-details)');
  const idsOf = (page: Page): Promise<string[]> => page.locator('#requests tbody .cut').allTextContents();
  /** Waits until exactly these are listed. */
  const listed = (page: Page, ids: readonly string[]): Promise<unknown> =>
    eventually(async () => (await idsOf(page)).join() === ids.join(), PATIENCE);

  test('a request can be found by the request id in its error', async () => {
    const of = await makeOrganisation(scene.gateway);
    const { key } = await makeKey(scene.gateway, of, { name: 'web shop', scopes: ['quotes:read'] });
    const { body } = await client(scene.gateway, key).get('/orders');
    await client(scene.gateway, key).get('/quotes');
    await visit(of, async (page) => {
      await section(page).getByText('Requests are kept for 7 days').waitFor();
      await eventually(async () => {
        await section(page).getByRole('button', { name: 'Refresh' }).click();
        await section(page).locator('[data-refresh]:not([aria-disabled="true"])').waitFor();
        return (await rows(page).count()) === 2;
      }, PATIENCE);
      await section(page).getByLabel('Request id').fill(body.request_id);
      await listed(page, [body.request_id]);
      expect(new URL(page.url()).searchParams.get('request_id')).toBe(body.request_id);
      const text = await rows(page).innerText();
      expect(text).toMatch(/orders\s+web shop\s+REST\s+403\s+insufficient_scope\s+[\d.]+ ms\s+127\.0\.0\.1/);
      await section(page)
        .getByRole('button', { name: /^Details of orders at/ })
        .click();
      const details = page.locator('#requests .request-details:visible');
      expect(await details.innerText()).toContain('GET /api/v1/orders');
      await details.getByRole('button', { name: 'Copy' }).click();
      await details.getByText('Copied').waitFor();
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(body.request_id);
      expect(await details.getByRole('link', { name: 'insufficient_scope' }).getAttribute('href')).toBe(
        '/errors/insufficient_scope',
      );
      await section(page).getByRole('searchbox', { name: 'Request id' }).fill('no such id');
      await section(page).getByText('No request with this id. It may be too old').waitFor();
      await rows(page).waitFor({ state: 'detached' });
    });
  });

  test('every filter is kept in the URL, separately on the page of a key, and older requests can be shown', async () => {
    const of = await makeOrganisation(scene.gateway);
    const shop = await makeKey(scene.gateway, of, { name: 'shop' });
    const bot = await makeKey(scene.gateway, of, { name: 'bot' });
    const [missing, fine, several, left] = (
      await someRequests(scene.gateway, of, shop.id, [
        { status: 404, code: 'not_found', operation: 'quote', similar: 37 },
        {},
        {
          face: 'graphql',
          method: 'POST',
          path: '/graphql',
          operation: 'quotes me',
          code: 'invalid_request',
          ms: 1234,
        },
        { status: 499 },
      ])
    ).map((row) => row.request_id) as [string, string, string, string];
    const [unknown] = (
      await someRequests(scene.gateway, of, bot.id, [
        {
          face: 'mcp',
          path: '/mcp',
          operation: null,
          status: 429,
          code: 'rate_limited',
          at: new Date(Date.now() - 3_600_000),
        },
      ])
    ).map((row) => row.request_id) as [string];
    await visit(of, async (page) => {
      const all = [missing, fine, several, left, unknown];
      await listed(page, all);
      await rows(page).nth(0).getByText('and 37 more like it').waitFor();
      await rows(page).nth(3).getByText('the caller disconnected').waitFor();
      expect(await rows(page).nth(2).innerText()).toMatch(
        /quotes me\s+shop\s+GraphQL\s+200\s+invalid_request\s+1\.2 s/,
      );
      expect(await rows(page).nth(4).innerText()).toMatch(/\/mcp\s+bot\s+MCP\s+429/);
      const steps: number = await page.evaluate('history.length');
      const filters = section(page).getByRole('group', { name: 'Filter requests' });
      for (const [label, name, value, expected] of [
        ['Result', 'requests', 'failed', [missing, several, unknown]],
        ['Result', 'requests', 'successful', [fine, left]],
        ['Status', 'status', '4xx', [missing, left, unknown]],
        ['API', 'api', 'mcp', [unknown]],
        ['Operation', 'operation', 'quotes me', [several]],
        ['Request id', 'request_id', fine, [fine]],
      ] as const) {
        const field = filters.getByLabel(label);
        const set = (text: string): Promise<unknown> =>
          label === 'Operation' || label === 'Request id' ? field.fill(text) : field.selectOption(text);
        await set(value);
        await listed(page, expected);
        expect(new URL(page.url()).search).toBe(`?${new URLSearchParams({ [name]: value }).toString()}`);
        if (name === 'operation') {
          await page.reload();
          await listed(page, expected);
          expect(await filters.getByLabel(label).inputValue()).toBe(value);
        }
        await set('');
        await listed(page, all);
      }
      expect(await page.evaluate('history.length')).toBe(steps);
      expect(await page.locator('#operations option').count()).toBeGreaterThan(10);

      await filters.getByLabel('Result').selectOption('failed');
      await listed(page, [missing, several, unknown]);
      await rows(page).nth(0).getByRole('link', { name: 'shop' }).click();
      const own = page.locator('#key-requests');
      await own.locator('tbody tr').nth(7).waitFor({ state: 'attached' });
      expect(new URL(page.url()).search).toBe(`?key=${shop.id}`);
      expect(await own.locator('tbody .cut').allTextContents()).toEqual([missing, fine, several, left]);
      await own.getByLabel('Status').selectOption('499');
      await eventually(async () => (await own.locator('tbody .cut').allTextContents()).join() === left, PATIENCE);
      expect(new URL(page.url()).search).toBe(`?key=${shop.id}&status=499`);
      await page.getByRole('link', { name: 'Integrations' }).click();
      await listed(page, [missing, several, unknown]);
      expect(new URL(page.url()).search).toBe('?requests=failed');
      await page.goBack();
      await eventually(async () => (await own.locator('tbody .cut').allTextContents()).join() === left, PATIENCE);

      await someRequests(
        scene.gateway,
        of,
        shop.id,
        Array.from({ length: 25 }, (_, at) => ({ request_id: `more-${String(at)}`, status: 499 })),
      );
      await own.getByRole('button', { name: 'Refresh' }).click();
      await own.locator('tbody .cut').nth(19).waitFor();
      await own.getByRole('button', { name: 'Show older requests' }).click();
      await own.locator('tbody .cut').nth(25).waitFor();
      expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toMatch(/^Details of quotes at/);
      expect(await own.getByRole('button', { name: 'Show older requests' }).isVisible()).toBe(false);
      await page.getByRole('link', { name: 'Integrations' }).click();
      await section(page).locator('tbody .cut').nth(19).waitFor();
      const last = await rows(page).nth(19).locator('.cut').innerText();
      await section(page).getByRole('button', { name: 'Show older requests' }).press('Enter');
      await section(page).locator('tbody .cut').nth(29).waitFor();
      // the first control of the first added row is the link to its key
      const before = `document.activeElement.closest('tr').previousElementSibling.previousElementSibling.querySelector('.cut').textContent`;
      expect(await page.evaluate(`[document.activeElement.textContent, ${before}]`)).toEqual(['shop', last]);
    });
  });

  test('late answers are dropped, failures are shown in place, and open details stay open', async () => {
    const of = await makeOrganisation(scene.gateway);
    const { id } = await makeKey(scene.gateway, of, { name: 'shop' });
    const [missing = '', fine = ''] = (
      await someRequests(scene.gateway, of, id, [{ status: 404, code: 'not_found', operation: 'quote' }, {}])
    ).map((row) => row.request_id);
    await visit({ of, tolerates: /Failed to load resource/ }, async (page) => {
      await listed(page, [missing, fine]);
      const held: Route[] = [];
      await intercept(page, /"failed":true/, (route) => {
        held.push(route);
        return Promise.resolve();
      });
      const result = section(page).getByLabel('Result');
      await result.selectOption('failed');
      await eventually(() => held.length === 1, PATIENCE);
      await result.selectOption('successful');
      await listed(page, [fine]);
      await held[0]!.continue();
      await page.evaluate('fetch("/livez").then(() => new Promise((go) => setTimeout(go, 50)))');
      expect(await idsOf(page)).toEqual([fine]);

      await section(page)
        .getByRole('button', { name: /^Details/ })
        .click();
      await intercept(page, /request_log/, (route) => route.abort('connectionreset'));
      await section(page).getByRole('button', { name: 'Refresh' }).click();
      const failure = section(page).getByRole('alert');
      await failure.getByText('Could not reach the gateway').waitFor();
      expect(await page.evaluate('document.activeElement.textContent')).toBe('Refresh');
      // what was shown stays, since it belongs to the same choice
      expect(await idsOf(page)).toEqual([fine]);
      await result.selectOption('');
      await failure.getByText('Could not reach the gateway').waitFor();
      expect(await idsOf(page)).toEqual([]);
      await page.unroute('**/settings/graphql');
      await failure.getByRole('button', { name: 'Try again' }).click();
      await listed(page, [missing, fine]);
      await failure.waitFor({ state: 'hidden' });
      const details = section(page).locator('.request-details:visible');
      expect(await details.innerText()).toContain(fine);
      await page.reload();
      expect(await details.innerText()).toContain(fine);
      await section(page).locator('[aria-expanded="true"]').click();
      expect(new URL(page.url()).search).toBe('');
    });
  });

  test('an organisation without requests is told so, and so is one whose gateway stores none', async () => {
    await withGateway({ REQUEST_LOG: 'off' }, async (bare) => {
      const of = await makeOrganisation(bare);
      await signedIn({ browser: scene.browser, gateway: bare }, { of, role: 'member' }, async (page) => {
        await section(page).getByText('This gateway stores no requests').waitFor();
        await section(page).getByText('No stored requests.').waitFor();
        expect(await section(page).innerText()).not.toMatch(/Every one|No requests in the last|appears within/);
        await section(page).getByLabel('Status').selectOption('5xx');
        await section(page).getByText('No matching requests.').waitFor();
      });
    });
  });

  test('every error code fits into the narrowest windows', async () => {
    const of = await makeOrganisation(scene.gateway);
    const { id } = await makeKey(scene.gateway, of, { name: 'shop' });
    const codes = Object.entries(ERROR_CODES).map(([code, { status }]) => ({ code, status }));
    await someRequests(scene.gateway, of, id, codes);
    await visit({ of, width: 390, theme: 'dark' }, async (page) => {
      for (const place of ['#requests', '#key-requests']) {
        await page.locator(place).getByText('invalid_request').first().waitFor();
        if (codes.length > 20) await page.locator(place).getByRole('button', { name: 'Show older requests' }).click();
        await page
          .locator(`${place} tbody tr:not(.request-details)`)
          .nth(codes.length - 1)
          .waitFor();
        for (const width of [390, 375, 360]) {
          await page.setViewportSize({ width, height: 800 });
          expect([width, await overflowOf(page)]).toEqual([width, 0]);
        }
        if (place === '#requests') await page.goto(`${scene.gateway.url}/settings/integrations?key=${id}`);
      }
    });
  });

  test.each(VIEWS)(
    'the list and the page of a key are accessible and fit, with details open and long values ($theme, $width px)',
    async (view) => {
      const name = 'x'.repeat(190);
      const of = await makeOrganisation(scene.gateway, { name });
      const { id } = await makeKey(scene.gateway, of, { name, expiresAt: new Date(Date.now() + 86_400_000) });
      await someUsage(scene.gateway, id, [...successes(3, 8), ...failures(2)]);
      await someRequests(scene.gateway, of, id, [
        { status: 404, code: 'not_found', similar: 12_345, operation: null, path: `/api/v1/${'y'.repeat(191)}` },
        { request_id: 'z'.repeat(128), address: '2001:db8:1234:5678:9abc:def0:1234:5678', operation: 'a'.repeat(200) },
        { face: 'graphql', operation: 'quotes orders customers products me events', ms: 12_345 },
        { status: 401, code: 'unauthenticated', reason: 'address' },
      ]);
      await scene.gateway.control.apiKeys.rotate(id, { overlap: 3_600_000 });
      await visit({ of, ...view }, async (page) => {
        const openDetails = async (): Promise<void> => {
          await page.locator('.requests:visible tbody th').nth(2).waitFor();
          for (const button of await page.getByRole('button', { name: /^Details/ }).all()) await button.click();
        };
        await openDetails();
        await page.getByText('the key does not allow this address').waitFor();
        await expectAccessible(page);
        await page.goto(`${scene.gateway.url}/settings/integrations?key=${id}`);
        await page.waitForSelector('#usage .chart rect');
        await page.locator('#key-events tr').first().waitFor();
        await openDetails();
        await page.getByText('As a table').click();
        await expectAccessible(page);
        await page.getByRole('button', { name: 'Edit', exact: true }).click();
        await expectAccessible(page);
      });
    },
  );
});
