import { type ComponentChildren, type JSX, render } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { copy } from '../copy';
import { Notice } from './notices';
import { byId } from './page';

/* Modal dialogs, one at a time. Esc and Back close them, but never one whose secret cannot be shown again. */

export interface Shown {
  readonly Content: () => JSX.Element;
  /** Whether only its own button closes it, since what it shows would be lost. */
  readonly isKept?: boolean;
  /** Whether it is shown as a panel at the side. */
  readonly isAside?: boolean;
  /** Called once it is closed. */
  readonly closed?: () => void;
}

interface State {
  readonly isDialog?: boolean;
}

let shown: Shown | undefined;
/** How many dialogs were opened: each is drawn from scratch. */
let count = 0;
/** What had the focus before a dialog was opened. */
let opener: HTMLElement | null = null;
/** Whether the page itself is going back in the history, after a dialog was closed. */
let isLeaving = false;

const isDialogState = (): boolean => (history.state as State | null)?.isDialog === true;
const noteDialog = (isDialog: boolean): object => ({ ...(history.state as State | null), isDialog });
const active = (): HTMLElement | null => document.activeElement as HTMLElement | null;

// a history entry left from before the page was reloaded
if (isDialogState()) history.replaceState(noteDialog(false), '');

/** Whether a dialog is open (somebody may be typing in it), or whether this one is. */
export const isOpen = (dialog = shown): boolean => dialog !== undefined && shown === dialog;

/** Opens a dialog instead of the one before, with a history entry of its own, so that Back closes it; does nothing while one is open that only its own button closes. */
export function open(dialog: Shown): void {
  if (shown?.isKept) return;
  const before = shown;
  if (!isDialogState()) history.pushState(noteDialog(true), '');
  if (!shown) opener = active();
  shown = dialog;
  count += 1;
  redraw();
  before?.closed?.();
}

/** Closes the open dialog, unless only its own button may. */
export function close(): void {
  if (shown?.isKept !== true) remove();
}

/** Closes the open dialog, of whatever kind, and removes it from the page. */
function remove(): void {
  if (!shown) return;
  const { closed } = shown;
  shown = undefined;
  redraw();
  opener?.focus();
  if (active() === document.body) opener?.closest('section')?.querySelector<HTMLElement>('[tabindex="-1"]')?.focus();
  closed?.();
  setTimeout(() => {
    // unless another dialog or page was opened in its place
    if (shown || !isDialogState()) return;
    isLeaving = true;
    history.back();
  });
}

/** Draws the open dialog anew. */
export function redraw(): void {
  render(shown ? <Modal key={count} of={shown} /> : null, byId('dialogs'));
}

function Modal({ of: dialog }: { of: Shown }): JSX.Element {
  const { Content, isKept, isAside } = dialog;
  const place = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => place.current?.showModal(), []);
  const stay = (event: Event): void => {
    // browsers that do not know closedby close a dialog on the second Esc even if `cancel` is prevented
    if (isKept && (event.type === 'cancel' || (event as KeyboardEvent).key === 'Escape')) event.preventDefault();
  };
  return (
    <dialog
      aria-labelledby="dialog-title"
      class={isAside ? 'aside' : undefined}
      closedby={isKept ? 'none' : isAside ? 'any' : undefined}
      data-kept={isKept}
      onCancel={stay}
      onKeyDown={stay}
      onClose={() => {
        if (isOpen(dialog)) remove();
      }}
      ref={place}
    >
      <Content />
    </dialog>
  );
}

/** The contents of a dialog that asks nothing: its title, and a button that closes it. */
export function Sheet(props: { title: ComponentChildren; button: string; children: ComponentChildren }): JSX.Element {
  return (
    <div class="sheet">
      <h2 id="dialog-title">{props.title}</h2>
      {props.children}
      <p class="foot buttons">
        <button class="button" type="button" onClick={remove}>
          {props.button}
        </button>
      </p>
    </div>
  );
}

interface CopyableProps {
  /** Its name for assistive technology. */
  readonly name: string;
  readonly text: string;
  /** Whether copying the text is the first thing to do in a dialog. */
  readonly isFirst?: boolean;
}

/** A text with a button that copies it, or selects it if the browser refuses to copy. */
export function Copyable({ name, text, isFirst = false }: CopyableProps): JSX.Element {
  const [isRefused, setRefused] = useState(false);
  const source = useRef<HTMLPreElement>(null);
  const press = async (button: HTMLElement): Promise<void> => {
    setRefused(!(await copy(button, text, () => source.current ?? button)));
  };
  return (
    <>
      <div class="command">
        <pre tabIndex={0} aria-label={name} ref={source}>
          <code>{text}</code>
        </pre>
        <button
          class={`button ${isFirst ? 'primary' : ''}`}
          type="button"
          autofocus={isFirst}
          onClick={({ currentTarget }) => void press(currentTarget)}
        >
          Copy
        </button>
      </div>
      {isRefused && (
        <p class="fault" role="alert">
          The browser did not let the page copy. The text is selected: press Ctrl+C or ⌘C.
        </p>
      )}
    </>
  );
}

/** Shows a one-time secret in a dialog that only its button closes. While another dialog is open, a notice with a button says that it is ready. */
export function showSecret(text: string, button: string, Content: () => JSX.Element): void {
  const show = (): void => open({ Content, isKept: true });
  if (!isOpen()) {
    show();
    return;
  }
  const does = (): void => {
    notice.remove();
    show();
  };
  const notice = new Notice({ text, asks: true, button: { text: button, does } });
}

/** What has the focus, or had it before a dialog was opened. */
export const focused = (): HTMLElement | null => (shown ? opener : active());

/** Gives an element the focus, now or when the dialog is closed. */
export function moveFocus(element: HTMLElement | null | undefined): void {
  opener = element ?? null;
  if (!shown) element?.focus();
}

addEventListener('popstate', () => {
  const wasLeaving = isLeaving;
  isLeaving = false;
  if (!shown || isDialogState()) return;
  if (wasLeaving || shown.isKept) history.pushState(noteDialog(true), '');
  else close();
});

addEventListener('beforeunload', (event) => {
  // a secret, or the outcome of work in progress, would be lost
  if (shown?.isKept || document.querySelector('[data-unsaved="asks"]')) event.preventDefault();
});
