import { useRef, useState } from 'preact/hooks';

/**
 * One stop of the Tab key among many marks, from which the arrow keys, Home and End lead to the others. `first` is where the key stops until
 * a mark has had the focus; of one beyond the `count` marks, at the last. `show` gets the mark that has the focus; Escape hides it.
 */
export function useTabStop<List extends HTMLElement>(
  count: number,
  first: number,
  show: (index: number | undefined) => void,
) {
  /** The element that has the marks. */
  const list = useRef<List>(null);
  const [stop, stopAt] = useState(first);
  const last = count - 1;
  const attributesOf = (index: number) => ({
    tabIndex: index === Math.min(stop, last) ? 0 : -1,
    onFocus() {
      stopAt(index);
      show(index);
    },
    onBlur: () => show(undefined),
    onKeyDown(event: KeyboardEvent) {
      if (event.key === 'Escape') show(undefined);
      const to = { ArrowLeft: index - 1, ArrowRight: index + 1, Home: 0, End: last }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      list.current?.querySelectorAll<HTMLElement>('[tabindex]')[to]?.focus();
    },
  });
  return { list, attributesOf };
}
