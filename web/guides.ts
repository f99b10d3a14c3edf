import './guides.css';
import { at, GATEWAY } from './base';
import './code';
import { copy } from './copy';
import './search';

/* Guides and error pages: copies a guide as Markdown, with this gateway's address in its links and requests. */

const SAMPLE = 'http://127.0.0.1:4000';
/** How long the gateway may take to answer, in milliseconds. */
const WITHIN = 10_000;

for (const button of document.querySelectorAll<HTMLElement>('[data-markdown]')) {
  button.hidden = false;
  button.addEventListener('click', () => void copyMarkdown(button));
}

async function copyMarkdown(button: HTMLElement): Promise<void> {
  const address = at(button.dataset.markdown ?? '');
  const isCopied = await copy(button, read(address), () => button);
  // there it can be copied by hand, or once the gateway answers again
  if (!isCopied) location.assign(address);
}

/** @throws Error */
async function read(address: string): Promise<string> {
  const answer = await fetch(address, { signal: AbortSignal.timeout(WITHIN) });
  if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
  return (await answer.text()).replaceAll(SAMPLE, GATEWAY).replaceAll('](/', `](${GATEWAY}/`);
}
