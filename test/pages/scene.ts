import type { Locator, Page } from 'playwright-core';
import { launch } from '../examples/run';
import { type Look, says, useBrowser } from '../support/browser';
import { makeKey, makeNorthwind } from '../support/factories';
import { late, served } from '../support/gateway';

/** What the browser logs about answers that are errors, and requests that the test makes fail. */
export const BROKEN = /Failed to load resource|ERR_/;

/** A gateway with some rows of Northwind and a key with all scopes, and a browser to visit it, for the tests of a file or describe. */
export function pagesScene(environment: Record<string, string> = {}) {
  const gateway = served({ INTROSPECTION: 'public', ...environment });
  const organisation = late(() => makeNorthwind(gateway, 20));
  const made = late(() => makeKey(gateway, organisation));
  const open = useBrowser();
  return {
    ...{ gateway, organisation },
    get key(): string {
      return made.key;
    },
    async visit(where: string | ({ readonly path: string } & Look)): Promise<Page> {
      const { path, ...look } = typeof where === 'string' ? { path: where } : where;
      const page = await open([gateway.url], look);
      await page.goto(gateway.url + path);
      return page;
    },
  };
}

/* The form above the reference and the explorer. */

export const keyForm = (page: Page): Locator => page.getByRole('form', { name: 'API key' });

/** Enters a key and waits until the gateway has identified its owner. */
export async function enterKey(page: Page, key: string): Promise<void> {
  await keyForm(page).getByLabel('API key').fill(key);
  // Enter does nothing before
  await keyForm(page).getByRole('button', { name: 'Use key', disabled: false }).waitFor();
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
