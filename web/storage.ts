/* What a page keeps in this browser. A browser may block that: then nothing is kept. */

type Storages = 'localStorage' | 'sessionStorage';

export function stored(storage: Storages, name: string): string | null {
  try {
    return window[storage].getItem(name);
  } catch {
    return null;
  }
}

/** Keeps a text; without one, what was kept is removed. */
export function store(storage: Storages, name: string, text?: string): void {
  try {
    if (text === undefined) window[storage].removeItem(name);
    else window[storage].setItem(name, text);
  } catch {
    // not kept
  }
}
