import { call, Failure, failureOf } from './api.js';
import { byId, element, showFailure } from './dom.js';
import { ask } from './modal.js';

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
 * Opens a dialog whose main button asks for `operation` with `variables(data)`. `made` is called with what was made. `doubt(variables)` says what is
 * not known while an answer is missing; what was entered cannot be changed then. If the dialog is closed meanwhile, the list says it, and `gone` is called.
 */
export function askOnce(dialog, { operation, variables, made, doubt, gone }) {
  const once = onceOnly(operation);
  const fields = [...dialog.querySelector('form').elements].filter(({ name }) => name);
  const freeze = (isFrozen) => fields.forEach((field) => (field.disabled = isFrozen));
  const inDoubt = () => {
    showDoubt(once, doubt, made);
    gone();
  };
  freeze(false);
  const isHere = ask(dialog, async (data) => {
    const given = once.asked ?? variables(data);
    try {
      const result = await once.run(given);
      return () => made(result);
    } catch (error) {
      const failure = failureOf(error);
      nameElements(failure, given);
      if (once.asked === undefined) throw failure;
      if (!isHere()) return inDoubt;
      freeze(true);
      const advice = 'If you try again you get the same key, and no second one is made.';
      throw new Failure(`${reason(failure)} ${doubt(once.asked)} ${advice}`, {
        code: failure.code,
        link: failure.link,
      });
    }
  });
  const { opening } = dialog;
  dialog.addEventListener(
    'close',
    () => {
      if (dialog.opening === opening && once.asked !== undefined && !once.isRunning) inDoubt();
    },
    { once: true },
  );
}

/** What a failure says, without its advice. */
function reason({ message }) {
  return message.replace(/ Try again\.$/, '');
}

/** Says with each fault of a list's element which one it is about. */
export function nameElements({ faults }, variables) {
  for (const fault of faults) {
    const [, list, at] = (fault.pointer ?? '').split('/');
    const value = at === undefined ? undefined : variables[list]?.[at];
    if (value !== undefined) fault.detail = `“${value}” ${fault.detail}`;
  }
}

/** Says above the lists or the key's page that a key may have been made, and tries again. */
function showDoubt(once, doubt, made) {
  const place = element('p', { class: 'alert', role: 'alert' });
  const again = async () => {
    const button = place.querySelector('button');
    button.disabled = true;
    try {
      const result = await once.run();
      (byId('key-page').hidden ? byId('keys-title') : byId('key-title')).focus();
      place.remove();
      made(result);
    } catch (error) {
      const failure = failureOf(error);
      const message = once.asked === undefined ? failure.message : `${reason(failure)} ${doubt(once.asked)}`;
      showFailure(place, { message, link: failure.link }, once.asked === undefined ? undefined : again);
      place.querySelector('button')?.focus();
    }
  };
  byId('doubts').append(place);
  const message = `${doubt(once.asked)} Try again to see it; otherwise look for it in the list, and revoke it there.`;
  showFailure(place, { message }, again);
}
