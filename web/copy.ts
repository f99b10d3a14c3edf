/** Copies `text`; where the browser refuses, selects `source`, which shows it. `button` says what happened. */
export async function copy(button: HTMLElement, text: string, source: () => Node): Promise<void> {
  // a second press finds the button saying "Copied"
  const label = (button.dataset.label ??= button.textContent);
  try {
    // undefined except on https and loopback
    await navigator.clipboard.writeText(text);
    button.textContent = 'Copied';
  } catch {
    getSelection()?.selectAllChildren(source());
    button.textContent = 'Press Ctrl+C';
  }
  setTimeout(() => (button.textContent = label), 3000);
}
