const TEXT = { type: 'text/plain' };
/** What gives each button its label again. */
const timers = new WeakMap<HTMLElement, ReturnType<typeof setTimeout>>();

/**
 * Copies `text`; where the browser refuses, or there is no text, selects `source`, which shows it. `button` says what happened. Resolves with
 * whether it was copied.
 */
export async function copy(button: HTMLElement, text: string | Promise<string>, source: () => Node): Promise<boolean> {
  // a second press finds the button saying "Copied"
  const label = (button.dataset.label ??= button.textContent);
  let isCopied = true;
  try {
    // undefined except on https and loopback
    const { clipboard } = navigator;
    if (typeof text === 'string') await clipboard.writeText(text);
    // Safari refuses what is written some time after the press, but takes a promise during it
    else await clipboard.write([new ClipboardItem({ 'text/plain': text.then((read) => new Blob([read], TEXT)) })]);
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
