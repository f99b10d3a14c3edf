/** What gives each button its label again. */
const timers = new WeakMap<HTMLElement, ReturnType<typeof setTimeout>>();

/** Copies `text`; where the browser refuses, selects `source`, which shows it. `button` says what happened. Resolves with whether it was copied. */
export async function copy(button: HTMLElement, text: string, source: () => Node): Promise<boolean> {
  // a second press finds the button saying "Copied"
  const label = (button.dataset.label ??= button.textContent);
  let isCopied = true;
  try {
    // undefined except on https and loopback
    await navigator.clipboard.writeText(text);
  } catch {
    isCopied = false;
    getSelection()?.selectAllChildren(source());
  }
  button.textContent = isCopied ? 'Copied' : 'Press Ctrl+C';
  clearTimeout(timers.get(button));
  timers.set(
    button,
    setTimeout(() => (button.textContent = label), 3000),
  );
  return isCopied;
}
