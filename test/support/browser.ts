import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { findProgram } from './programs';

/** The same engine without windows, menus and accounts, which halves the CPU time of page tests. */
const HEADLESS_SHELL = 'chromium-headless-shell';
/** The installed Chromium, or the one in CHROMIUM. */
export const CHROMIUM =
  process.env.CHROMIUM ??
  findProgram(HEADLESS_SHELL, 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable');
export const INSTALL_CHROMIUM = `apt-get install ${HEADLESS_SHELL} or chromium, or set CHROMIUM to the path of one`;

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
  return chromium.launch({ executablePath: CHROMIUM, args: ARGUMENTS });
}

export const WIDTHS = [1280, 390] as const;
export const THEMES = ['light', 'dark'] as const;
export type Width = (typeof WIDTHS)[number];
export type Theme = (typeof THEMES)[number];

export interface Visit {
  readonly page: Page;
  /** Console errors and exceptions. */
  readonly faults: string[];
  /** URLs of other hosts that the page requested; they are blocked. */
  readonly foreign: string[];
  readonly close: () => Promise<void>;
}

/** Opens a new browser context in which only `origins` can be reached. */
export async function visitor(
  browser: Browser,
  origins: readonly string[],
  { width = 1280, theme = 'light', ...options }: { width?: Width; theme?: Theme } & BrowserContextOptions = {},
): Promise<Visit> {
  const context = await browser.newContext({
    viewport: { width, height: width === 390 ? 844 : 800 },
    colorScheme: theme,
    reducedMotion: 'reduce',
    ...options,
  });
  const foreign: string[] = [];
  await context.route(
    (url) => !origins.includes(url.origin) && url.protocol !== 'data:',
    (route) => {
      foreign.push(route.request().url());
      return route.abort('internetdisconnected');
    },
  );
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text());
  });
  return { page, faults, foreign, close: () => context.close() };
}
