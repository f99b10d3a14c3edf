import type { Locator, Page } from 'playwright-core';
import type { Organisation } from '../../src/auth/principal';
import type { Role } from '../../src/auth/roles';
import { eventually } from '../api/http/eventually';
import { makeLink } from '../admin/settings/people';
import { button, enter, type Fate, hold, intercept, type Look, press, says, settled, useBrowser } from './browser';
import { served, type TestGateway } from './gateway';

export * from './browser';

/* Users of the settings page in a real browser: what they open, find and do there, by role and label. */

export const PAGE = '/settings/integrations';
const CALLS = '**/settings/graphql';

const PATHS = {
  Overview: PAGE,
  Insights: '/settings/insights',
  'API keys': '/settings/keys',
  Webhooks: '/settings/webhooks',
  Requests: '/settings/requests',
  Members: '/settings/members',
  'Audit log': '/settings/audit',
};
export type PageName = keyof typeof PATHS;

export interface Visitor extends Look {
  readonly of: Organisation;
  readonly role?: Role;
  readonly name?: string;
  /** The page that is opened. Default API keys. */
  readonly on?: PageName;
  /** Another gateway than that of the scene. */
  readonly at?: TestGateway;
}

/** For tests that make requests fail: what the browser logs about them. */
export const BROKEN: Partial<Visitor> = { tolerates: /Failed to load resource/ };

/** A gateway and a browser for the tests of a file. `usual` applies to every visit, the rest to the gateway. */
export function pageScene(
  usual: Partial<Visitor> = {},
  environment: Record<string, string> = {},
  demo: Parameters<typeof served>[2] = {},
) {
  const gateway = served(environment, {}, demo);
  const open = useBrowser();
  return {
    gateway,
    /** A page as a user of an organisation sees it: Ann, an admin, unless somebody is named. */
    visit: async (who: Organisation | Visitor): Promise<Page> => {
      const visitor: Visitor = { ...usual, ...('of' in who ? who : { of: who }) };
      const { of, role = 'admin', name = 'Ann', at = gateway, on = 'API keys', ...look } = visitor;
      const page = await open([at.url], look);
      await beSignedIn(page, at, await makeLink(at, of, role, name));
      await page.goto(at.url + PATHS[on]);
      await heading(page, on).waitFor();
      return page;
    },
    /** A page of somebody who is not signed in, which may also open `others`. */
    visitAsStranger: (look: Look = {}, others: readonly string[] = []): Promise<Page> =>
      open([gateway.url, ...others], look),
    open: (page: Page, path: string): Promise<unknown> => page.goto(gateway.url + path),
    /** Signs somebody in, as another tab of the same browser would. */
    signInElsewhere: async (page: Page, of: Organisation, role?: Role, name?: string): Promise<void> =>
      beSignedIn(page, gateway, await makeLink(gateway, of, role, name)),
  };
}

/** Gives the browser of a page the session of a link, without the two pages that a person sees on the way. */
async function beSignedIn(page: Page, gateway: TestGateway, link: string): Promise<void> {
  await page.context().request.post(`${gateway.url}/settings/sign-in`, { form: { link }, maxRedirects: 0 });
}

/** Opens a link and presses Continue. */
export async function signIn(page: Page, gateway: TestGateway, link: string): Promise<void> {
  await page.goto(`${gateway.url}/settings/sign-in?link=${link}`);
  await press(page, 'Continue');
  try {
    await heading(page, 'Overview').waitFor();
  } catch (error) {
    const text = await page.locator('body').innerText();
    throw new Error(`The page did not load; ${page.url()} says:\n${text}`, { cause: error });
  }
}

/** Signs out in another tab of the same browser. */
export async function signOutElsewhere(page: Page): Promise<void> {
  const other = await page.context().newPage();
  await other.goto(new URL(PAGE, page.url()).href);
  await signOut(other);
  await other.waitForURL('**/settings/sign-in');
  await other.close();
}

/* What is on the page. Only one dialog is open at a time. */

export const section = (page: Page, name: string): Locator => page.getByRole('region', { name, exact: true });
export const dialog = (page: Page): Locator => page.getByRole('dialog');
export const heading = (page: Page, name: string): Locator => page.getByRole('heading', { name, exact: true });
/** The rows of a section's table, without its head. */
export const rows = (page: Page, name: string): Locator =>
  section(page, name)
    .locator('table')
    .first()
    .getByRole('row')
    .filter({ has: page.getByRole('cell') });
/** The head of the row of this name; its label may begin with that of its column. */
export const named = (page: Page, name: string): Locator =>
  page.getByRole('rowheader').filter({ has: page.getByText(name, { exact: true }) });
/** What the page shows of a key or an endpoint with this name. */
export const fact = (page: Page, name: string): Locator =>
  page.locator(`dt:text-is("${name}") + dd`).filter({ visible: true });
export const search = (page: Page): string => new URL(page.url()).search;
export const path = (page: Page): string => new URL(page.url()).pathname;
/** Waits for so many rows. */
export const counted = (found: Locator, count: number): Promise<unknown> =>
  eventually(async () => (await found.count()) === count);
/** The secret that the open dialog shows, under this label. */
export const shown = async (page: Page, label: string): Promise<string> =>
  (await dialog(page).getByLabel(label, { exact: true }).textContent())!;
/** Whether leaving the page would ask first. */
export const asksBeforeLeaving = (page: Page): Promise<boolean> =>
  page.evaluate("!dispatchEvent(new Event('beforeunload', { cancelable: true }))");

/* What people do. */

/** Opens the side bar, where a button does. */
export async function openSideBar(page: Page): Promise<void> {
  const opener = button(page, 'Settings menu');
  if (await opener.isVisible()) await opener.click();
}

/** Signs out by the menu of the account. */
export async function signOut(page: Page, how: 'Sign out' | 'Sign out everywhere' = 'Sign out'): Promise<void> {
  await openSideBar(page);
  await button(page, /your account/).click();
  await press(page, how);
}

/** Opens a page from the side bar. */
export async function goTo(page: Page, name: PageName): Promise<void> {
  await openSideBar(page);
  const list = page.getByRole('navigation', { name: 'Settings' });
  await list.getByRole('link', { name: new RegExp(`^${name}`) }).click();
  await heading(page, name).waitFor();
}

/** Opens the page of a key or an endpoint from its list. */
export async function follow(page: Page, name: string): Promise<void> {
  // below it may be links to keys that it replaced
  await named(page, name).getByRole('link').first().click();
  await heading(page, name).waitFor();
}

/** From the page of a key or an endpoint back to its list. */
export const leave = (page: Page): Promise<void> => page.locator('.crumbs a').filter({ visible: true }).click();

/** Chooses an action in a key's menu. */
export async function choose(page: Page, key: string, action: string): Promise<void> {
  await press(page, `Actions for ${key}`);
  await page.getByRole('menuitem', { name: action, exact: true }).click();
}

/** Chooses an action in the menu of an endpoint's page. */
export async function act(page: Page, action: string): Promise<void> {
  await press(page, 'More actions');
  await page.getByRole('menuitem', { name: action, exact: true }).click();
}

/** Opens what the first row of a list leads to, beside the list. */
export const openFirst = (page: Page, list: string): Promise<void> =>
  section(page, list).getByRole('rowheader').first().getByRole('link').click();

export async function closeDetails(page: Page): Promise<void> {
  await press(dialog(page), 'Close');
  await dialog(page).waitFor({ state: 'hidden' });
}

export async function fillNewKey(page: Page, name: string): Promise<void> {
  await press(page, 'New key');
  await dialog(page).getByLabel('Name', { exact: true }).fill(name);
  await dialog(page)
    .getByRole('checkbox', { name: /quotes:read/ })
    .check();
}

/** Closes the dialog of a secret, which no other way does. */
export async function saved(page: Page): Promise<void> {
  await enter(dialog(page), 'I have saved it');
  await dialog(page).waitFor({ state: 'hidden' });
}

/** Rotates a key, whose dialog is open. */
export async function rotate(page: Page): Promise<void> {
  await press(dialog(page), 'Rotate key');
  await says(dialog(page), 'it will not be shown again');
}

/* What becomes of the page's calls whose body matches. */

export const calls = (page: Page, body: RegExp, fate: Fate): Promise<void> => intercept(page, CALLS, body, fate);
export const holdCalls = (page: Page, body: RegExp): ReturnType<typeof hold> => hold(page, CALLS, body);

/** Sends `count` calls with `first`, whose answers arrive only after `then`. */
export async function overtaken(
  page: Page,
  { body, count = 1 }: { readonly body: RegExp; readonly count?: number },
  first: () => Promise<unknown>,
  then: () => Promise<unknown>,
): Promise<void> {
  const next = await hold(page, CALLS, body, count);
  await first();
  const held = [];
  while (held.length < count) held.push(await next());
  await then();
  for (const route of held) await route.fulfill({ response: await route.fetch() });
  await settled(page);
  await page.unroute(CALLS);
}
