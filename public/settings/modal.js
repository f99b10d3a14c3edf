import { failureOf, sentence } from './api.js';
import { byId, showFailure } from './dom.js';

/* Modal dialogs. Esc and Back close them, but never one whose secret cannot be shown again (`data-kept`). */

/** After how long a dialog says that it still waits, in milliseconds. */
const SLOW = 4000;
/** Whether the page itself goes back, after a dialog was closed. */
let isLeaving = false;
/** What had the focus before a dialog was opened. */
let opener;

/** The open dialog; of several, one that must stay. */
const shown = () => document.querySelector('dialog[open][data-kept]') ?? document.querySelector('dialog[open]');

// left from before the page was loaded again
if (history.state?.isDialog) history.replaceState(null, '');

/** Opens a dialog, with an entry in the history for Back to leave. */
export function show(dialog) {
  if (!history.state?.isDialog) history.pushState({ isDialog: true }, '');
  if (!shown()) opener = document.activeElement;
  dialog.showModal();
}

/**
 * Draws the contents of a place anew. If its focus would be lost, now or when the dialog is closed, the element with the same `data-focus`
 * gets it, else the row that is in the same place, else the heading.
 */
export function redraw(place, contents) {
  const before = shown() ? opener : document.activeElement;
  const row = before?.closest('tr');
  const at = [...place.children].indexOf(row);
  const isInside = place.contains(before);
  place.replaceChildren(...contents);
  if (!isInside) return;
  const { focus } = before.dataset;
  const same = focus && place.querySelector(`[data-focus="${CSS.escape(focus)}"]`);
  const near = row && (place.children[at] ?? place.lastElementChild)?.querySelector('td:last-child button');
  opener = same || near || place.closest('section, #endpoint')?.querySelector('[tabindex="-1"]');
  if (!shown()) opener?.focus();
}

for (const dialog of document.querySelectorAll('dialog')) {
  dialog.addEventListener('close', () => {
    // not if it was replaced by another
    if (shown()) return;
    // the browser gives it back to what had it, unless that is no longer there
    const { activeElement: focused } = document;
    if (focused === document.body || dialog.contains(focused)) opener?.focus();
    if (!history.state?.isDialog) return;
    isLeaving = true;
    history.back();
  });
  if (!('kept' in dialog.dataset)) continue;
  dialog.addEventListener('cancel', (event) => event.preventDefault());
  // the second Esc closes a dialog whatever `cancel` says, in browsers that do not know closedby
  dialog.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') event.preventDefault();
  });
}

addEventListener('popstate', () => {
  const dialog = shown();
  const isOurs = isLeaving;
  isLeaving = false;
  if (!dialog || history.state?.isDialog) return;
  if (isOurs || 'kept' in dialog.dataset) history.pushState({ isDialog: true }, '');
  else dialog.close();
});

addEventListener('beforeunload', (event) => {
  if ('kept' in (shown()?.dataset ?? {})) event.preventDefault();
});

/**
 * Opens a dialog whose main button runs `work(data)`, with what was entered, once at a time. Then it is closed, and what `work` resolved with is
 * called, also if the dialog was closed or opened again meanwhile. If `work` fails, the dialog stays open and shows why: at the
 * fields if each fault has a place there, named by the first part of its pointer. A failure after it was closed is shown at the
 * top of the page. Returns whether the dialog is still open for this work.
 */
export function ask(dialog, work) {
  const [failure, slow, button, form] = ['[data-failure]', '[data-slow]', '[data-do]', 'form'].map((selector) =>
    dialog.querySelector(selector),
  );
  const opening = {};
  dialog.opening = opening;
  const isHere = () => dialog.open && dialog.opening === opening;
  showFailure(failure);
  clearFaults(dialog);
  slow.textContent = '';
  button.disabled = false;
  button.onclick = async () => {
    // scripts can click a disabled button
    if (button.disabled || !form.reportValidity()) return;
    showFailure(failure);
    clearFaults(dialog);
    button.disabled = true;
    const timer = setTimeout(() => {
      if (isHere()) slow.textContent = 'The gateway takes its time; still waiting.';
    }, SLOW);
    try {
      const next = await work(new FormData(form));
      if (isHere()) dialog.close();
      next?.();
    } catch (error) {
      const shownError = failureOf(error);
      if (!isHere()) showFailure(byId('failure'), shownError);
      else if (!showFaults(dialog, shownError)) {
        showFailure(failure, shownError);
        button.scrollIntoView({ block: 'nearest' });
      }
    } finally {
      clearTimeout(timer);
      if (dialog.opening === opening) {
        slow.textContent = '';
        button.disabled = false;
      }
    }
  };
  // Enter in a field presses the main button, not Cancel
  form.onkeydown = (event) => {
    if (event.key !== 'Enter' || event.target.localName !== 'input') return;
    event.preventDefault();
    button.click();
  };
  show(dialog);
  return isHere;
}

function clearFaults(dialog) {
  for (const place of dialog.querySelectorAll('[data-fault]')) showFailure(place);
  for (const field of dialog.querySelectorAll('[aria-invalid]')) field.removeAttribute('aria-invalid');
}

/** Shows the faults of a failure at their fields; returns whether each has a place. */
function showFaults(dialog, { faults }) {
  const placed = faults.map((fault) => ({
    place: dialog.querySelector(`[data-fault="${CSS.escape(fault.pointer.split('/')[1] ?? '')}"]`),
    detail: fault.detail,
  }));
  if (placed.length === 0 || placed.some(({ place }) => !place)) return false;
  for (const { place, detail } of placed) {
    const message = `${place.hidden ? '' : `${place.textContent} `}${sentence(detail)}`;
    showFailure(place, { message });
    const field = dialog.querySelector(`[aria-describedby~="${place.id}"]`);
    field.setAttribute('aria-invalid', 'true');
  }
  const first = dialog.querySelector('[aria-invalid]');
  const field = first.matches('fieldset')
    ? (first.querySelector('input:checked') ?? first.querySelector('input'))
    : first;
  field.focus();
  return true;
}
