import { createRef, type JSX, render } from 'preact';
import { byId, focusTitle } from './page';

/* Notices above the pages, always in view: about work that outlives its dialog, about its outcome, and about problems of the whole page. */

export interface Link {
  readonly href: string;
  readonly text: string;
  /** Whether the link leads to a page of the settings, in the same tab. */
  readonly isHere?: boolean;
}

interface Content {
  readonly text: string;
  readonly link?: Link | undefined;
  readonly button?: { readonly text: string; readonly does: () => unknown } | undefined;
  /** Whether something is wrong. */
  readonly isAlert?: boolean;
  /** Whether the browser asks before the page is left, since this would be lost. */
  readonly asks?: boolean;
}

const shown = new Set<Notice>();
let count = 0;

export class Notice {
  isBusy = false;
  readonly id = (count += 1);
  readonly place = createRef<HTMLDivElement>();
  readonly text: string;

  constructor(public content: Content) {
    this.text = content.text;
    shown.add(this);
    draw();
  }

  set(content: Content): void {
    this.content = content;
    this.isBusy = false;
    draw();
  }

  /** Does what its button says, unless that is already under way. */
  async press(): Promise<void> {
    if (this.isBusy) return;
    this.isBusy = true;
    draw();
    try {
      await this.content.button?.does();
    } finally {
      this.isBusy = false;
      draw();
    }
  }

  focus(): void {
    this.place.current?.querySelector<HTMLElement>('button, a')?.focus();
  }

  remove(): void {
    const hadFocus = this.place.current?.contains(document.activeElement);
    shown.delete(this);
    draw();
    if (hadFocus) focusTitle();
  }
}

function draw(): void {
  render(
    <>
      {[...shown].map((notice) => (
        <View key={notice.id} of={notice} />
      ))}
    </>,
    byId('notices'),
  );
}

function View({ of: notice }: { of: Notice }): JSX.Element {
  const { text, link, button, isAlert = false, asks = false } = notice.content;
  return (
    <div
      class={isAlert ? 'alert' : 'info'}
      role={isAlert ? 'alert' : 'status'}
      data-unsaved={asks ? 'asks' : undefined}
      ref={notice.place}
    >
      {text} {link && <LinkTo {...link} />}{' '}
      {button && (
        <button class="button" type="button" aria-disabled={notice.isBusy} onClick={() => void notice.press()}>
          {button.text}
        </button>
      )}
    </div>
  );
}

export function LinkTo({ href, text, isHere }: Link): JSX.Element {
  return (
    <a href={href} target={isHere ? undefined : '_blank'}>
      {text}
    </a>
  );
}

/** Turns a notice of running work into one of its failure, until it is dismissed. */
export function failureNotice({ message, link }: { message: string; link?: Link | undefined }, notice: Notice): void {
  const text = `${notice.text.replace(/…$/, ':')} ${message}`;
  notice.set({ text, link, isAlert: true, button: { text: 'Dismiss', does: () => notice.remove() } });
}

const single = new Map<string, Notice>();

/** Shows a problem of the session, the page or the gateway, instead of the one before; undefined clears it. */
export function tell(about: 'session' | 'page' | 'gateway', content?: Content): void {
  const before = single.get(about);
  if (content?.text === before?.content.text) return;
  single.delete(about);
  if (content) single.set(about, new Notice({ isAlert: true, ...content }));
  before?.remove();
}
