import { readFileSync } from 'node:fs';
import {
  type Browser,
  type BrowserContextOptions,
  chromium,
  type Locator,
  type Page,
  type Route,
} from 'playwright-core';
import { eventually } from '../api/http/eventually';
import { late } from './gateway';
import { describeWith, findProgram } from './programs';

/** The same engine without windows, menus and accounts, which halves the CPU time of page tests. */
const HEADLESS_SHELL = 'chromium-headless-shell';
const CHROMIUM =
  process.env.CHROMIUM ??
  findProgram(HEADLESS_SHELL, 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable');
const INSTALL_CHROMIUM = `apt-get install ${HEADLESS_SHELL} or chromium, or set CHROMIUM to the path of one`;
/** Describes what needs Chromium, and is skipped without it. */
export function inBrowser(what: string, tests: () => void): void {
  describeWith(CHROMIUM, INSTALL_CHROMIUM)(what, tests);
}

/** Prevents requests for updates and accounts. */
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export function openBrowser(): Promise<Browser> {
  if (CHROMIUM === undefined) throw new Error(`Chromium not found: ${INSTALL_CHROMIUM}`);
  return chromium.launch({ executablePath: CHROMIUM, args: ARGUMENTS, timeout: 120_000 });
}

export const WIDTHS = [1280, 390] as const;
export const THEMES = ['light', 'dark'] as const;
export type Width = (typeof WIDTHS)[number];
export type Theme = (typeof THEMES)[number];
export const VIEWS = THEMES.map((theme, at) => ({ theme, width: WIDTHS[at]! }));

type View = { width?: Width; theme?: Theme } & BrowserContextOptions;

/** Opens a new browser context in which only `origins` can be reached. */
export async function visitor(
  browser: Browser,
  origins: readonly string[],
  { width = 1280, theme = 'light', ...options }: View = {},
) {
  const context = await browser.newContext({
    viewport: { width, height: width === 390 ? 844 : 800 },
    colorScheme: theme,
    reducedMotion: 'reduce',
    ...options,
  });
  context.setDefaultTimeout(120_000);
  /** URLs of other hosts that the page requested. */
  const foreign: string[] = [];
  await context.route(
    (url) => !origins.includes(url.origin) && url.protocol !== 'data:',
    (route) => {
      foreign.push(route.request().url());
      return route.abort('internetdisconnected');
    },
  );
  // pages do not give up a request because the machine is slow; LATE makes them
  await context.addInitScript('AbortSignal.timeout = () => new AbortController().signal');
  const page = await context.newPage();
  /** Console errors and exceptions. */
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text());
  });
  return { page, faults, foreign, close: () => context.close() };
}

/** How a page is looked at. */
export interface Look extends View {
  /** What the browser may log and request where a test makes things fail. */
  readonly tolerates?: RegExp | undefined;
}

/** A browser for the tests of a file or describe: opens an empty page. After each test, checks that nothing went wrong in its pages. */
export function useBrowser(): (origins: readonly string[], look?: Look) => Promise<Page> {
  const browser = late(openBrowser);
  const visits: (() => Promise<string[]>)[] = [];
  afterEach(async () => {
    const faults = await Promise.all(visits.splice(0).map((end) => end()));
    expect(faults.flat()).toEqual([]);
  });
  afterAll(() => browser.close());
  return async (origins, { tolerates, ...view } = {}) => {
    const permissions = ['clipboard-read', 'clipboard-write'];
    const { page, faults, foreign, close } = await visitor(browser, origins, { permissions, ...view });
    visits.push(async () => {
      await close();
      return [...faults, ...foreign].filter((fault) => tolerates?.test(fault) !== true);
    });
    return page;
  };
}

const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
/** Passes, of which there are thousands, are neither created nor transferred, which halves the time. */
const RUN = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
  violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html.slice(0, 300))]))`;

/** Expects no violations that axe-core finds in the page's current state, and no horizontal scrolling. */
export async function expectAccessible(page: Page): Promise<void> {
  const isThere = await page.evaluate('typeof axe === "object"');
  expect(await page.evaluate(isThere === true ? RUN : `${AXE}; ${RUN}`)).toEqual([]);
  await expectFits(page);
}

/** Expects the page not to be wider than the window. */
export async function expectFits(page: Page): Promise<void> {
  const [wide, window] = await page.evaluate<[number, number]>('[document.documentElement.scrollWidth, innerWidth]');
  expect(wide).toBeLessThanOrEqual(window);
}

/** The same open page in another theme and width. */
export async function turn(page: Page, { theme, width }: (typeof VIEWS)[number]): Promise<void> {
  await page.setViewportSize({ width, height: 800 });
  await page.emulateMedia({ colorScheme: theme });
}

/* What people do and see. */

export const button = (of: Page | Locator, name: string | RegExp): Locator =>
  of.getByRole('button', { name, exact: true });
export const press = (of: Page | Locator, name: string | RegExp): Promise<void> => button(of, name).click();

/** Presses Enter on a button once it is not busy, since a busy one ignores it. */
export function enter(of: Page | Locator, name: string | RegExp): Promise<void> {
  const page = 'page' in of ? of.page() : of;
  return button(of, name).and(page.locator(':not([aria-disabled="true"])')).press('Enter');
}

/** Waits until a text is visible in the page or in an element, or is all of its text. */
export function says(of: Page | Locator, text: string | RegExp): Promise<void> {
  const inside = of.getByText(text);
  const found = 'page' in of ? inside.or(of.and(of.page().getByText(text))) : inside;
  return found.filter({ visible: true }).first().waitFor();
}

export async function hasFocus(element: Locator): Promise<void> {
  await element.and(element.page().locator(':focus')).waitFor();
}

export async function expectInView(element: Locator): Promise<void> {
  const { y, height } = (await element.boundingBox())!;
  expect(y).toBeGreaterThanOrEqual(0);
  expect(y + height).toBeLessThanOrEqual(element.page().viewportSize()!.height);
}

export const copied = (page: Page): Promise<string> => page.evaluate('navigator.clipboard.readText()');

/** Presses a button that copies, which then says so for 3 s, so it is waited for beside the press. Resolves with what was copied. */
export async function copy(of: Page | Locator, name: string): Promise<string> {
  await Promise.all([says(of, 'Copied'), button(of, name).first().click()]);
  return copied('page' in of ? of.page() : of);
}

/* What becomes of a page's requests. */

export type Fate = (route: Route) => Promise<unknown>;

export const passed: Fate = (route) => route.continue();
export const unsent: Fate = (route) => route.abort('connectionreset');
/** The gateway handles it, but its answer is lost. */
export const lost: Fate = async (route) => {
  await route.fetch();
  await route.abort('connectionreset');
};

/** Evaluated in a page: nothing is answered in time from then on. */
export const LATE = `AbortSignal.timeout = () => AbortSignal.abort(new DOMException('late', 'TimeoutError'))`;

/** Lets `fate` decide what becomes of the requests to `path` whose body matches. */
export async function intercept(page: Page, path: string, body: RegExp, fate: Fate): Promise<void> {
  await page.route(path, (route) => (body.test(route.request().postData() ?? '') ? fate(route) : route.fallback()));
}

/** Holds requests, the first of them or all; the function that is returned resolves with the next. */
export async function hold(page: Page, path: string, body = /(?:)/, most = Infinity): Promise<() => Promise<Route>> {
  const held: Route[] = [];
  let count = 0;
  await intercept(page, path, body, (route) => {
    count += 1;
    return count > most ? route.fallback() : Promise.resolve(held.push(route));
  });
  return () => eventually(() => held.shift());
}

/** Waits until the page has handled every answer that has arrived: one to a request that it sends now comes after them. */
export const settled = (page: Page): Promise<unknown> =>
  page.evaluate('fetch("/livez").then(() => new Promise((go) => setTimeout(go, 50)))');
