import type { ComponentChildren, JSX } from 'preact';
import { open, redraw, Sheet } from './dialog';
import { Reading } from './list';
import { focusTitle } from './page';
import { Problem } from './parts';
import { isPlain, readdress, returnTo } from './route';

/* One of a list, shown beside it. */

interface Beside<T> {
  readonly id: string;
  /** Its own address, which can be shared. */
  readonly address: string;
  readonly read: () => Promise<T>;
  /** What is known already: it is not read. */
  readonly value: T | undefined;
  /** The title, also of what is not read yet. */
  readonly titleOf: (value: T | undefined) => ComponentChildren;
  readonly view: (value: T) => JSX.Element;
}

/** Opens one of a list beside it. Closing leads back to the list's address, and to its row. */
export function openBeside<T>({ id, address, read, value: known, titleOf, view }: Beside<T>): Reading<T> {
  const reading = new Reading(read, redraw);
  const list = location.href;
  function Content(): JSX.Element {
    const { value, failure, again } = reading;
    return (
      <Sheet title={titleOf(value)} button="Close">
        {!value && !failure && (
          <p class="hint" role="status">
            {reading.isBusy ? 'Loading…' : 'It could not be read yet. This page tries again by itself.'}
          </p>
        )}
        <Problem failure={failure} again={again} />
        {value && !failure && view(value)}
      </Sheet>
    );
  }
  function closed(): void {
    reading.clear();
    returnTo(list);
    // as it was opened by its address
    if (document.activeElement !== document.body) return;
    const link = document.querySelector<HTMLElement>(`[data-page]:not([hidden]) a[href$="${id}"]`);
    if (link) link.focus();
    else focusTitle();
  }
  open({ isAside: true, Content, closed });
  readdress(address);
  if (known) reading.value = known;
  else void reading.load();
  redraw();
  return reading;
}

interface LinkProps {
  readonly href: string;
  readonly title?: string;
  /** Opens it beside the list. */
  readonly show: () => void;
  readonly children: ComponentChildren;
}

/** Links to one of a list. */
export function BesideLink({ href, title, show, children }: LinkProps): JSX.Element {
  return (
    <a
      href={href}
      title={title}
      onClick={(event) => {
        if (!isPlain(event)) return;
        event.preventDefault();
        show();
      }}
    >
      {children}
    </a>
  );
}
