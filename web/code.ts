import { GATEWAY } from './base';
import { copy } from './copy';

/* Samples in pages: the gateway's address, and the copy buttons. */

for (const place of document.querySelectorAll('[data-origin]')) place.textContent = GATEWAY;

for (const button of document.querySelectorAll<HTMLElement>('[data-copy]')) {
  button.hidden = false;
  button.addEventListener('click', () => {
    const blocks = [...(button.closest('.code')?.querySelectorAll('pre') ?? [])];
    // the one of the language that is chosen
    const shown = blocks.find((block) => block.checkVisibility());
    // "copied" also where the browser refused: the visitor copies what is then selected
    if (shown) void copy(button, shown.textContent, () => shown).then(() => button.dispatchEvent(new Event('copied')));
  });
}
