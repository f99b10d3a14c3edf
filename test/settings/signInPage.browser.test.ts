import { eventually } from '../http/eventually';
import { visitor } from '../support/browser';
import { makeOrganisation } from '../support/factories';
import { makeLink } from './people';
import { expectAccessible, inBrowser, pageScene } from './visiting';

inBrowser('the sign-in page and the page of a link', () => {
  const scene = pageScene();

  test.each([
    { theme: 'light', width: 1280 },
    { theme: 'dark', width: 390 },
  ] as const)('sign-in is accessible and fits ($theme, $width px)', async (view) => {
    const { page, close } = await visitor(scene.browser, [scene.gateway.url], view);
    const organisation = await makeOrganisation(scene.gateway, { name: 'Northwind Traders' });
    const open = async (link: string): Promise<void> => {
      await page.goto(`${scene.gateway.url}/settings/sign-in?link=${link}`);
    };
    try {
      await page.goto(`${scene.gateway.url}/settings/integrations`);
      expect(page.url()).toBe(`${scene.gateway.url}/settings/sign-in`);
      await expectAccessible(page);
      await open('cut-off');
      await page.getByRole('alert').getByText('This link is incomplete.').waitFor();
      await open(await makeLink(scene.gateway, organisation));
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Continue', exact: true }).click();
      await page.waitForSelector('#events tr');
      await open(await makeLink(scene.gateway, await makeOrganisation(scene.gateway), 'admin', 'Bob'));
      await page.getByText('You are signed in as Ann of Northwind Traders.').waitFor();
      await expectAccessible(page);
    } finally {
      await close();
    }
  });

  test('the page of a link focuses Continue, and pressing it repeatedly while it is slow sends one request', async () => {
    const { page, close } = await visitor(scene.browser, [scene.gateway.url]);
    let posts = 0;
    let goOn = (): void => undefined;
    const held = new Promise<void>((resolve) => (goOn = resolve));
    await page.route('**/settings/sign-in', async (route) => {
      posts += 1;
      await held;
      await route.continue();
    });
    try {
      await page.goto(
        `${scene.gateway.url}/settings/sign-in?link=${await makeLink(scene.gateway, await makeOrganisation(scene.gateway))}`,
      );
      await page.locator('button:focus', { hasText: 'Continue' }).waitFor();
      const { x, y } = (await page.getByRole('button', { name: 'Continue' }).boundingBox())!;
      await page.keyboard.press('Enter');
      await eventually(() => posts === 1, 30_000);
      // not with locators, which would wait for the page being loaded
      await page.keyboard.press('Enter');
      await page.mouse.dblclick(x + 5, y + 5);
      goOn();
      await page.waitForSelector('#events tr');
      expect(posts).toBe(1);
    } finally {
      await close();
    }
  });

  test("the sign-in page says how to find the organisation's id, and its commands can be copied", async () => {
    const permissions = ['clipboard-read', 'clipboard-write'];
    for (const view of [{ javaScriptEnabled: false }, { permissions, width: 390, theme: 'dark' }] as const) {
      const { page, faults, close } = await visitor(scene.browser, [scene.gateway.url], { ...view });
      try {
        await page.goto(`${scene.gateway.url}/settings/sign-in`);
        await page.getByText('npx scopegate org list').waitFor();
        const copy = page.getByRole('button', { name: 'Copy' });
        if ('javaScriptEnabled' in view) {
          expect(await copy.count()).toBe(0);
          continue;
        }
        await copy.first().waitFor();
        await expectAccessible(page);
        await copy.first().press('Enter');
        await page.getByText('Copied', { exact: true }).waitFor();
        expect(await page.evaluate('navigator.clipboard.readText()')).toBe('npx scopegate org list');
        expect(faults).toEqual([]);
      } finally {
        await close();
      }
    }
  });
});
