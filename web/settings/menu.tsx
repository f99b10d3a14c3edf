import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

/* A button that opens a menu of actions (the menu button of WAI-ARIA's practices). */

export interface Item {
  readonly text: string;
  readonly does: () => unknown;
  readonly isDangerous?: boolean;
}

type Toggle = Pick<ToggleEvent, 'newState'>;

/** The menu's distances from its button and from the edge of the window, and the approximate height of an item, in pixels. */
const [GAP, MARGIN, ITEM] = [4, 16, 40];
const MOVES = ['scroll', 'resize'];

export function Menu({ label, items }: { label: string; items: readonly Item[] }): JSX.Element {
  const button = useRef<HTMLButtonElement>(null);
  const menu = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  useLayoutEffect(() => {
    if (button.current) button.current.popoverTargetElement = menu.current;
  });
  const entries = (): HTMLElement[] => [...(menu.current?.querySelectorAll('button') ?? [])];
  const close = (): void => menu.current?.hidePopover();

  /** Puts the menu beside its button. */
  const place = (): void => {
    if (!button.current || !menu.current) return;
    const { top, bottom, left, right } = button.current.getBoundingClientRect();
    const { clientWidth: width } = document.documentElement;
    const height = items.length * ITEM;
    const isBelow = bottom + GAP + height <= innerHeight || top < height;
    const isLeft = left + right < width;
    const { style } = menu.current;
    style.left = isLeft ? `${left}px` : 'auto';
    style.maxWidth = `${(isLeft ? width - left : right) - MARGIN}px`;
    style.right = isLeft ? 'auto' : `${width - right}px`;
    style.top = isBelow ? `${bottom + GAP}px` : 'auto';
    style.bottom = isBelow ? 'auto' : `${innerHeight - top + GAP}px`;
  };
  const toggling = ({ newState }: Toggle): void => {
    if (newState === 'open') place();
  };
  const toggled = ({ newState }: Toggle): void => {
    setOpen(newState === 'open');
    if (newState === 'open' && !menu.current?.contains(document.activeElement))
      entries()[0]?.focus({ preventScroll: true });
  };
  useEffect(() => {
    if (!isOpen) return;
    // its button may move, even by a scroll that began before the menu opened, or in a list that scrolls separately
    const options = { capture: true, passive: true };
    for (const event of MOVES) addEventListener(event, place, options);
    return () => {
      for (const event of MOVES) removeEventListener(event, place, options);
    };
  });
  const openBy = (event: KeyboardEvent): void => {
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
    event.preventDefault();
    menu.current?.showPopover();
    entries()
      .at(event.key === 'ArrowDown' ? 0 : -1)
      ?.focus();
  };
  const move = (event: KeyboardEvent): void => {
    const all = entries();
    const at = all.indexOf(document.activeElement as HTMLElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      all.at(to % all.length)?.focus();
    } else if (event.key === 'Tab') {
      // Tab continues from the button
      close();
    } else if (event.key.length === 1) {
      const isMatch = ({ textContent }: HTMLElement): boolean =>
        textContent.toLowerCase().startsWith(event.key.toLowerCase());
      [...all.slice(at + 1), ...all].find(isMatch)?.focus();
    }
  };
  return (
    <div>
      <button
        class="button menu-button"
        type="button"
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-label={label}
        ref={button}
        onKeyDown={openBy}
      >
        ⋯
      </button>
      <div
        class="menu"
        role="menu"
        popover="auto"
        aria-label={label}
        ref={menu}
        onBeforeToggle={toggling}
        onToggle={toggled}
        onKeyDown={move}
      >
        {items.map(({ text, does, isDangerous }) => (
          <button
            key={text}
            class={isDangerous ? 'bad' : undefined}
            type="button"
            role="menuitem"
            tabIndex={-1}
            onClick={() => {
              close();
              does();
            }}
          >
            {text}
          </button>
        ))}
      </div>
    </div>
  );
}
