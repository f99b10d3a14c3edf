import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openBrowser, THEMES, visitor, WIDTHS } from '../test/support/browser';
import { makeKey, makeOrganisation } from '../test/support/factories';
import { startGateway } from '../test/support/gateway';
import { makeLink } from '../test/settings/people';
import { ROOT } from './facts';

/* Part of npm run screenshots: writes docs/images/{sign-in,settings}-{1280,390}-{light,dark}.png, with its own database. */

const IMAGES = join(ROOT, 'docs', 'images');
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

async function main(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'scopegate-settings-'));
  const { MONGOD_BINARY = '' } = process.env;
  const gateway = await startGateway({ DATA_DIR: folder, MONGOD_BINARY, LOG_LEVEL: 'silent' });
  const organisation = await makeOrganisation(gateway, { name: 'Northwind Traders' });
  const ends = (days: number): Date => new Date(Date.now() + days * DAY);
  await makeKey(gateway, organisation, { name: 'Warehouse', scopes: ['orders:read'], expiresAt: ends(300) });
  await makeKey(gateway, organisation, {
    ...{ name: 'Dashboard', expiresAt: ends(80) },
    scopes: ['quotes:read', 'orders:read', 'customers:read'],
  });
  const shop = await makeKey(gateway, organisation, {
    ...{ name: 'Web shop', expiresAt: ends(20) },
    scopes: ['products:read', 'quotes:read', 'requests:write'],
  });
  await gateway.control.usage.add(aBusyDay(shop.id));
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
      await page.getByRole('button', { name: 'Usage Web shop' }).click();
      await page.waitForSelector('.chart rect');
      await page.evaluate('scrollTo(0, 0)');
      // the keys and the chart; the audit log continues below
      await page.setViewportSize({ width, height: width === 390 ? 1700 : 1000 });
      await page.screenshot({ path: path('settings') });
      await close();
    }
  }
  await browser.close();
  await gateway.stop();
  await rm(folder, { recursive: true });
}

/** Requests in the last 24 hours, most at noon, with one hour of errors and one over the rate limit. */
function aBusyDay(keyId: string) {
  return Array.from({ length: 24 }, (_, ago) => {
    const hour = new Date(Date.now() - ago * HOUR);
    const requests = Math.round(180 + 160 * Math.sin(((hour.getUTCHours() - 6) / 24) * 2 * Math.PI));
    return { keyId, hour, requests, errors: ago === 5 ? 60 : 3, rate_limited: ago === 11 ? 45 : 0 };
  });
}

main().catch((error: unknown) => {
  process.stderr.write(`${String(error)}\n`);
  process.exitCode = 1;
});
