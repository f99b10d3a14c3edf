import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import express from 'express';
import type { Browser } from 'playwright-core';
import { CHROMIUM, INSTALL_CHROMIUM, openBrowser, THEMES, visitor, WIDTHS } from '../support/browser';
import type { Json } from '../support/client';
import { makeKey, makeNorthwind } from '../support/factories';
import { startGateway, type TestGateway } from '../support/gateway';
import { describeWith } from '../support/programs';
import { ROOT } from './run';

const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const READ_ONLY = ['orders:read', 'quotes:read'] as const;

describeWith(CHROMIUM, INSTALL_CHROMIUM)('examples/dashboard, served from another origin', () => {
  let site: Server;
  let origin: string;
  let gateway: TestGateway;
  let browser: Browser;
  let key: string;

  beforeAll(async () => {
    site = createServer(express().use(express.static(join(ROOT, 'examples', 'dashboard'))));
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${String((site.address() as AddressInfo).port)}`;
    gateway = await startGateway({ CORS_ORIGINS: origin });
    ({ key } = await makeKey(gateway, await makeNorthwind(gateway), { scopes: READ_ONLY }));
    browser = await openBrowser();
  }, 120_000);
  afterAll(async () => {
    await browser.close();
    site.close();
    await gateway.stop();
  });

  const filledIn = (): string => `${origin}/#${new URLSearchParams({ url: gateway.url, key }).toString()}`;

  test.each(THEMES.flatMap((theme) => WIDTHS.map((width) => ({ theme, width }))))(
    'shows months, products and statuses, and is accessible ($theme, $width px)',
    async (view) => {
      const { page, faults, foreign, close } = await visitor(browser, [origin, gateway.url], view);
      await page.goto(filledIn());
      await page.getByRole('heading', { name: 'Northwind Traders' }).waitFor();
      await page.getByText('USD: $1,330,735.45 in 830 orders').waitFor();
      expect(await page.locator('#months li').count()).toBe(23);
      expect(await page.locator('#products tbody tr').count()).toBe(10);
      expect(await page.locator('#products tbody tr').first().innerText()).toMatch(
        /Côte de Blaye\s+623 each\s+\$141,396\.73/,
      );
      expect(await page.locator('#quotes tbody tr').allInnerTexts()).toContainEqual(
        expect.stringMatching(/^accepted\s+830\s/),
      );
      const { violations } = (await page.evaluate(`${AXE}; axe.run(document)`)) as Json;
      expect(violations.map(({ id, nodes }: Json) => [id, nodes.map(({ html }: Json) => html)])).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
      expect({ faults, foreign }).toEqual({ faults: [], foreign: [] });
      await close();
    },
  );

  test('filters by year, and explains a missing scope and a CORS origin that is not allowed', async () => {
    const elsewhere = origin.replace('127.0.0.1', 'localhost');
    const { page, close } = await visitor(browser, [origin, elsewhere, gateway.url]);
    await page.goto(filledIn());
    await page.getByText('in 830 orders').waitFor();
    await page.getByLabel('Year').selectOption('1997');
    await page.getByText('in 408 orders').waitFor();
    expect(await page.locator('#months li').count()).toBe(12);

    const other = await makeNorthwind(gateway, 1);
    await page.getByLabel('Read-only key').fill((await makeKey(gateway, other, { scopes: ['orders:read'] })).key);
    await page.getByRole('button', { name: 'Show' }).press('Enter');
    await page.getByText('insufficient_scope').waitFor();
    expect(await page.locator('#panels').isHidden()).toBe(true);

    await page.goto(filledIn().replace(origin, elsewhere));
    await page.getByText(`is CORS_ORIGINS set to ${elsewhere}?`).waitFor();
    await close();
  });
});
