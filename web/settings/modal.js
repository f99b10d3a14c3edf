import { failureOf } from './api';
import { byId, showFailure } from './dom';
import { clearFault, clearFaults, showFaults } from './faults';
import { failureNotice, openNotice } from './notices';

/* Modal dialogs. Esc and Back close them, but never one whose secret cannot be shown again (`data-kept`). */

/** After how long a dialog says that it still waits, in milliseconds. */
const SLOW = 4000;
/** Whether the page itself goes back, after a dialog was closed. */
let isLeaving = false;
/** What had the focus before a dialog was opened. */
let opener;

/** The open dialog; of several, one that must stay. */
const shown = () => document.querySelector('dialog[open][data-kept]') ?? document.querySelector('dialog[open]');

/** Whether a dialog is open, in which somebody may be typing. */
export const isDialogOpen = () => shown() !== null;

// left from before the page was loaded again
if (history.state?.isDialog) history.replaceState({ ...history.state, isDialog: false }, '');

/** Opens a dialog, with an entry in the history for Back to leave. */
export function show(dialog) {
  if (!history.state?.isDialog) history.pushState({ ...history.state, isDialog: true }, '');
  if (!shown()) opener = document.activeElement;
  dialog.showModal();
}

/** Opens a dialog with a secret; `forget` removes it from the page before the dialog is gone, which `close` tells only afterwards. */
export function showSecretDialog(dialog, forget) {
  dialog.querySelector('form').addEventListener('submit', forget, { once: true });
  dialog.addEventListener('close', forget, { once: true });
  show(dialog);
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
  opener = same || near || place.closest('section, [data-page]')?.querySelector('[tabindex="-1"]');
  if (!shown()) opener?.focus();
}

/** What has the focus, or had it before a dialog was opened. */
export const focused = () => (shown() ? opener : document.activeElement);

/** Gives an element the focus, now or when the dialog is closed. */
export function moveFocus(element) {
  opener = element;
  if (!shown()) element?.focus();
}

/** Gives the focus to what had it before, or to the title above if that is hidden by now. */
function refocus() {
  opener?.focus();
  if (document.activeElement === document.body)
    opener?.closest('section, [data-page]')?.querySelector('[tabindex="-1"]')?.focus();
}

for (const dialog of document.querySelectorAll('dialog')) {
  dialog.addEventListener('close', () => {
    // not if it was replaced by another
    if (shown()) return;
    // the browser gives it back to what had it, unless that is no longer there
    const { activeElement: focused } = document;
    if (focused === document.body || dialog.contains(focused)) refocus();
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
  if (isOurs || 'kept' in dialog.dataset) history.pushState({ ...history.state, isDialog: true }, '');
  else dialog.close();
});

addEventListener('beforeunload', (event) => {
  // a key would be lost
  if (document.querySelector('dialog[open][data-kept], [data-unsaved="asks"]')) event.preventDefault();
});

/**
 * Opens a dialog whose main button runs `work(data)`, with what was entered, once at a time. Then it is closed, and what `work` resolved with is
 * called, also if the dialog was closed or opened again meanwhile. If `work` fails, the dialog stays open and shows why: at the
 * fields if each fault has a place there, named by the first part of its pointer. If `isOver(failure)`, there is no trying again.
 * When the dialog is closed, `closed(isRunning)` is called; while it runs a notice says `doing(data)`, and then its failure, or what `late(failure, notice)`
 * sets. Without `doing` such a failure is shown at the top of the page. The notice `asks` before the page is left. Returns whether the dialog is still open
 * for this work.
 */
export function ask(dialog, work, { doing, asks, late, isOver, closed } = {}) {
  const [failure, slow, button, form, cancel] = [
    '[data-failure]',
    '[data-slow]',
    '[data-do]',
    'form',
    '[value="cancel"]',
  ].map((selector) => dialog.querySelector(selector));
  const opening = {};
  dialog.opening = opening;
  const isHere = () => dialog.open && dialog.opening === opening;
  let isRunning = false;
  let text;
  let notice;
  showFailure(failure);
  clearFaults(dialog);
  slow.textContent = '';
  button.hidden = false;
  button.ariaDisabled = 'false';
  button.onclick = async () => {
    if (isRunning || button.hidden || !form.reportValidity()) return;
    showFailure(failure);
    clearFaults(dialog);
    isRunning = true;
    // a disabled button would lose the focus
    button.ariaDisabled = 'true';
    const timer = setTimeout(() => {
      if (isHere()) slow.textContent = 'The gateway takes its time; still waiting.';
    }, SLOW);
    const data = new FormData(form);
    text = doing?.(data);
    try {
      const next = await work(data);
      isRunning = false;
      notice?.remove();
      if (isHere()) dialog.close();
      next?.();
    } catch (error) {
      isRunning = false;
      fail(failureOf(error));
    } finally {
      clearTimeout(timer);
      if (dialog.opening === opening) {
        slow.textContent = '';
        button.ariaDisabled = 'false';
      }
    }
  };
  form.oninput = clearFault;
  // Enter in a field presses the main button, not Cancel
  form.onkeydown = (event) => {
    if (event.key !== 'Enter' || event.target.localName !== 'input') return;
    event.preventDefault();
    button.click();
  };

  function fail(shownError) {
    if (!isHere()) {
      if (notice) (late ?? failureNotice)(shownError, notice);
      else showFailure(byId('failure'), shownError);
    } else if (!showFaults(dialog, shownError)) {
      showFailure(failure, shownError);
      button.hidden = isOver?.(shownError) ?? false;
      const focused = dialog.querySelector(':focus');
      if (button.hidden) cancel.focus();
      else if (!focused || focused.matches(':disabled')) button.focus();
    }
  }

  const close = () => {
    if (isRunning && text) notice = openNotice({ text, asks });
    closed?.(isRunning);
  };
  dialog.addEventListener('close', close, { once: true });
  show(dialog);
  return isHere;
}
