import { call, Failure } from './api.js';
import { byId, element, say, wireCopying } from './dom.js';
import { expiryOf, rangesOf, wireExpiry } from './keyPage/fields.js';
import { ask, show } from './modal.js';
import { askOnce } from './once.js';
import { exact } from './time.js';

/* Creating, rotating and revoking a key. `changed` is called after each, also if it may have been done. */

function describe(dialog, { name, prefix, last_four: lastFour }) {
  dialog.querySelector('[data-name]').textContent = name;
  dialog.querySelector('[data-prefix]').textContent = `${prefix}…${lastFour}`;
}

/** Shows a key's value once, and removes it from the page when the dialog is closed. */
function showMade({ key, api_key: made, old }) {
  const dialog = byId('made-dialog');
  const [value, curl, config, note] = ['[data-key]', '[data-curl]', '[data-mcp]', '[data-old]'].map((name) =>
    dialog.querySelector(name),
  );
  // another key's dialog may have been opened meanwhile
  dialog.querySelector('[data-name]').textContent = made.name;
  value.textContent = key;
  // quoted, since zsh takes the question mark of an unquoted URL as a pattern
  curl.textContent = `curl -H "Authorization: Bearer ${key}" "${location.origin}/api/v1${firstPath(made.scopes)}"`;
  config.textContent = configuration(key);
  dialog.querySelector('[data-assistant]').hidden = made.mcp === 'off';
  note.textContent = old === undefined ? '' : `The old key expires at ${exact(old.expires_at)}.`;
  dialog.addEventListener(
    'close',
    () => {
      for (const secret of [value, curl, config]) secret.textContent = '';
      dialog.querySelector('[data-assistant]').open = false;
    },
    { once: true },
  );
  show(dialog);
}

/** What clients of the Model Context Protocol are told of this gateway. */
function configuration(key) {
  const headers = { Authorization: `Bearer ${key}` };
  const scopegate = { type: 'http', url: `${location.origin}/mcp`, headers };
  return JSON.stringify({ mcpServers: { scopegate } }, undefined, 2);
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
  askOnce(dialog, {
    operation: 'make',
    variables: newKeyOf,
    doubt: ({ name }) => `Whether the key ${name} was made is not known.`,
    made: shower(changed),
    gone: changed,
  });
}

/** Which scopes a preset has. */
const PRESETS = { read: (scope) => scope.endsWith(':read'), all: () => true };

/** A preset checks its scopes; scopes that are changed choose the preset that they are, if any. */
function wirePresets(form) {
  const boxes = [...form.querySelectorAll('input[name="scope"]')];
  const { preset } = form.elements;
  form.addEventListener('change', ({ target: { name } }) => {
    const has = PRESETS[preset.value];
    if (name === 'preset' && has) for (const box of boxes) box.checked = has(box.value);
    if (name !== 'scope') return;
    const isOf = (has) => boxes.every((box) => box.checked === has(box.value));
    preset.value = Object.keys(PRESETS).find((one) => isOf(PRESETS[one])) ?? 'some';
  });
}

const makeForm = document.querySelector('#make-dialog form');
if (makeForm) {
  wirePresets(makeForm);
  wireExpiry(makeForm);
}

/** What was entered for a new key. @throws Failure without a scope */
function newKeyOf(given) {
  const scopes = given.getAll('scope');
  if (scopes.length === 0) {
    const faults = [{ pointer: '/scopes', detail: 'select at least one scope' }];
    throw new Failure('The key is incomplete.', { code: 'page', faults });
  }
  return {
    name: given.get('name'),
    scopes,
    expires_at: expiryOf(given),
    allowed_ranges: rangesOf(given),
    mcp: given.get('mcp'),
  };
}

export function rotateKey(key, changed) {
  const dialog = byId('rotate-dialog');
  const form = dialog.querySelector('form');
  form.reset();
  describe(dialog, key);
  askOnce(dialog, {
    operation: 'rotate',
    variables: (given) => ({ id: key.id, overlap_hours: Number(given.get('overlap')) }),
    doubt: () => `Whether the key ${key.name} was rotated is not known.`,
    made: shower(changed),
    gone: changed,
  });
}

/** Shows a new key, and then what has changed. */
const shower = (changed) => (made) => {
  showMade(made);
  changed();
};

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
    : `It was last used on ${exact(at)}${from === null ? '' : ` from ${from}`}.`;
}

const made = byId('made-dialog');
if (made) wireCopying(made);
