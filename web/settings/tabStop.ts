import type { RefObject } from 'preact';
import { useRef, useState } from 'preact/hooks';

/* One stop of the Tab key among many marks, from which the arrow keys, Home and End lead to the others. */

interface TabStop<List extends HTMLElement> {
  /** The element that has the marks. */
  readonly list: RefObject<List | null>;
  /** The `tabIndex` of a mark. */
  readonly tabIndexOf: (index: number) => number;
  /** Called with the mark that gets the focus. */
  readonly stopAt: (index: number) => void;
  /** Moves the focus from a mark. */
  readonly move: (event: KeyboardEvent, index: number) => void;
}

/** `first` is where the Tab key stops until a mark has had the focus; of one beyond the `count` marks, at the last. */
export function useTabStop<List extends HTMLElement>(count: number, first: number): TabStop<List> {
  const list = useRef<List>(null);
  const [stop, stopAt] = useState(first);
  const last = count - 1;
  return {
    list,
    tabIndexOf: (index) => (index === Math.min(stop, last) ? 0 : -1),
    stopAt,
    move(event, index) {
      const to = { ArrowLeft: index - 1, ArrowRight: index + 1, Home: 0, End: last }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      list.current?.querySelectorAll<HTMLElement>('[tabindex]')[to]?.focus();
    },
  };
}
