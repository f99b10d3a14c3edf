import './guides.css';
import { at, GATEWAY } from './base';
import './code';
import { copy } from './copy';
import './search';

/* Guides and error pages: copies a guide as Markdown, with this gateway's address in its links and requests. */

const SAMPLE = 'http://127.0.0.1:4000';

for (const button of document.querySelectorAll<HTMLElement>('[data-markdown]')) {
  button.hidden = false;
  button.addEventListener('click', () => void copyMarkdown(button));
}

async function copyMarkdown(button: HTMLElement): Promise<void> {
  const address = at(button.dataset.markdown ?? '');
  const article = (): Element => button.closest('article') ?? button;
  try {
    const answer = await fetch(address);
    if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
    const text = await answer.text();
    await copy(button, text.replaceAll(SAMPLE, GATEWAY).replaceAll('](/', `](${GATEWAY}/`), article);
  } catch {
    // there it can be copied once the gateway answers again
    location.assign(address);
  }
}
