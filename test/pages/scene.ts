import type { Locator, Page } from 'playwright-core';
import { launch } from '../examples/run';
import { openBrowser, says, visitor } from '../support/browser';
import { makeKey, makeNorthwind } from '../support/factories';
import { late, served } from '../support/gateway';

/** A page, and how it is looked at. */
type Where = { readonly path: string; readonly tolerates?: RegExp } & Parameters<typeof visitor>[2];

/** What the browser logs about answers that are errors, and requests that the test makes fail. */
export const BROKEN = /Failed to load resource|ERR_/;

/** A gateway with some rows of Northwind and a key with all scopes, and a browser to visit it, for the tests of a file or describe. */
export function pagesScene(environment: Record<string, string> = {}) {
  const gateway = served({ INTROSPECTION: 'public', ...environment });
  const organisation = late(() => makeNorthwind(gateway, 20));
  const made = late(() => makeKey(gateway, organisation));
  const browser = late(openBrowser);
  afterAll(() => browser.close());
  return {
    ...{ gateway, organisation },
    get key(): string {
      return made.key;
    },
    /** Opens a page, runs `work`, and expects no console errors, exceptions or requests of other hosts but those that it `tolerates`. */
    async visit(where: string | Where, work: (page: Page) => Promise<void>): Promise<void> {
      const { path, tolerates, ...options }: Where = typeof where === 'string' ? { path: where } : where;
      const permissions = ['clipboard-read', 'clipboard-write'];
      const { page, faults, foreign, close } = await visitor(browser, [gateway.url], { permissions, ...options });
      try {
        await page.goto(gateway.url + path);
        await work(page);
        expect([...faults, ...foreign].filter((fault) => tolerates?.test(fault) !== true)).toEqual([]);
      } finally {
        await close();
      }
    },
  };
}

/* The form above the reference and the explorer. */

export const keyForm = (page: Page): Locator => page.getByRole('form', { name: 'API key' });

/** Enters a key and waits until the gateway has identified its owner. */
export async function enterKey(page: Page, key: string): Promise<void> {
  await keyForm(page).getByLabel('API key').fill(key);
  await page.keyboard.press('Enter');
  await says(keyForm(page), 'Northwind Traders');
}

/** What a program prints for this input; not synchronously, since the gateway is in the same process. */
export async function output(
  [program, ...args]: readonly [string, ...string[]],
  input: string,
  environment: Record<string, string>,
): Promise<string> {
  const { closed, said } = launch(program, args, { env: { NO_PROXY: '127.0.0.1', ...environment }, input });
  await closed;
  return said();
}
