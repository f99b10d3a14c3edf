import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';

const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
/** Passes, of which there are thousands, are neither created nor transferred, which halves the time. */
const RUN = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
  violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html.slice(0, 300))]))`;

/** The violations that axe-core finds in the page's current state, each with its elements. */
export async function violationsOf(page: Page): Promise<unknown[]> {
  const isThere = await page.evaluate('typeof axe === "object"');
  return page.evaluate(isThere === true ? RUN : `${AXE}; ${RUN}`);
}

/** How much wider the page is than the window, in pixels. */
export function overflowOf(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth - innerWidth');
}
