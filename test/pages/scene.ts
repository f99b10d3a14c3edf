import type { Browser, Page } from 'playwright-core';
import type { Organisation } from '../../src/auth/principal';
import { openBrowser, visitor } from '../support/browser';
import { makeKey, makeNorthwind } from '../support/factories';
import { startGateway, type TestGateway } from '../support/gateway';

export { overflowOf as overflow, violationsOf as violations } from '../support/axe';

/** A gateway with some rows of Northwind and a key with all scopes, and a browser to visit it. */
export interface PagesScene {
  readonly gateway: TestGateway;
  readonly organisation: Organisation;
  readonly key: string;
  /** Opens a page, runs `work`, and returns what went wrong in the browser. */
  visit(path: string, work: (page: Page) => Promise<void>, options?: Parameters<typeof visitor>[2]): Promise<Outcome>;
  close(): Promise<void>;
}

interface Outcome {
  /** Console errors and exceptions. */
  readonly faults: string[];
  /** URLs of other hosts that the page asked for. */
  readonly foreign: string[];
}

export async function openScene(environment: Record<string, string> = {}): Promise<PagesScene> {
  const gateway = await startGateway({ INTROSPECTION: 'public', ...environment });
  const organisation = await makeNorthwind(gateway, 20);
  const { key } = await makeKey(gateway, organisation);
  const browser: Browser = await openBrowser();
  return {
    ...{ gateway, organisation, key },
    async visit(path, work, options = {}) {
      const { page, faults, foreign, close } = await visitor(browser, [gateway.url], options);
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
