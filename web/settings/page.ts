/** @throws Error if the page lacks it */
export function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (!found) throw new Error(`a page without ${id}`);
  return found;
}

/** Announces a sentence to screen readers. */
export function say(sentence: string): void {
  byId('said').textContent = sentence;
}

/** Moves the focus to the title of the shown page. */
export function focusTitle(): void {
  document.querySelector<HTMLElement>('[data-page]:not([hidden]) h1')?.focus();
}
