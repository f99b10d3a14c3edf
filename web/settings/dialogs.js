import { call, Failure, now } from './api';
import { askChange } from './change';
import { byId, element, say, wireCopying } from './dom';
import { AS_IT_IS, expiryOf, rangesOf, wireExpiry } from './keyPage/fields';
import { isDialogOpen, showSecretDialog } from './modal';
import { openNotice } from './notices';
import { askOnce } from './once';
import { exact } from './time';

/* Creating, rotating and revoking a key. `changed` is called after each, also if it may have been done. */

function describe(dialog, { name, prefix, last_four: lastFour }) {
  dialog.querySelector('[data-name]').textContent = name;
  dialog.querySelector('[data-prefix]').textContent = `${prefix}…${lastFour}`;
}

/** Shows a key's value once, and removes it from the page when the dialog is closed. */
function showMade({ key, api_key: made, old }) {
  const dialog = byId('made-dialog');
  const [value, curl, config, end, note] = ['[data-key]', '[data-curl]', '[data-mcp]', '[data-end]', '[data-old]'].map(
    (name) => dialog.querySelector(name),
  );
  // another key's dialog may have been opened meanwhile
  dialog.querySelector('[data-name]').textContent = made.name;
  value.textContent = key;
  // quoted, since zsh takes the question mark of an unquoted URL as a pattern
  curl.textContent = `curl -H "Authorization: Bearer ${key}" "${location.origin}/api/v1${firstPath(made.scopes)}"`;
  config.textContent = configuration(key);
  dialog.querySelector('[data-assistant]').hidden = made.mcp === 'off';
  end.textContent = made.expires_at === null ? 'It never expires.' : `It expires at ${exact(made.expires_at)}.`;
  note.textContent = old === undefined ? '' : endOfOld(old);
  showSecretDialog(dialog, () => {
    for (const secret of [value, curl, config]) secret.textContent = '';
    dialog.querySelector('[data-assistant]').open = false;
  });
}

function endOfOld({ expires_at: end }) {
  return Date.parse(end) <= now() ? 'The old key no longer works.' : `The old key works until ${exact(end)}.`;
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
    name: ({ name }) => name.trim(),
    doing: (name) => `Creating the key ${name}…`,
    doubt: (name) => `We couldn’t confirm that the key ${name} was created.`,
    made: shower(changed),
    changed,
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
  wireExpiry(document.querySelector('#rotate-dialog form'));
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
  offerExpiries(form, key);
  askOnce(dialog, {
    operation: 'rotate',
    variables: (given) => ({ id: key.id, overlap_hours: Number(given.get('overlap')), expires_at: expiryOf(given) }),
    name: () => key.name,
    doing: (name) => `Rotating the key ${name}…`,
    doubt: (name) => `We couldn’t confirm that the key ${name} was rotated.`,
    made: shower(changed),
    changed,
  });
  if (key.rotated_to !== null) void offerReplacement(dialog, key);
}

/** The choices of when a new key expires: after the lifetime that the old one had, or when that one does. */
function offerExpiries(form, { created_at: made, expires_at: end }) {
  const [same, kept] = form.elements.expires.options;
  const lifetime = end === null ? null : Date.parse(end) - Date.parse(made);
  const next = end === null ? '' : new Date(now() + lifetime).toISOString();
  same.value = next;
  same.textContent = end === null ? 'never, like the old key' : `${exact(next)}, same lifetime`;
  kept.hidden = end === null || Date.parse(end) <= now();
  kept.disabled = kept.hidden;
  kept.value = end ?? '';
  kept.textContent = end === null ? '' : `${exact(end)}, like the old key`;
  same.selected = true;
}

/** A key that was replaced ends with its overlap, so that the lifetime is that of the one that replaced it, which is revoked by now. */
async function offerReplacement(dialog, { rotated_to: id }) {
  const { opening } = dialog;
  const form = dialog.querySelector('form');
  const [same] = form.elements.expires.options;
  same.value = AS_IT_IS;
  same.textContent = 'the lifetime of the key that replaced it';
  try {
    const replacement = await call('key', { id });
    if (dialog.opening === opening && same.selected && !same.parentElement.disabled) offerExpiries(form, replacement);
  } catch {
    // the gateway takes that lifetime all the same
  }
}

/** Shows a new key, and then what has changed. It waits while another dialog is open, in which somebody may be typing. */
const shower = (changed) => (made) => {
  if (isDialogOpen()) announce(made);
  else showMade(made);
  changed();
};

function announce(made) {
  const text = `The key ${made.api_key.name} is ready. It is shown once.`;
  const does = () => {
    notice.remove();
    showMade(made);
  };
  const notice = openNotice({ text, asks: true, button: { text: 'Show the key', does } });
}

export async function revokeKey(key, changed) {
  const dialog = byId('revoke-dialog');
  describe(dialog, key);
  dialog.querySelector('[data-scopes]').replaceChildren(...key.scopes.map((scope) => element('li', {}, scope)));
  const use = dialog.querySelector('[data-use]');
  use.textContent = lastUse(key);
  askChange(dialog, {
    changed,
    doing: () => `Revoking the key ${key.name}…`,
    doubt: () => `We couldn’t confirm that the key ${key.name} was revoked. Revoking it again does no harm.`,
    async work() {
      await call('revoke', { id: key.id });
      return () => {
        say(`Revoked key ${key.name}.`);
        changed();
      };
    },
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
