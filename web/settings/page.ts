/** @throws Error if the page has no such element */
export function byId(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (!element) throw new Error(`a page without ${id}`);
  return element;
}

/** How long a message is shown, in milliseconds. */
const SAID = 8000;
let saying: number | undefined;

/** Announces what was done, to screen readers too. */
export function say(sentence: string): void {
  byId('said').textContent = sentence;
  clearTimeout(saying);
  if (sentence !== '') saying = setTimeout(say, SAID, '');
}

/** Moves the focus to the title of the shown page. */
export function focusTitle(): void {
  document.querySelector<HTMLElement>('[data-page]:not([hidden]) h1')?.focus();
}
