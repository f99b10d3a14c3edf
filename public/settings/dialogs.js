import { call, Failure } from './api.js';
import { byId, element, say, wireCopying } from './dom.js';
import { ask, show } from './modal.js';

/* Creating, rotating and revoking a key. `changed` is called after each. */

const DAY = 86_400_000;

function describe(dialog, { name, prefix, last_four: lastFour }) {
  dialog.querySelector('[data-name]').textContent = name;
  dialog.querySelector('[data-prefix]').textContent = `${prefix}…${lastFour}`;
}

/** Shows a key's value once, and removes it from the page when the dialog is closed. */
function showMade({ key, api_key: made, old }) {
  const dialog = byId('made-dialog');
  const [value, curl, note] = ['[data-key]', '[data-curl]', '[data-old]'].map((name) => dialog.querySelector(name));
  value.textContent = key;
  curl.textContent = `curl -H "Authorization: Bearer ${key}" ${location.origin}/api/v1${firstPath(made.scopes)}`;
  note.textContent = old === undefined ? '' : `The old key expires at ${old.expires_at}.`;
  dialog.addEventListener(
    'close',
    () => {
      value.textContent = '';
      curl.textContent = '';
    },
    { once: true },
  );
  show(dialog);
}

/** A route that the key can read. */
function firstPath(scopes) {
  const readable = scopes.find((scope) => scope.endsWith(':read'));
  return readable === undefined ? '/me' : `/${readable.split(':')[0]}?limit=3`;
}

export function makeKey(changed) {
  const dialog = byId('make-dialog');
  const form = dialog.querySelector('form');
  form.reset();
  ask(dialog, async (given) => {
    const days = Number(given.get('expires'));
    const scopes = given.getAll('scope');
    if (scopes.length === 0) throw new Failure('Select at least one scope.');
    const made = await call('make', {
      name: given.get('name'),
      scopes,
      expires_at: days > 0 ? new Date(Date.now() + days * DAY).toISOString() : null,
      allowed_ranges: given
        .get('ranges')
        .split(',')
        .map((range) => range.trim())
        .filter((range) => range !== ''),
    });
    return () => {
      showMade(made);
      changed();
    };
  });
}

export function rotateKey(key, changed) {
  const dialog = byId('rotate-dialog');
  const form = dialog.querySelector('form');
  form.reset();
  describe(dialog, key);
  ask(dialog, async (given) => {
    const made = await call('rotate', { id: key.id, overlap_hours: Number(given.get('overlap')) });
    return () => {
      showMade(made);
      changed();
    };
  });
}

export async function revokeKey(key, changed) {
  const dialog = byId('revoke-dialog');
  describe(dialog, key);
  dialog.querySelector('[data-scopes]').replaceChildren(...key.scopes.map((scope) => element('li', {}, scope)));
  const use = dialog.querySelector('[data-use]');
  use.textContent = lastUse(key);
  ask(dialog, async () => {
    await call('revoke', { id: key.id });
    return () => {
      say(`Revoked key ${key.name}.`);
      changed();
    };
  });
  const { opening } = dialog;
  try {
    const { requests } = await call('usage', { id: key.id, period: 'last_24h' });
    // it is about another key by now
    if (dialog.opening !== opening) return;
    const calls = requests === 1 ? 'one request' : `${requests.toLocaleString('en')} requests`;
    if (requests > 0) use.textContent = `${lastUse(key)} It made ${calls} in the last 24 hours.`;
  } catch {
    // the last use is shown already, and revoking must not depend on the count
  }
}

function lastUse({ last_used_at: at, last_used_from: from }) {
  return at === null
    ? 'It has never been used.'
    : `It was last used on ${at.slice(0, 10)}${from === null ? '' : ` from ${from}`}.`;
}

const made = byId('made-dialog');
if (made) wireCopying(made);
