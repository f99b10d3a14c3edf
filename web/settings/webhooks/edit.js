import { call, Failure, failureOf } from '../api';
import { byId, say, wireCopying } from '../dom';
import { ask, showSecretDialog } from '../modal';

/* The dialog of an endpoint's URL and types, and the one that shows a secret. */

const dialog = byId('webhook-dialog');
const secretDialog = byId('webhook-secret-dialog');
const form = dialog?.querySelector('form');
const groups = dialog?.querySelector('[data-types]');

const typesOf = (group) => [...group.querySelectorAll('input[name="type"]')];

/** Shows what belongs to the choice between all and some types. */
function follow() {
  groups.hidden = form.elements.which.value === 'all';
  for (const group of groups.querySelectorAll('fieldset')) {
    const checked = typesOf(group).filter((box) => box.checked).length;
    const all = group.querySelector('[data-group]');
    all.checked = checked === typesOf(group).length;
    all.indeterminate = checked > 0 && !all.checked;
  }
}

form?.addEventListener('change', ({ target }) => {
  if (target.dataset.group !== undefined) {
    for (const box of typesOf(target.closest('fieldset'))) box.checked = target.checked;
  }
  follow();
});

/** Opens the dialog with an endpoint's URL and types, or empty. `work({url, types})` runs as in ask. */
function askEndpoint({ title, button, url, types }, work) {
  form.reset();
  byId('webhook-title').textContent = title;
  dialog.querySelector('[data-do]').textContent = button;
  form.elements.url.value = url;
  form.elements.which.value = types.length === 0 ? 'all' : 'some';
  for (const box of typesOf(groups)) box.checked = types.includes(box.value);
  follow();
  ask(dialog, (data) => {
    const given = { url: data.get('url').trim(), types: data.get('which') === 'all' ? [] : data.getAll('type') };
    const faults = [];
    if (given.url === '') faults.push({ pointer: '/url', detail: 'enter a URL, e.g. https://example.com/webhooks' });
    if (data.get('which') === 'some' && given.types.length === 0)
      faults.push({ pointer: '/types', detail: 'select at least one type, or all' });
    if (faults.length > 0) throw new Failure('The endpoint is incomplete.', { code: 'page', faults });
    return work(given);
  });
}

/**
 * Asks for a new endpoint and shows its secret; then calls `changed`. One of the `known` URLs, by their ids, is asked about first. If the answer
 * is lost, `read()` reads the list again, and an endpoint that is not known is given to `showLost`.
 */
export function addEndpoint({ known, read, changed, showLost }) {
  const start = { title: 'Add a webhook endpoint', button: 'Add endpoint', url: '', types: [] };
  let askedAbout;
  askEndpoint(start, async (given) => {
    if (askedAbout !== given.url && [...known.values()].some((url) => isSame(url, given.url))) {
      askedAbout = given.url;
      const faults = [{ pointer: '/url', detail: TWICE }];
      throw new Failure(TWICE, { code: 'page', faults });
    }
    try {
      const made = await call('createEndpoint', given);
      return () => {
        showSecret(made);
        changed();
      };
    } catch (error) {
      const failure = failureOf(error);
      if (!failure.isUnsure) throw failure;
      const data = await read();
      const found = data?.find(({ id, url }) => !known.has(id) && isSame(url, given.url));
      if (found)
        return () => {
          changed();
          showLost(found);
        };
      const then = data
        ? 'It is not in the list, which was read again just now.'
        : 'The list could not be read either: look there before you try again.';
      throw new Failure(`${failure.message} Whether the endpoint was added is not certain. ${then}`);
    }
  });
}

const TWICE =
  'There is already an endpoint with this URL; it will get each event twice. Press Add endpoint again to add it anyway.';

/** Whether a stored URL is the one that was typed. */
function isSame(stored, typed) {
  return URL.canParse(typed) && new URL(typed).href.replace(/#.*/, '') === stored;
}

/** Asks for an endpoint's new URL and types; then calls `changed`, or `gone`. */
export function editEndpoint({ id, url, types }, { changed, gone }) {
  askEndpoint({ title: 'Edit this endpoint', button: 'Save', url, types }, (given) =>
    change('updateEndpoint', { id, ...given }, gone, () => {
      say('Saved the endpoint.');
      changed();
    }),
  );
}

/** Changes an endpoint; resolves with what comes after: `then(result)`, or `gone` if it was deleted meanwhile. @throws Failure */
export async function change(operation, variables, gone, then) {
  try {
    const made = await call(operation, variables);
    return () => then(made);
  } catch (error) {
    if (error.code !== 'not_found') throw error;
    return gone;
  }
}

/** Shows a secret once, and removes it from the page when its dialog is closed. */
export function showSecret({ secret, endpoint }) {
  const value = secretDialog.querySelector('[data-secret]');
  value.textContent = secret;
  secretDialog.querySelector('[data-url]').textContent = endpoint.url;
  secretDialog.querySelector('[data-old]').textContent =
    endpoint.old_secret_until === null
      ? ''
      : `Everything is signed with the old secret too until ${endpoint.old_secret_until.slice(0, 16).replace('T', ' ')} UTC.`;
  showSecretDialog(secretDialog, () => (value.textContent = ''));
}

if (secretDialog) wireCopying(secretDialog);
