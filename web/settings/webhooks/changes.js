import { Failure, failureOf, now } from '../api';
import { byId, say, showFailure } from '../dom';
import { ask } from '../modal';
import { exact } from '../time';
import { change, showSecret } from './edit';
import { events } from './words';

/* Rotating, enabling, disabling and deleting an endpoint. Each asks first, and calls `changed` afterwards, or `gone` if it was deleted meanwhile. */

const DAY = 86_400_000;
/** Makes sure that "now" is not before what has just happened, in milliseconds. */
const SURELY_LATER = 5000;

function dialogOf(name, { url }) {
  const dialog = byId(`webhook-${name}-dialog`);
  dialog.querySelector('form').reset();
  for (const place of dialog.querySelectorAll('[data-url]')) place.textContent = url;
  return dialog;
}

/** `read()` reads the endpoint again, since others may have rotated its secret; it resolves with null if there is none. */
export function rotateSecret(endpoint, { read, changed, gone }) {
  const dialog = dialogOf('rotate', endpoint);
  const { id } = endpoint;
  /** Until when the secret before signs, as it was read last. */
  let until;
  const warn = (fresh) => {
    until = fresh.old_secret_until;
    const again = dialog.querySelector('[data-again]');
    again.hidden = until === null;
    again.textContent =
      until === null
        ? ''
        : `The secret was rotated less than 24 hours ago, and the one before signs until ${exact(until)}. If you rotate again, that one ends at once: your server must have the current one by then.`;
  };
  warn({ old_secret_until: null });
  const isOpen = ask(dialog, async () => {
    try {
      return await change('rotateEndpoint', { id }, gone, (made) => {
        showSecret(made);
        changed();
      });
    } catch (error) {
      const failure = failureOf(error);
      if (!failure.isUnsure) throw failure;
      const after = await read().catch(() => undefined);
      if (after === null) return gone;
      if (!after) throw new Failure(`${failure.message} We couldn’t confirm that the secret was rotated.`);
      if (after.old_secret_until === until) throw new Failure(`${failure.message} The secret was not rotated so far.`);
      warn(after);
      changed();
      throw new Failure(
        `${failure.message} The secret was rotated meanwhile, by this page or by somebody else, and the new one is not known here. The one before signs until ${exact(until)}. First look in the audit log who rotated it, and ask whether they have the new secret; if nobody has, rotate again.`,
      );
    }
  });
  void readFirst(dialog, { read, isOpen, gone, then: warn });
}

/** Offers a dialog's main button once the endpoint was read, and not at all if that fails. */
async function readFirst(dialog, { read, isOpen, gone, then }) {
  const [button, slow, failure] = ['[data-do]', '[data-slow]', '[data-failure]'].map((one) =>
    dialog.querySelector(one),
  );
  button.hidden = true;
  slow.textContent = 'Reading the endpoint again…';
  const found = await read().catch(failureOf);
  if (!isOpen()) return;
  slow.textContent = '';
  if (found instanceof Error) {
    showFailure(failure, { message: `${found.message} The endpoint could not be read: nothing was changed.` });
    return;
  }
  if (found === null) {
    dialog.close();
    gone();
    return;
  }
  then(found);
  button.hidden = false;
}

const ENABLING = {
  disabled: { title: 'Enable this endpoint?', button: 'Enable endpoint', done: 'Enabled the endpoint.' },
  failing: { title: 'Try this endpoint again?', button: 'Try again', done: 'The endpoint is tried again.' },
  enabled: { title: 'Send events again?', button: 'Send again', done: 'The events are being sent.' },
};

export function enableEndpoint(endpoint, { changed, gone }) {
  const dialog = dialogOf('enable', endpoint);
  const form = dialog.querySelector('form');
  const { id, state } = endpoint;
  const { title, button, done } = ENABLING[state];
  byId('webhook-enable-title').textContent = title;
  dialog.querySelector('[data-do]').textContent = button;
  // what is enabled never stopped
  dialog.querySelector('[data-choice="stopped"]').hidden = state === 'enabled';
  form.elements.from.value = state === 'enabled' ? 'time' : 'stopped';
  form.elements.time.value = new Date(now() - DAY).toISOString().slice(0, 16);
  form.onchange = () => {
    dialog.querySelector('[data-time]').hidden = form.elements.from.value !== 'time';
  };
  form.onchange();
  ask(dialog, async (data) => {
    const from = startOf(data.get('from'), data.get('time'));
    return change('enableEndpoint', { id, from }, gone, () => {
      say(done);
      changed();
    });
  });
}

/** The `from` of a choice. @throws Failure without a time that is needed */
function startOf(choice, time) {
  if (choice === 'stopped') return null;
  if (choice === 'now') return new Date(now() + SURELY_LATER).toISOString();
  const at = Date.parse(`${time}Z`);
  const fault = (detail) =>
    new Failure('The time is missing.', { code: 'page', faults: [{ pointer: '/from', detail }] });
  if (Number.isNaN(at)) throw fault('enter a date and a time');
  if (at > now()) throw fault('must not be in the future; choose "From now on" instead');
  return new Date(at).toISOString();
}

export function disableEndpoint(endpoint, { changed, gone }) {
  ask(dialogOf('disable', endpoint), () =>
    change('disableEndpoint', { id: endpoint.id }, gone, () => {
      say('Disabled the endpoint.');
      changed();
    }),
  );
}

export function deleteEndpoint(endpoint, deleted) {
  const dialog = dialogOf('delete', endpoint);
  dialog.querySelector('[data-waiting]').textContent =
    endpoint.waiting > 0 ? `${events(endpoint.waiting)} waiting to be retried are never sent.` : '';
  const done = () => {
    say(`Deleted the endpoint ${endpoint.url}.`);
    deleted();
  };
  // if it is gone, somebody else was faster, or the answer to an earlier try was lost
  ask(dialog, () => change('deleteEndpoint', { id: endpoint.id }, done, done));
}
