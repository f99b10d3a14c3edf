import type { JSX } from 'preact';
import { open, redraw } from './dialog';
import type { Reading } from './list';
import { readdress, returnTo } from './route';

interface Beside<T> {
  readonly id: string;
  /** Its own address, which can be shared. */
  readonly address: string;
  /** Reads it. */
  readonly reading: Reading<T>;
  /** What is known already. */
  readonly value: T | undefined;
  readonly Content: () => JSX.Element;
}

/** Opens one of a list beside it. Closing leads back to the list's address, and to its row. */
export function openBeside<T>({ id, address, reading, value, Content }: Beside<T>): void {
  const list = location.href;
  const closed = (): void => {
    reading.clear();
    returnTo(list);
    const link = document.querySelector<HTMLElement>(`[data-page]:not([hidden]) a[href$="${id}"]`);
    // as it was opened by its address
    if (document.activeElement === document.body)
      (link ?? document.querySelector<HTMLElement>('[data-page]:not([hidden]) h1'))?.focus();
  };
  open({ isAside: true, Content, closed });
  readdress(address);
  if (value) reading.value = value;
  else void reading.load();
  redraw();
}
