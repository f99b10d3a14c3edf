import type { Locator, Page } from 'playwright-core';
import { CHROMIUM, INSTALL_CHROMIUM } from '../support/browser';
import { describeWith } from '../support/programs';
import { output } from './output';
import { openScene, type PagesScene } from './scene';
import { enterKey, keyForm } from './visitorKey';

const SECRETS = `JSON.stringify([location.href, document.cookie, { ...localStorage }, history.state, document.body.innerText])`;

/** How a sample is run from its text; Python has pip's copy of requests if it has none of its own. */
const RUN: Readonly<Record<string, readonly [string, ...string[]]>> = {
  curl: ['bash', '-s'],
  TypeScript: [process.execPath, '--input-type=module', '-'],
  Python: [
    'python3',
    '-c',
    'import sys\ntry: import requests\nexcept ImportError:\n from pip._vendor import requests\n sys.modules["requests"] = requests\nexec(sys.stdin.read())',
  ],
};

describeWith(CHROMIUM, INSTALL_CHROMIUM)('samples in the reference', () => {
  let scene: PagesScene;
  const permissions = ['clipboard-read', 'clipboard-write'];

  beforeAll(async () => {
    scene = await openScene();
  }, 120_000);
  afterAll(() => scene.close());

  /** What Copy copies for each language. */
  async function copied(page: Page, operation: Locator): Promise<Record<string, string>> {
    const texts: Record<string, string> = {};
    for (const language of Object.keys(RUN)) {
      const samples = operation.getByRole('region', { name: /^Sample of/ });
      await samples.getByRole('button', { name: language }).click();
      await samples.locator('.samples-copy').click();
      await samples.getByText('Copied').waitFor();
      texts[language] = await page.evaluate('navigator.clipboard.readText()');
      expect(texts[language]).toBe(await samples.getByRole('group', { name: 'Code' }).innerText());
      await samples.getByRole('button', { name: 'Copy' }).waitFor();
    }
    return texts;
  }

  async function runAll(texts: Record<string, string>, answer: string): Promise<void> {
    for (const [language, text] of Object.entries(texts)) {
      expect(text).not.toContain(scene.key);
      const printed = await output(RUN[language]!, text, { SCOPEGATE_KEY: scene.key });
      expect({ language, printed }).toEqual({ language, printed: expect.stringContaining(answer) });
    }
  }

  test('run as they are copied, with the key from the environment, for what the visitor entered', async () => {
    await scene.visit(
      '/api/v1/docs#/products/upsert_products',
      async (page) => {
        await enterKey(page, scene.key);
        const write = page.locator('#operations-products-upsert_products');
        await write
          .getByRole('region', { name: /^Sample of/ })
          .getByText('NW-001')
          .waitFor();
        // every character that a quotation could end at
        const name = `it's "5\\" $HOME \`x\` \${y} é {z}`;
        const products = [{ sku: 'SAMPLE-1', name, active: true, unit_price_minor: null }];
        await write.locator('textarea').fill(JSON.stringify({ products, atomic: false, dry_run: true }, null, 2));
        await runAll(await copied(page, write), 'SAMPLE-1');

        await page.locator('a[href="#/products/list_products"]').click();
        const read = page.locator('#operations-products-list_products');
        await read.getByPlaceholder('q', { exact: true }).fill("chai & it's");
        await read.getByRole('region').getByText('chai').waitFor();
        await runAll(await copied(page, read), 'has_more');
        // Swagger UI's own command would have the key in it
        await read.locator('.execute').click();
        await read.locator('.live-responses-table').waitFor();
        expect(await page.evaluate(SECRETS)).not.toContain(scene.key);
      },
      { permissions },
    );
  }, 180_000);

  test('a key that was typed once serves reference and explorer in this tab, until it is forgotten', async () => {
    const { faults } = await scene.visit('/api/v1/docs', async (page) => {
      await enterKey(page, scene.key);
      expect(await keyForm(page).innerText()).not.toContain(scene.key);
      await page.goto(`${scene.gateway.url}/graphiql`);
      await keyForm(page).getByText('Northwind Traders').waitFor();
      await page.locator('.graphiql-execute-button').click();
      await page.locator('.graphiql-response').getByText('total_minor').first().waitFor();
      expect(await page.evaluate(SECRETS)).not.toContain(scene.key);
      // another tab is another visitor
      const other = await page.context().newPage();
      await other.goto(`${scene.gateway.url}/api/v1/docs`);
      await keyForm(other).getByLabel('API key').waitFor();
      await other.close();

      await keyForm(page).getByRole('button', { name: 'Forget key' }).click();
      await keyForm(page).getByLabel('API key').waitFor();
      expect(await page.evaluate('JSON.stringify({ ...sessionStorage })')).not.toContain('svc_');
      await page.locator('.graphiql-execute-button').click();
      await page.locator('.graphiql-response').getByText('Enter your API key').waitFor();
      await page.goto(`${scene.gateway.url}/api/v1/docs#/me/get_me`);
      await keyForm(page).getByLabel('API key').waitFor();
      await page.locator('#operations-me-get_me .execute').click();
      await page.locator('#operations-me-get_me .live-responses-table').getByText('401').first().waitFor();
    });
    expect(faults.filter((fault) => !fault.includes('401'))).toEqual([]);
  }, 120_000);

  test('a key that the gateway refuses is not kept, and one typed meanwhile is', async () => {
    await scene.visit('/api/v1/docs', async (page) => {
      const field = keyForm(page).getByLabel('API key');
      let answer = (): void => undefined;
      const held = new Promise<void>((resolve) => (answer = resolve));
      await page.route('**/api/v1/me', async (route) => {
        if (route.request().headers().authorization === 'Bearer svc_live_slow') await held;
        await route.fallback();
      });
      await field.fill('svc_live_slow');
      await page.keyboard.press('Enter');
      await enterKey(page, scene.key);
      const late = page.waitForResponse((response) => response.url().endsWith('/me') && response.status() === 401);
      answer();
      await (await late).finished();
      expect(await keyForm(page).getByText('Northwind Traders').isVisible()).toBe(true);
      await keyForm(page).getByRole('button', { name: 'Forget key' }).click();
      for (const [typed, says] of [
        ['svc_live_wrong', 'The gateway refuses this key'],
        ['svc_live_…', 'letters, digits and underscores'],
      ] as const) {
        await field.fill(typed);
        await page.keyboard.press('Enter');
        await keyForm(page).getByRole('status').getByText(says).waitFor();
        expect(await page.evaluate('JSON.stringify({ ...sessionStorage })')).not.toContain(typed);
      }
    });
  }, 60_000);
});
