import type { Locator, Page } from 'playwright-core';
import { button } from '../../support/browser';

/* GraphiQL in a browser. */

export async function ready(page: Page): Promise<void> {
  await page.waitForSelector('.graphiql-query-editor textarea[aria-label]', { state: 'attached' });
}

export async function write(editor: Locator, text: string): Promise<void> {
  await editor.locator('.CodeMirror').evaluate((element: unknown, value) => {
    (element as { CodeMirror: { setValue(value: string): void } }).CodeMirror.setValue(value);
  }, text);
}

export const written = (editor: Locator): Promise<string> =>
  editor.locator('.CodeMirror').evaluate((element: unknown) => {
    return (element as { CodeMirror: { getValue(): string } }).CodeMirror.getValue();
  });

export const query = (page: Page): Locator => page.locator('.graphiql-query-editor');
export const headers = (page: Page): Locator => page.locator('.graphiql-editor-tool .graphiql-editor:nth-child(2)');
export const response = (page: Page): Locator => page.locator('.graphiql-response');
export const run = (page: Page): Promise<void> => page.locator('.graphiql-execute-button').click();

/** Enters a key where visitors of other tools expect it. */
export async function writeKey(page: Page, key: string): Promise<void> {
  await write(headers(page), JSON.stringify({ Authorization: `Bearer ${key}` }));
}

/** Closes a tab, which must be the current one. */
export async function close(page: Page, name: string): Promise<void> {
  const tab = page.locator('.graphiql-tab', { has: button(page, name) });
  await button(page, name).click();
  await tab.getByRole('button', { name: 'Close Tab' }).click();
  await tab.waitFor({ state: 'detached' });
}

export async function openDocs(page: Page, ...path: string[]): Promise<Locator> {
  await page.getByLabel('Show Documentation Explorer').click();
  const docs = page.locator('.graphiql-doc-explorer');
  for (const name of path) await docs.getByRole('link', { name, exact: true }).first().click();
  return docs;
}
