/* Lists that are read page by page. */

/**
 * Wires the button under a list, which reads on after the page that was shown last: `read(cursor)` reads a page, `rowsOf(page)` makes what is
 * added to `rows`, and `attempt` and `place` say what failed (newest() in api.js). Returns what to call with a page once it is shown; after each,
 * `shown()` is called.
 */
export function readsOn(more, { attempt, place, read, rows, rowsOf, shown = () => undefined }) {
  let next = null;

  function follow(page) {
    next = page.next_cursor;
    more.hidden = next === null;
    shown();
  }

  /** `event` if somebody asked for it: what is read again by itself takes no focus. */
  async function readOn(event) {
    const page = await attempt(() => read(next), place, readOn);
    if (!page) return;
    const added = rowsOf(page);
    rows.append(...added);
    follow(page);
    if (event) focusOn(added[0]);
  }

  more.addEventListener('click', (event) => busyWhile(more, () => readOn(event)));
  return follow;
}

/** The button may be hidden now, so the focus moves to the first row that was added, or the first link or button in it. */
function focusOn(row) {
  const control = row?.querySelector('a[href], button');
  if (!control) row?.setAttribute('tabindex', '-1');
  (control ?? row)?.focus();
}

/** Does what a button was pressed for; meanwhile pressing it again does nothing. It is not disabled, which would take the focus. */
export async function busyWhile(button, work) {
  if (button.ariaDisabled === 'true') return;
  button.ariaDisabled = 'true';
  try {
    await work();
  } finally {
    button.ariaDisabled = 'false';
  }
}
