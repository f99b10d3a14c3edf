import type { Browser, Page, Route } from 'playwright-core';
import type { Organisation } from '../../src/auth/principal';
import type { Role } from '../../src/auth/roles';
import { overflowOf, violationsOf } from '../support/axe';
import { CHROMIUM, INSTALL_CHROMIUM, openBrowser, visitor } from '../support/browser';
import { late, served, type TestGateway } from '../support/gateway';
import { makeLink } from './people';
import { describeWith } from '../support/programs';

/* Users of the settings page in a real browser. */

/** Describes what needs Chromium, and is skipped without it. */
export const inBrowser = describeWith(CHROMIUM, INSTALL_CHROMIUM);

type View = NonNullable<Parameters<typeof visitor>[2]>;

export interface Visitor extends View {
  readonly of: Organisation;
  readonly role?: Role;
  readonly name?: string;
  /** What the browser may log, since the test breaks things. */
  readonly tolerates?: RegExp;
}

/** A gateway and a browser for the tests of a file, opened before the first and closed after the last. */
export interface PageScene {
  readonly gateway: TestGateway;
  readonly browser: Browser;
  /** Calls `work` with the page, opened as a user of an organisation: as Ann, an admin, unless somebody is named. */
  readonly visit: (who: Organisation | Visitor, work: (page: Page) => Promise<void>) => Promise<void>;
}

/** `usual` applies to every visit, `environment` to the gateway. */
export function pageScene(usual: Partial<Visitor> = {}, environment: Record<string, string> = {}): PageScene {
  const gateway = served(environment);
  const browser = late(openBrowser);
  afterAll(() => browser.close());
  const scene = { gateway, browser };
  const visit: PageScene['visit'] = (who, work) =>
    signedIn(scene, { ...usual, ...('of' in who ? who : { of: who }) }, work);
  return { ...scene, visit };
}

/** Opens a link, presses Continue, and calls `work` with the page once its rows are loaded. */
export async function signedIn(
  { browser, gateway }: { readonly browser: Browser; readonly gateway: TestGateway },
  { of, role = 'admin', name = 'Ann', tolerates, ...view }: Visitor,
  work: (page: Page) => Promise<void>,
): Promise<void> {
  const options = { permissions: ['clipboard-read', 'clipboard-write'], ...view };
  const { page, faults, foreign, close } = await visitor(browser, [gateway.url], options);
  try {
    await signIn(page, gateway, await makeLink(gateway, of, role, name));
    await work(page);
    expect(faults.filter((fault) => tolerates?.test(fault) !== true)).toEqual([]);
    expect(foreign).toEqual([]);
  } finally {
    await close();
  }
}

export async function signIn(page: Page, gateway: TestGateway, link: string): Promise<void> {
  await page.goto(`${gateway.url}/settings/sign-in?link=${link}`);
  await page.getByRole('button', { name: 'Continue' }).click();
  try {
    await page.waitForSelector('#events tr');
  } catch (error) {
    const text = await page.locator('body').innerText();
    throw new Error(`The page's rows did not load; ${page.url()} says:\n${text}`, { cause: error });
  }
}

/** Lets a test handle the calls whose body matches; others pass through. */
export async function intercept(page: Page, body: RegExp, handle: (route: Route) => Promise<void>): Promise<void> {
  await page.route('**/settings/graphql', (route) =>
    body.test(route.request().postData() ?? '') ? handle(route) : route.fallback(),
  );
}

/** Chooses an action in the menu of a key. */
export async function choose(page: Page, key: string | RegExp, action: string | RegExp): Promise<void> {
  const name = typeof key === 'string' ? `Actions for ${key}` : key;
  await page.getByRole('button', { name, exact: true }).click();
  await page.getByRole('menuitem', { name: action, exact: true }).click();
}

/** Opens the details of the first row that has some. */
export const openDetails = (page: Page): Promise<void> =>
  page
    .getByRole('button', { name: /^Details/ })
    .first()
    .click();

/** Expects no axe-core violations, and no horizontal scrolling. */
export async function expectAccessible(page: Page): Promise<void> {
  expect(await violationsOf(page)).toEqual([]);
  expect(await overflowOf(page)).toBeLessThanOrEqual(0);
}
