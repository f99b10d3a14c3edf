import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { eraseCustomer } from '../../../src/resources/eraseCustomer';
import { blocksOf } from '../../docs/markdown';
import { writePrograms } from '../../docs/programs';
import { eventually } from '../../api/http/eventually';
import { expectAccessible, hasFocus, hold, inBrowser, passed, says, VIEWS } from '../../support/browser';
import { startCommandServer } from '../../support/commandServer';
import { callerOf, northwind } from '../../support/factories';
import { captions, figure, isLive, makeOrder, storeOrders, useDashboard } from './dashboardScene';
import { run } from './run';

/* What the example dashboard shows; its behaviour on failures is in dashboardTrouble.test.ts. */

const ROWS = 40;
const dollars = (minor: number): string => (minor / 100).toLocaleString('en', { style: 'currency', currency: 'USD' });
const totalOf = (file: string): number =>
  northwind(file)
    .slice(0, ROWS)
    .reduce((sum, row) => sum + (row.total_minor as number), 0);

inBrowser('examples/dashboard, served from another origin', () => {
  const dashboard = useDashboard({}, ROWS);

  beforeAll(async () => {
    const placed = (month: string): object => ({ placed_at: `${month}-09T00:00:00.000Z`, status: 'placed' });
    await storeOrders(dashboard, [
      makeOrder({ total_minor: 9_007_199_254_740_991, currency: 'EUR', ...placed('1997-02') }),
      makeOrder({ total_minor: 1500, currency: 'JPY', ...placed('1996-11') }),
      makeOrder({ total_minor: 2500, currency: 'JPY', customer_id: null, ...placed('1997-02') }),
      makeOrder({ total_minor: 3000, currency: 'JPY', ...placed('2001-02') }),
    ]);
  });

  test.each(VIEWS)(
    'each currency has its own figures, with axis, values and a table ($theme, $width px)',
    async (view) => {
      const { page } = await dashboard.visit(view);
      await page.getByRole('heading', { name: 'Northwind Traders' }).waitFor();
      await isLive(page);
      const orders = dollars(totalOf('orders'));
      expect(await captions(page, 'months')).toEqual([
        'EUR: €90,071,992,547,409.91 in 1 order',
        'JPY: ¥7,000 in 3 orders',
        `USD: ${orders} in ${String(ROWS)} orders`,
      ]);
      expect(await captions(page, 'statuses')).toContain(`USD: ${String(ROWS)} orders, ${orders}`);
      expect(await captions(page, 'quotes')).toEqual([`USD: ${String(ROWS)} quotes, ${dollars(totalOf('quotes'))}`]);

      const yen = figure(page, 'months', 'JPY');
      expect(await yen.locator('svg').getAttribute('aria-label')).toBe(
        'JPY: ¥7,000 in 3 orders, November 1996 to February 2001. Highest: February 2001, ¥3,000 in 1 order.',
      );
      // the months between have no orders, and one gap stands for four years
      expect(await yen.locator('.column').count()).toBe(6);
      expect(await yen.locator('.column title').allTextContents()).toContain('December 1996: ¥0 in 0 orders');
      expect(await yen.locator('.tick').allTextContents()).toEqual(expect.arrayContaining(['¥0', '¥1K', '¥3K']));
      // the first column of each year, and the one after the gap, name their year
      const below = await Promise.all(
        (await yen.locator('.column').all()).map((column) => column.locator('.tick').allTextContents()),
      );
      expect(below.map((texts) => texts.find((text) => /^\d{4}$/.test(text)))).toEqual([
        ...['1996', undefined, '1997', undefined],
        ...[undefined, '2001'],
      ]);
      expect(below[4]).toEqual(['…']);
      expect(below[5]).toEqual(['Feb', '2001']);
      // a single month does not fill the page
      const bar = (await figure(page, 'months', 'EUR').locator('.column .bar').boundingBox())!;
      expect(bar.width).toBeLessThan(100);
      expect(await yen.locator('.value').allTextContents()).toContain('3K');

      await yen.locator('summary').press('Enter');
      expect(await yen.locator('tbody tr').allInnerTexts()).toEqual([
        'November 1996\t1\t¥1,500',
        'February 1997\t1\t¥2,500',
        'February 2001\t1\t¥3,000',
      ]);
      await says(figure(page, 'customers', 'JPY'), 'No customer');
      await says(figure(page, 'customers', 'USD'), 'others');
      await expectAccessible(page);
    },
  );

  test('a write appears without a reload, and only the figures it affects are read again', async () => {
    const { page, sent } = await dashboard.visit();
    await isLive(page);
    const open = figure(page, 'months', 'USD').locator('summary');
    await open.press('Enter');
    const begun = sent.reads().length;
    const owner = northwind('customers')[0]!;
    const order = makeOrder({ total_minor: 4200, currency: 'NOK', status: 'placed', customer_id: owner.id });
    await storeOrders(dashboard, [order]);
    await says(figure(page, 'months', 'NOK').locator('figcaption'), '42.00 in 1 order');
    const row = figure(page, 'customers', 'NOK');
    await row.waitFor();
    expect(sent.reads().slice(begun)).toEqual([['months', 'statuses', 'customers', 'products']]);
    // what the visitor was looking at stays
    await hasFocus(open.and(page.locator('details[open] summary')));

    await storeOrders(dashboard, [{ ...order, status: 'confirmed', updated_at: '2026-11-01T00:00:00.000Z' }]);
    await says(figure(page, 'statuses', 'NOK'), 'confirmed');
    expect(sent.reads().slice(begun + 1)).toEqual([['statuses', 'products']]);

    const caller = await callerOf(dashboard.gateway, dashboard.organisation);
    await says(row, owner.name as string);
    const customers = [{ external_ref: owner.external_ref, name: 'A new name' }];
    await caller.post('/customers/bulk', { customers });
    await says(row, 'A new name');
    expect(sent.reads().slice(begun + 2)).toEqual([['customers']]);
    const data = await dashboard.gateway.databases.organisationData(dashboard.organisation);
    await eraseCustomer(data, owner.id as string, { by: 'operator', signal: new AbortController().signal });
    await says(row, 'erased');
  });

  test('a year is chosen by keyboard and kept in the URL; the page says while it loads, and a late answer for another year is dropped', async () => {
    const { page } = await dashboard.visit();
    await isLive(page);
    const year = page.getByLabel('Period');
    expect(await year.locator('option').allInnerTexts()).toEqual(['All years', '2001', '1997', '1996']);
    const next = await hold(page, '**/graphql', /"from":"2001-01-01/);
    // whatever the page shows, even for a moment
    await page.evaluate(`{
      window.shown = [];
      const months = document.querySelector('[data-part=months]');
      new MutationObserver(() => window.shown.push(months.innerText)).observe(months, { childList: true, subtree: true });
    }`);
    const months = page.locator('[data-part=months]');
    const { height } = (await months.boundingBox())!;
    await year.selectOption('2001');
    const late = await next();
    await says(months, 'Reading 2001…');
    await says(page.getByRole('status'), 'Reading 2001…');
    expect(await months.getAttribute('aria-busy')).toBe('true');
    expect(await page.locator('.figures >> visible=true').count()).toBe(0);
    expect(await page.locator('#updated').isVisible()).toBe(false);
    expect((await months.boundingBox())!.height).toBe(height);
    await expectAccessible(page);
    await year.selectOption('1997');
    // the page may have closed it
    await passed(late).catch(() => undefined);
    await eventually(async () => (await captions(page, 'months')).length === 2);
    expect((await captions(page, 'months'))[1]).toBe('JPY: ¥2,500 in 1 order');
    const shown: string[] = await page.evaluate('window.shown');
    expect(shown.join('\n')).not.toContain('¥3,000 in 1 order');
    await page.locator('#updated').waitFor();
    expect(await page.locator('[aria-busy], .pending:not(:empty), #reading:not(:empty)').count()).toBe(0);

    await page.reload();
    await isLive(page);
    expect([await year.inputValue(), await captions(page, 'months')]).toEqual([
      '1997',
      [expect.stringContaining('EUR'), 'JPY: ¥2,500 in 1 order'],
    ]);
    expect(await year.locator('option').allInnerTexts()).toEqual(['All years', '2001', '1997', '1996']);
    await year.selectOption('');
    await says(page, 'JPY: ¥7,000 in 3 orders');
    expect(page.url()).not.toContain('year');
  });

  test('a key is kept for this tab and its gateway only, and never in the URL', async () => {
    const { page, sent } = await dashboard.visit();
    await isLive(page);
    expect(page.url()).not.toContain(dashboard.made.key);
    await page.reload();
    await isLive(page);

    const before = sent.all().length;
    // in the URL of the open page, whose gateway it was
    await page.evaluate(`location.hash = 'url=http://127.0.0.1:9'`);
    await eventually(async () => (await page.getByLabel('Gateway').inputValue()) === 'http://127.0.0.1:9');
    expect(await page.getByLabel('Read-only key').inputValue()).toBe('');
    expect(sent.all().length).toBe(before);

    await page.goto('about:blank');
    await page.goto(dashboard.site.origin);
    await page.locator('#connection:not([open]) summary').waitFor();
    await page.locator('#connection summary').press('Enter');
    await page.getByRole('button', { name: 'Forget key' }).press('Enter');
    expect(await page.locator('#panels').isHidden()).toBe(true);
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
    await page.reload();
    expect(await page.getByLabel('Read-only key').inputValue()).toBe('');
  });

  test('an order written by the commands of the README appears', async () => {
    const commands = await startCommandServer();
    const programs = await writePrograms(commands);
    const block = blocksOf('examples/README.md').find(({ text }) => text.includes('scopegate -- import'))!;
    try {
      const { page } = await dashboard.visit();
      await isLive(page);
      const env = {
        PATH: `${programs}:${process.env.PATH ?? ''}`,
        MONGODB_URI: process.env.TEST_MONGODB_URI ?? '',
        CONTROL_DATABASE: dashboard.controlDatabase,
        TMPDIR: tmpdir(),
      };
      await run('bash', ['-euo', 'pipefail', '-c', block.text], { env });
      const year = String(new Date().getFullYear());
      await figure(page, 'months', 'USD').locator('.tick', { hasText: year }).waitFor();
    } finally {
      await commands.stop();
      await rm(programs, { recursive: true });
    }
  });
});
