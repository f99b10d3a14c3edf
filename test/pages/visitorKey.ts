import type { Locator, Page } from 'playwright-core';

/* The form above the reference and the explorer. */

export const keyForm = (page: Page): Locator => page.getByRole('form', { name: 'API key' });

/** Enters a key and waits until the gateway has identified its owner. */
export async function enterKey(page: Page, key: string): Promise<void> {
  await keyForm(page).getByLabel('API key').fill(key);
  await page.keyboard.press('Enter');
  await keyForm(page).getByText('Northwind Traders').waitFor();
}
