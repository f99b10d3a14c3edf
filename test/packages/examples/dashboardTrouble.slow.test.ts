import type { Locator, Page, Request } from 'playwright-core';
import { eventually } from '../../api/http/eventually';
import { openTunnel } from '../../api/http/tunnel';
import { expectAccessible, inBrowser, says } from '../../support/browser';
import { client } from '../../support/client';
import { makeKey } from '../../support/factories';
import { late } from '../../support/gateway';
import { captions, figure, isLive, makeOrder, storeOrders, useDashboard } from './dashboardScene';

/* What the example dashboard does on failures, and what it never does. */

/** What the browser logs about refused requests and broken connections. */
const REFUSED = /Failed to load resource|net::ERR|CORS policy/;

inBrowser('examples/dashboard, when something goes wrong', () => {
  const dashboard = useDashboard();
  const tunnel = late(() => openTunnel(dashboard.gateway.url));
  const through = () => new URL(tunnel.uri).origin;
  afterAll(() => tunnel.cut());

  const message = (page: Page): Locator => page.locator('#message');
  const reconnecting = (page: Page): Promise<void> => page.locator('#live[data-state=wait]').waitFor();

  test('a missing scope is named in place of its figures, and the others are shown', async () => {
    const { key } = await makeKey(dashboard.gateway, dashboard.organisation, { scopes: ['orders:read'] });
    const { page } = await dashboard.visit({ key });
    await isLive(page);
    await says(page, 'The key lacks the scope quotes:read');
    expect(await page.locator('[data-part=quotes] .body').innerText()).toBe('The key lacks the scope quotes:read.');
    await says(page, 'Names need the scope customers:read');
    expect(await captions(page, 'quotes')).toEqual([]);
    expect(await captions(page, 'statuses')).not.toEqual([]);
    expect(await page.locator('[data-part=customers] th[scope=row]').first().innerText()).toMatch(
      /^Customer [\da-f]{8}/,
    );
    await expectAccessible(page);
  });

  test('a key without any scope of the figures opens no stream, and is asked to be replaced', async () => {
    const { key } = await makeKey(dashboard.gateway, dashboard.organisation, { scopes: ['products:read'] });
    const { page, sent } = await dashboard.visit({ key });
    await says(page, 'The key lacks the scope orders:read');
    await says(page, 'Not live');
    expect(sent.streams()).toEqual([]);
    expect(await page.locator('.note.problem').count()).toBe(5);
    // nothing was updated, and another key is needed
    expect(await page.getByText('Updated').count()).toBe(0);
    expect(await page.getByLabel('Read-only key').isVisible()).toBe(true);
  });

  test('an invalid key is reported on connecting, and not kept', async () => {
    const { page } = await dashboard.visit({ key: 'svc_live_wrong', tolerates: REFUSED });
    await says(message(page), /The key is not valid/);
    await says(message(page), /^Request \S+/);
    await expectAccessible(page);
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
  });

  test('a key that is revoked while figures are shown removes them', async () => {
    const { key, id } = await makeKey(dashboard.gateway, dashboard.organisation, { scopes: ['orders:read'] });
    const { page } = await dashboard.visit({ key, tolerates: REFUSED });
    await isLive(page);
    await says(page, 'in 40 orders');
    await dashboard.gateway.control.apiKeys.revoke(id);
    await says(message(page), /The key is not valid/);
    expect(await page.locator('#panels').isHidden()).toBe(true);
    expect(await page.locator('body').innerText()).not.toContain('Northwind');
  });

  test('a gateway that is down is retried with increasing delays', async () => {
    await tunnel.cut();
    const { page, sent } = await dashboard.visit({ through: through(), isPaused: true, tolerates: REFUSED });
    await says(message(page), new RegExp(`does not answer.*add ${dashboard.site.origin} to its CORS_ORIGINS`, 's'));
    await expectWaits(page, '#message-text', [1, 2, 4, 8, 16, 30, 30], () => sent.all().length);
    // axe uses the page's clock
    await page.clock.resume();
    await expectAccessible(page);
    await tunnel.restore();
    await page.clock.runFor(40_000);
    await isLive(page);
    await page.locator('#panels').waitFor();
    expect(await message(page).isHidden()).toBe(true);
  });

  test('a gateway that does not allow the page is said to need its origin', async () => {
    const { page } = await dashboard.visit({ host: 'localhost', tolerates: REFUSED });
    const origin = dashboard.site.origin.replace('127.0.0.1', 'localhost');
    await says(message(page), `add ${origin} to its CORS_ORIGINS`);
  });

  test('a year that cannot be read says so in place of its figures, and another is read at once', async () => {
    const prepare = (page: Page): Promise<void> => answerStreams(page, ':\n\n');
    const { page, sent } = await dashboard.visit({ through: through(), isPaused: true, prepare, tolerates: REFUSED });
    await page.locator('#updated:not(:empty)').waitFor();
    await page.clock.runFor(1000);
    await tunnel.cut();
    await page.getByLabel('Period').selectOption('1996');
    const months = page.locator('[data-part=months]');
    await says(months, /The gateway does not answer. Trying again at [\d:]{8}/);
    expect(await page.locator('#updated').isVisible()).toBe(false);
    await expectWaits(page, '[data-part=months] .pending', [1, 2, 4], () => sent.reads().length);
    await says(months, 'Trying again at');
    await tunnel.restore();
    await page.clock.runFor(1000);
    const count = sent.reads().length;
    await page.getByLabel('Period').selectOption('');
    // without moving the clock
    await months.locator('figcaption').first().waitFor();
    expect(sent.reads().length).toBe(count + 1);
    expect(sent.all().findLast(isRead)?.postData()).not.toContain('1996-01-01');
    expect(await message(page).isHidden()).toBe(true);
  });

  test('an interrupted stream resumes where it was, and shows what was written in the meantime', async () => {
    const { page, sent } = await dashboard.visit({ through: through(), isPaused: true, tolerates: REFUSED });
    await isLive(page);
    await page.clock.runFor(1000);
    await storeOrders(dashboard, [makeOrder({ total_minor: 100, currency: 'SEK' })]);
    await figure(page, 'months', 'SEK').waitFor();
    await page.clock.runFor(1000);
    await tunnel.cut();
    await reconnecting(page);
    await storeOrders(dashboard, [makeOrder({ total_minor: 100, currency: 'DKK' })]);
    await tunnel.restore();
    await page.clock.runFor(2000);
    await isLive(page);
    await figure(page, 'months', 'DKK').waitFor();
    const [first, second] = sent.streams().map((request) => request.headers()['last-event-id']);
    expect(second).toEqual(expect.any(String));
    expect(second).not.toBe(first);
  });

  test('a stream that ends at once is reopened with increasing delays, and the figures stay', async () => {
    const prepare = (page: Page): Promise<void> => answerStreams(page, ':\n\n');
    const { page, sent } = await dashboard.visit({ prepare, isPaused: true });
    await reconnecting(page);
    await expectWaits(page, '#live', [1, 2, 4, 8], () => sent.streams().length);
    expect(await page.locator('#panels').isVisible()).toBe(true);
  });

  test('a silent stream is reopened, and if events were missed, everything is read again', async () => {
    const { page, sent } = await dashboard.visit({ isPaused: true });
    await isLive(page);
    const expired = { message: 'Too old.', extensions: { code: 'cursor_expired', status: 410 } };
    const frame = `event: next\ndata: ${JSON.stringify({ errors: [expired] })}\n\nevent: complete\ndata: \n\n`;
    await answerStreams(page, frame, 1);
    await page.clock.runFor(46_000);
    await reconnecting(page);
    await page.clock.runFor(2000);
    await eventually(() => sent.streams().length === 2);
    await eventually(async () => {
      // move the clock only while it waits: an open stream would count as silent, and be reopened on a slow machine
      if (await page.locator('#live[data-state=wait]').isVisible()) await page.clock.runFor(1000);
      return sent.streams().length >= 3 && sent.reads().length >= 2;
    });
    expect(sent.reads()[1]).toEqual(sent.reads()[0]);
    expect(sent.streams()[2]!.headers()['last-event-id']).toBeUndefined();
  });

  test('a thousand events cause one read at once and one a second later', async () => {
    const { page, sent } = await dashboard.visit({ isPaused: true });
    await isLive(page);
    await page.clock.runFor(1000);
    expect(sent.reads().length).toBe(1);
    for (let batch = 0; batch < 10; batch += 1) {
      const orders = Array.from({ length: 100 }, () => makeOrder({ total_minor: 100, currency: 'CHF' }));
      await storeOrders(dashboard, orders);
    }
    await eventually(() => sent.reads().length === 2);
    const francs = figure(page, 'months', 'CHF').locator('figcaption');
    await francs.waitFor();
    expect(sent.reads().length).toBe(2);
    const resumedAt = Date.now();
    await page.clock.resume();
    await francs.getByText('in 1,000 orders').waitFor();
    expect(sent.reads().length).toBeLessThanOrEqual(3 + (Date.now() - resumedAt) / 1000);
  });
});

inBrowser('examples/dashboard, with few rate limit points', () => {
  const dashboard = useDashboard({ RATE_LIMIT_PER_MINUTE: '12' }, 3);

  test('the page says when the rate limit resets, and sends nothing before, whatever is chosen in the meantime', async () => {
    const { page, sent } = await dashboard.visit({ isPaused: true, tolerates: REFUSED });
    await isLive(page);
    const spent = async (): Promise<boolean> =>
      (await client(dashboard.gateway, dashboard.made.key).get('/orders?limit=1')).status === 429;
    await eventually(spent);
    const year = page.getByLabel('Period');
    await year.selectOption('1996');
    await page.clock.runFor(1000);
    await says(page, 'Rate limit reached');
    const pending = page.locator('[data-part=months] .pending');
    await says(pending, /^Rate limit reached. Trying again at [\d:]{8}/);
    const promised = async (): Promise<number> =>
      Date.parse(`2026-11-23T${/[\d:]{8}/.exec(await pending.innerText())?.[0] ?? ''}Z`);
    const [count, before] = [sent.reads().length, await promised()];
    await year.selectOption('');
    await says(pending, 'Trying again at');
    // shown without its fraction of a second
    expect(Math.abs((await promised()) - before)).toBeLessThanOrEqual(1000);
    expect(sent.reads().length).toBe(count);
    await expectWaits(page, '#message-text', [1], () => sent.reads().length);
    expect(sent.all().findLast(isRead)?.postData()).not.toContain('1996-01-01');
    await page.clock.resume();
    await expectAccessible(page);
  });
});

const isRead = (request: Request): boolean => request.postData()?.includes('query Dashboard') === true;

/**
 * Moves the clock of a page from one promised attempt ("at 12:01:07") to the next: each wait is at least as long as it should be in
 * seconds, nothing is sent before, and something then.
 */
async function expectWaits(page: Page, promise: string, waits: readonly number[], sent: () => number): Promise<void> {
  const read = (): Promise<string | undefined> =>
    page
      .locator(promise)
      .evaluate((element: { textContent: string }) => / at ([\d:]{8})/.exec(element.textContent)?.[1]);
  let before: string | undefined;
  // the clock stands still, and no attempt is made before it was promised
  let since = await page.evaluate<number>('Date.now()');
  for (const seconds of waits) {
    const promised = await eventually(async () => {
      const found = await read();
      return found === before ? undefined : found;
    });
    before = promised;
    const now: number = await page.evaluate('Date.now()');
    const at = Date.parse(`${new Date(now).toISOString().slice(0, 10)}T${promised}Z`);
    // shown without its fraction of a second
    expect(at - since).toBeGreaterThan((seconds - 1) * 1000);
    since = at;
    const count = sent();
    await page.clock.runFor(Math.max(0, at - now - 1));
    expect(sent()).toBe(count);
    await page.clock.runFor(1100);
    await eventually(() => sent() === count + 1);
  }
}

/** Answers requests for streams as something between page and gateway might. */
async function answerStreams(page: Page, body: string, most = Infinity): Promise<void> {
  let answered = 0;
  await page.route('**/graphql', (route) => {
    const isStream = route.request().postData()?.includes('subscription') === true;
    if (!isStream || answered === most) return route.fallback();
    answered += 1;
    return route.fulfill({ status: 200, headers: STREAM, body });
  });
}

const STREAM = { 'content-type': 'text/event-stream', 'access-control-allow-origin': '*' };
