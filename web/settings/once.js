import { call, failureOf } from './api';
import { askChange, reason } from './change';
import { failureNotice, openNotice } from './notices';

/* Dialogs that make a key: if an answer is lost, the same is asked for again with the same Idempotency-Key, so that no key is made that nobody has seen. */

/** 256 random bits in base64url. */
function randomKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

/** An operation that is done at most once, however often it is asked for. */
function onceOnly(operation) {
  const idempotencyKey = randomKey();
  const own = {
    /** What was asked for, if it is not known whether that was done. */
    asked: undefined,
    isRunning: false,
    async run(variables) {
      const asked = own.asked ?? variables;
      own.isRunning = true;
      try {
        const made = await call(operation, asked, idempotencyKey);
        own.asked = undefined;
        return made;
      } catch (error) {
        const { isUnsure, code } = failureOf(error);
        if (isUnsure) own.asked = asked;
        // invalid every time
        else if (code === 'validation_failed') own.asked = undefined;
        throw error;
      } finally {
        own.isRunning = false;
      }
    },
  };
  return own;
}

/**
 * Opens a dialog whose main button asks for `operation` with `variables(data)`. `made` is called with what was made; `doing(name)` and `doubt(name)` say what
 * is going on and, while an answer is missing, what is not known: what was entered cannot be changed then. If the dialog is closed meanwhile, a notice
 * says it. The key is called `name(variables)`, and `changed` is called as in askChange.
 */
export function askOnce(dialog, { operation, variables, name, made, doing, doubt, changed }) {
  const once = onceOnly(operation);
  const fields = [...dialog.querySelector('form').elements].filter((field) => field.name);
  const freeze = (isFrozen) => fields.forEach((field) => (field.disabled = isFrozen));
  const unsure = () => doubt(name(once.asked));
  const late = (failure, notice) =>
    once.asked === undefined ? failureNotice(failure, notice) : tryAgain({ once, unsure, made, notice });
  freeze(false);
  const isHere = askChange(dialog, {
    changed,
    late,
    asks: true,
    isUnsure: () => once.asked !== undefined,
    doing: (data) => doing(once.asked ? name(once.asked) : name(Object.fromEntries(data))),
    doubt: () => `${unsure()} If you try again you get the same key, and no second one is made.`,
    async work(data) {
      const given = once.asked ?? variables(data);
      dialog.dataset.unsaved = 'asks';
      try {
        const result = await once.run(given);
        return () => made(result);
      } catch (error) {
        nameElements(failureOf(error), given);
        throw error;
      } finally {
        const isMissing = once.asked !== undefined;
        if (isHere()) {
          freeze(isMissing);
          if (!isMissing) delete dialog.dataset.unsaved;
        }
      }
    },
    closed(isRunning) {
      delete dialog.dataset.unsaved;
      if (isRunning || once.asked === undefined) return;
      const notice = openNotice({ text: unsure() });
      tryAgain({ once, unsure, made, notice });
      notice.focus();
    },
  });
}

/** Says with each fault of a list's element which one it is about. */
export function nameElements({ faults }, variables) {
  for (const fault of faults) {
    const [, list, at] = (fault.pointer ?? '').split('/');
    const value = at === undefined ? undefined : variables[list]?.[at];
    if (value !== undefined) fault.detail = `“${value}” ${fault.detail}`;
  }
}

/** Says in a notice that a key may have been made, and tries again. */
function tryAgain({ once, unsure, made, notice }) {
  const again = async () => {
    if (once.isRunning) return;
    notice.isBusy(true);
    try {
      const result = await once.run();
      notice.remove();
      made(result);
    } catch (error) {
      const failure = failureOf(error);
      if (once.asked === undefined) failureNotice(failure, notice);
      else show(`${reason(failure)} ${unsure()}`, failure.link);
    }
  };
  const show = (text, link) =>
    notice.set({ text, link, isAlert: true, asks: true, button: { text: 'Try again', does: again } });
  show(`${unsure()} Try again to see it; otherwise look for it in the list, and revoke it there.`);
}
