import type { Locator, Page } from 'playwright-core';
import { openApiDocument } from '../../src/published';
import { eventually } from '../http/eventually';
import { CHROMIUM, INSTALL_CHROMIUM, THEMES, WIDTHS } from '../support/browser';
import { describeWith } from '../support/programs';
import { openScene, overflow, type PagesScene, violations } from './scene';

const OPERATIONS = Object.entries(openApiDocument().paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { operationId, tags }]) => ({
    ...{ method, path, id: `operations-${String(tags[0])}-${operationId}` },
  })),
);
const WRITES = OPERATIONS.filter(({ method }) => method !== 'get');
/** Each theme and each width once: with every operation open axe takes a minute. */
const VIEWS = THEMES.map((theme, at) => ({ theme, width: WIDTHS[at]! }));

async function open(page: Page, id: string): Promise<Locator> {
  const operation = page.locator(`#${id}`);
  // a click before the page has its handlers, or while it draws itself again, does nothing
  await eventually(async () => {
    const isOpen = (await operation.getAttribute('class'))?.includes('is-open') === true;
    if (!isOpen) await operation.locator('.opblock-summary-control').click();
    const responses = operation.locator('.responses-table .response').first();
    return responses.waitFor({ timeout: 10_000 }).then(
      () => true,
      () => false,
    );
  }, 60_000);
  return operation;
}

async function enterKey(page: Page, key: string): Promise<void> {
  await page.locator('.btn.authorize').click();
  await page.locator('.auth-container input').fill(key);
  await page.locator('.auth-btn-wrapper .authorize').click();
  await page.locator('.auth-btn-wrapper .btn-done').click();
}

describeWith(CHROMIUM, INSTALL_CHROMIUM)('the reference', () => {
  let scene: PagesScene;

  beforeAll(async () => {
    scene = await openScene();
  }, 120_000);
  afterAll(() => scene.close());

  test.each(WIDTHS)(
    'has no open operation that is long at %i px',
    async (width) => {
      await scene.visit(
        '/api/v1/docs',
        async (page) => {
          const heights: [string, number][] = [];
          for (const { id } of OPERATIONS) {
            const operation = await open(page, id);
            heights.push([id, (await operation.boundingBox())?.height ?? 0]);
            await operation.locator('.opblock-summary-control').click();
          }
          const most = width === 390 ? 4000 : 3000;
          expect(heights.filter(([, height]) => height > most)).toEqual([]);
          expect(heights).toHaveLength(OPERATIONS.length);
        },
        { width },
      );
    },
    300_000,
  );

  test('names the errors of an operation in a line each, with a link', async () => {
    await scene.visit('/api/v1/docs', async (page) => {
      const operation = await open(page, 'operations-quotes-list_quotes');
      const row = operation.locator('.response[data-code="403"]');
      const link = row.getByRole('link', { name: 'insufficient_scope' });
      expect(await link.getAttribute('href')).toBe('/errors/insufficient_scope');
      expect((await row.boundingBox())?.height).toBeLessThan(150);
      // the answer itself keeps its example
      await operation.locator('.response[data-code="200"]').getByText('next_cursor').first().waitFor();
    });
  }, 60_000);

  test.each(WRITES)(
    'asks before it sends the example of $method $path',
    async ({ id }) => {
      await scene.visit('/api/v1/docs', async (page) => {
        const sent: string[] = [];
        page.on('request', (request) => {
          if (request.method() !== 'GET') sent.push(request.url());
        });
        await page.locator('.opblock').first().waitFor();
        await enterKey(page, scene.key);
        const operation = await open(page, id);
        const execute = operation.locator('.execute');
        await execute.press('Enter');
        const dialog = page.getByRole('dialog', { name: 'Send the example?' });
        await dialog.waitFor();
        await page.keyboard.press('Escape');
        await dialog.waitFor({ state: 'detached' });
        await execute.click();
        await dialog.getByRole('button', { name: 'Cancel' }).click();
        await dialog.waitFor({ state: 'detached' });
        expect(sent).toEqual([]);
        // another spelling of the same body is still the example
        const body = operation.locator('textarea');
        await body.fill(JSON.stringify(JSON.parse(await body.inputValue())));
        await execute.click();
        await dialog.getByRole('button', { name: 'Send the example' }).click();
        await operation.locator('.live-responses-table').waitFor();
        expect(sent).toHaveLength(1);
        // an own body is sent at once
        await body.fill('{}');
        await execute.click();
        await operation.locator('.live-responses-table').getByText('422').first().waitFor();
        expect(sent).toHaveLength(2);
      });
    },
    90_000,
  );

  test.each(VIEWS)(
    'is accessible with operations and dialogs open ($theme, $width px)',
    async (view) => {
      const { faults, foreign } = await scene.visit(
        '/api/v1/docs',
        async (page) => {
          await page.locator('.opblock').first().waitFor();
          await page.locator('.btn.authorize').click();
          await page.locator('.auth-container input').waitFor();
          expect(await violations(page)).toEqual([]);
          await page.locator('.auth-container input').fill(scene.key);
          await page.locator('.auth-btn-wrapper .authorize').click();
          await page.locator('.auth-container').getByText('Logout').waitFor();
          expect(await violations(page)).toEqual([]);
          await page.locator('.auth-btn-wrapper .btn-done').click();
          for (const { id } of OPERATIONS) await open(page, id);
          expect(await violations(page)).toEqual([]);
          expect(await overflow(page)).toBeLessThanOrEqual(0);
          // what is folded in a read and a write
          await page.goto(`${scene.gateway.url}/api/v1/docs`);
          await page.locator('.opblock').first().waitFor();
          await enterKey(page, scene.key);
          const list = await open(page, 'operations-products-list_products');
          await open(page, 'operations-products-upsert_products');
          await list.locator('.execute').click();
          await list.locator('.live-responses-table').waitFor();
          for (const headers of await page.locator('.answer-headers summary').all()) await headers.click();
          for (const schema of await page.getByRole('tab', { name: 'Schema' }).all()) await schema.click();
          expect(await violations(page)).toEqual([]);
          expect(await overflow(page)).toBeLessThanOrEqual(0);
          await page.locator('#operations-products-upsert_products .execute').click();
          await page.getByRole('dialog', { name: 'Send the example?' }).waitFor();
          expect(await violations(page)).toEqual([]);
        },
        view,
      );
      expect({ faults, foreign }).toEqual({ faults: [], foreign: [] });
    },
    300_000,
  );
});
