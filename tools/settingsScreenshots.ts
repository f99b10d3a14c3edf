import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Organisation } from '../src/auth/principal';
import { organisationUsageId } from '../src/organisations/usageUnits';
import { webhookDeliveries } from '../src/webhooks/deliveries';
import { openBrowser, THEMES, visitor, WIDTHS } from '../test/support/browser';
import { makeKey, makeNorthwind } from '../test/support/factories';
import { startGateway, type TestGateway } from '../test/support/gateway';
import { makeLink } from '../test/admin/settings/people';
import { failures, someDeliveries, someRequests, someUsage, successes } from '../test/admin/settings/rows';
import { ENVIRONMENT, officeOf } from '../test/api/webhooks/office';
import { ROOT } from './facts';

/* Part of npm run screenshots: writes docs/images of sign-in and the settings, {1280,390}-{light,dark}.png, with its own database. */

const IMAGES = join(ROOT, 'docs', 'images');
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

async function main(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'scopegate-settings-'));
  const { MONGOD_BINARY = '' } = process.env;
  const gateway = await startGateway({ ...ENVIRONMENT, DATA_DIR: folder, MONGOD_BINARY, LOG_LEVEL: 'silent' });
  const organisation = await makeNorthwind(gateway);
  const ends = (days: number): Date => new Date(Date.now() + days * DAY);
  await makeKey(gateway, organisation, { name: 'Warehouse', scopes: ['orders:read'], expiresAt: ends(300) });
  await makeKey(gateway, organisation, {
    name: 'Dashboard',
    expiresAt: ends(80),
    scopes: ['quotes:read', 'orders:read', 'customers:read'],
  });
  const shop = await makeKey(gateway, organisation, {
    name: 'Web shop',
    expiresAt: ends(20),
    scopes: ['products:read', 'quotes:read', 'requests:write'],
  });
  await gateway.control.usage.add([...aBusyDay(shop.id), ...aBusyDay(organisationUsageId(organisation.id))]);
  await someUsage(gateway, shop.id, [...successes(70, 9), ...failures(4)]);
  await someRequests(gateway, organisation, shop.id, [
    { status: 404, code: 'not_found', operation: 'quote', path: '/api/v1/quotes/689defbf-4477-4b15-966e-4830b650ded3' },
    ...Array.from({ length: 4 }, (_, at) => ({ operation: at % 2 === 0 ? 'products' : 'quotes', ms: 6 + at })),
    { face: 'mcp' as const, method: 'POST', path: '/mcp', status: 403, code: 'insufficient_scope' },
  ]);
  await makeWebhooks(gateway, organisation);
  const browser = await openBrowser();
  for (const theme of THEMES) {
    for (const width of WIDTHS) {
      const { page, close } = await visitor(browser, [gateway.url], { theme, width });
      const link = await makeLink(gateway, organisation, 'admin', 'Ann Lee');
      await page.goto(`${gateway.url}/settings/sign-in?link=${link}`);
      const path = (name: string): string => join(IMAGES, `${name}-${String(width)}-${theme}.png`);
      await page.getByRole('button', { name: 'Continue' }).waitFor();
      await page.screenshot({ path: path('sign-in') });
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.waitForSelector('.chart rect');
      await page.waitForSelector('#failing:not([hidden])', { state: 'attached' });
      await page.screenshot({ path: path('overview') });
      for (const name of ['insights', 'requests', 'members', 'audit']) {
        await page.goto(`${gateway.url}/settings/${name}`);
        await page.waitForLoadState('networkidle');
        await page.screenshot({ path: path(name) });
      }
      await page.goto(`${gateway.url}/settings/keys`);
      const shop = page.locator('[data-page=keys] tbody').getByRole('link', { name: 'Web shop' });
      await shop.waitFor();
      await page.screenshot({ path: path('settings') });
      await shop.click();
      await page.waitForSelector('[data-page=key] .chart rect');
      await page.locator('[data-page=key] tbody tr:visible').first().waitFor();
      await page.setViewportSize({ width, height: width === 390 ? 2300 : 1500 });
      await page.screenshot({ path: path('key') });
      await page.goto(`${gateway.url}/settings/webhooks`);
      await page.getByRole('link', { name: FAILING }).click();
      await page.getByRole('region', { name: 'Deliveries' }).getByRole('rowheader').first().getByRole('link').click();
      await page.getByRole('dialog').waitFor();
      await page.evaluate('scrollTo(0, 0)');
      await page.setViewportSize({ width, height: 844 });
      await page.screenshot({ path: path('webhook') });
      await close();
    }
  }
  await browser.close();
  await gateway.stop();
  await rm(folder, { recursive: true });
}

const FAILING = 'https://shop.northwind.example/hooks/orders';

/** Three endpoints: one that works, one that fails, and one that was disabled. */
async function makeWebhooks(gateway: TestGateway, organisation: Organisation): Promise<void> {
  const { admin } = await officeOf(gateway, organisation);
  const rows = gateway.databases.control.collection('webhook_endpoints');
  const add = async (url: string, types: readonly string[], state: object): Promise<string> => {
    const { endpoint } = (await admin('create_webhook', { url, types })) as { endpoint: { id: string } };
    await rows.updateOne({ _id: endpoint.id as never }, { $set: state });
    return endpoint.id;
  };
  const ago = (hours: number): Date => new Date(Date.now() - hours * HOUR);
  await add('https://erp.northwind.example/scopegate', [], { last_success_at: ago(0.05) });
  const failing = await add(FAILING, ['order.created', 'order.status_changed'], {
    state: 'failing',
    failing_since: ago(3),
    last_success_at: ago(3.2),
    parked: 11,
    until: new Date(Date.now() + HOUR / 3),
  });
  await add('https://crm.northwind.example/hooks', ['customer.created', 'customer.updated'], {
    state: 'disabled',
    disabled: { reason: 'gone', at: ago(50) },
    failing_since: ago(50),
    last_success_at: ago(52),
  });
  await someDeliveries(gateway, organisation, failing, 9);
  // the newest deliveries failed
  const sent = gateway.databases.organisationData(organisation).collection(webhookDeliveries);
  const newest = await sent.find({ endpoint_id: failing }).sort({ _id: -1 }).limit(4).toArray();
  const attempt = { ok: false, status: 503, error: 'HTTP 503', ms: 12 };
  const log = [
    { ...attempt, at: ago(3), answer: null },
    { ...attempt, at: ago(2.9), answer: '{"error":"no space left on device"}' },
  ];
  await sent.updateMany({ endpoint_id: failing }, { $set: { type: 'order.status_changed' } });
  await sent.updateMany(
    { _id: { $in: newest.map(({ _id }) => _id) } },
    { $set: { state: 'waiting', attempts: 2, next_at: new Date(Date.now() + HOUR / 3), log } },
  );
}

/** Requests in the last 24 hours, most at noon, with one hour of errors and one over the rate limit. */
function aBusyDay(keyId: string) {
  return Array.from({ length: 24 }, (_, ago) => {
    const at = new Date(Date.now() - ago * HOUR);
    const requests = Math.round(180 + 160 * Math.sin(((at.getUTCHours() - 6) / 24) * 2 * Math.PI));
    return { keyId, at, requests, errors: ago === 5 ? 60 : 3, rate_limited: ago === 11 ? 45 : 0 };
  });
}

main().catch((error: unknown) => {
  process.stderr.write(`${String(error)}\n`);
  // the browser would keep this process running
  process.exit(1);
});
