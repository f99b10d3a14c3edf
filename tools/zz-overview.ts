import { mkdtemp } from 'node:fs/promises';
import { organisationUsageId } from '../src/organisations/usageUnits';
import { openBrowser, visitor } from '../test/support/browser';
import { makeKey, makeOrganisation } from '../test/support/factories';
import { startGateway } from '../test/support/gateway';
import { makeLink } from '../test/admin/settings/people';
import { failures, someDeliveries, someUsage, successes } from '../test/admin/settings/rows';
import { ENVIRONMENT, officeOf } from '../test/api/webhooks/office';
void (async () => {
  const folder = await mkdtemp('/dev/shm/zz-');
  const gateway = await startGateway({ ...ENVIRONMENT, DATA_DIR: folder, MONGOD_BINARY: '/work/shared/bin/secantusd-rs', LOG_LEVEL: 'silent' });
  const of = await makeOrganisation(gateway, { name: 'Northwind Traders' });
  const DAY = 86_400_000;
  const keys = [];
  for (const [name, days] of [['Warehouse', 3], ['Dashboard', 80], ['Web shop', 20]] as const)
    keys.push(await makeKey(gateway, of, { name, expiresAt: new Date(Date.now() + days * DAY) }));
  const rows = gateway.databases.control.collection('api_keys');
  const old = await makeKey(gateway, of, { name: 'Old import' });
  await rows.updateOne({ _id: old.id as never }, { $set: { created_at: new Date(Date.now() - 200 * DAY), last_used_at: new Date(Date.now() - 120 * DAY) } });
  for (const { id } of keys) await rows.updateOne({ _id: id as never }, { $set: { last_used_at: new Date() } });
  for (let h = 0; h < 24 * 9; h += 1) {
    const n = Math.round(60 + 50 * Math.sin((h / 24) * 2 * Math.PI));
    const list = [...successes(n, 9), ...successes(Math.round(n / 4), 40 + (h % 7) * 60), ...failures(h === 5 ? 30 : 2)];
    await someUsage(gateway, organisationUsageId(of.id), list, h);
    if (h < 24) for (const [at, { id }] of keys.entries()) await someUsage(gateway, id, list.slice(0, n - at * 20 > 0 ? n - at * 20 : 1), h);
  }
  const { organisation: _, ...office } = await officeOf(gateway);
  void office;
  const browser = await openBrowser();
  for (const [width, theme] of [[1440, 'light'], [390, 'dark']] as const) {
    const { page, faults } = await visitor(browser, [gateway.url], { theme, width: width as never, timezoneId: 'America/New_York' });
    const link = await makeLink(gateway, of, 'admin', 'Ann Lee');
    await page.goto(`${gateway.url}/settings/sign-in?link=${link}`);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.waitForSelector('.chart rect');
    await page.screenshot({ path: `/tmp/h/ov/overview-${String(width)}-${theme}.png`, fullPage: true });
    await page.locator('.marks a').nth(18).hover();
    await page.screenshot({ path: `/tmp/h/ov/tip-${String(width)}-${theme}.png` });
    await page.getByRole('radio', { name: '7 days' }).check();
    await page.waitForTimeout(500);
    await page.screenshot({ path: `/tmp/h/ov/week-${String(width)}-${theme}.png` });
    console.log(faults);
  }
  await browser.close();
  await gateway.stop();
})();
