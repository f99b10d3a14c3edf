import { spawn } from 'node:child_process';
import type { Browser, Locator, Page } from 'playwright-core';
import type { Organisation } from '../../src/auth/principal';
import { CHROMIUM, INSTALL_CHROMIUM, openBrowser, visitor } from '../support/browser';
import { makeKey, makeNorthwind } from '../support/factories';
import { late, startGateway, type TestGateway } from '../support/gateway';
import { describeWith } from '../support/programs';

/** Describes what needs Chromium, and is skipped without it. */
export const inBrowser = describeWith(CHROMIUM, INSTALL_CHROMIUM);

export { overflowOf as overflow, violationsOf as violations } from '../support/axe';

/** A gateway with some rows of Northwind and a key with all scopes, and a browser to visit it. */
export interface PagesScene {
  readonly gateway: TestGateway;
  readonly organisation: Organisation;
  readonly key: string;
  /** Opens a page, runs `work`, and returns what went wrong in the browser. */
  visit(where: string | Where, work: (page: Page) => Promise<void>): Promise<Outcome>;
  close(): Promise<void>;
}

/** A page, and how it is looked at. */
type Where = { readonly path: string } & Parameters<typeof visitor>[2];

interface Outcome {
  /** Console errors and exceptions. */
  readonly faults: string[];
  /** URLs of other hosts that the page asked for. */
  readonly foreign: string[];
}

/** The scene of the tests of a file, open from before the first until after the last. */
export function pagesScene(): PagesScene {
  const scene = late(openScene);
  afterAll(() => scene.close());
  return scene;
}

export async function openScene(environment: Record<string, string> = {}): Promise<PagesScene> {
  const gateway = await startGateway({ INTROSPECTION: 'public', ...environment });
  const organisation = await makeNorthwind(gateway, 20);
  const { key } = await makeKey(gateway, organisation);
  const browser: Browser = await openBrowser();
  return {
    ...{ gateway, organisation, key },
    async visit(where, work) {
      const { path, ...options } = typeof where === 'string' ? { path: where } : where;
      const { page, faults, foreign, close } = await visitor(browser, [gateway.url], {
        permissions: ['clipboard-read', 'clipboard-write'],
        ...options,
      });
      page.setDefaultTimeout(30_000);
      try {
        await page.goto(gateway.url + path);
        await work(page);
      } finally {
        await close();
      }
      return { faults, foreign };
    },
    async close() {
      await browser.close();
      await gateway.stop();
    },
  };
}

/* The form above the reference and the explorer. */

export const keyForm = (page: Page): Locator => page.getByRole('form', { name: 'API key' });

/** Enters a key and waits until the gateway has identified its owner. */
export async function enterKey(page: Page, key: string): Promise<void> {
  await keyForm(page).getByLabel('API key').fill(key);
  await page.keyboard.press('Enter');
  await keyForm(page).getByText('Northwind Traders').waitFor();
}

/** What a program prints for this input; not synchronously, since the gateway is in the same process. */
export async function output(
  [program, ...args]: readonly [string, ...string[]],
  input: string,
  environment: Record<string, string>,
): Promise<string> {
  const child = spawn(program, args, { env: { ...process.env, NO_PROXY: '127.0.0.1', ...environment } });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => (text += piece));
  child.stderr.setEncoding('utf8').on('data', (piece: string) => (text += piece));
  child.stdin.end(input);
  await new Promise((resolve) => child.on('close', resolve));
  return text;
}
