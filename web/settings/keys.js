import { choose, chosen } from './route.js';
import { call, newest, settings } from './api.js';
import { byId, cell, element } from './dom.js';
import { keyLink, noteNames, shownName } from './keyPage/link.js';
import { ASSISTANTS, keyText } from './keyPage/words.js';
import { menuButton } from './menu.js';
import { redraw } from './modal.js';
import { readsOn } from './paged.js';
import { ago } from './time.js';

/* The table of keys. */

const rows = byId('keys');
const none = byId('no-keys');
const place = byId('keys-failure');
const state = byId('state');
const search = byId('search-keys');
/** How long to wait for more to be typed, in milliseconds. */
const TYPING = 250;
// an answer that comes after another choice was made is dropped
const { attempt } = newest();
let actions = {};
/** Keys that have been replaced and still work, by id of the key whose row they are shown in. */
let replaced = new Map();

const ALL = 'all';

const read = (cursor) =>
  call('keys', { state: state.value === ALL ? null : state.value, search: searched() || null, cursor });
const follow = readsOn(byId('more-keys'), { attempt, place, read, rows, rowsOf });

/** What is searched for; of a whole key, which must go nowhere, its last four characters. */
function searched() {
  const text = search.value.trim();
  return text.length > 40 && text.includes('_') && !text.includes(' ') ? text.slice(-4) : text;
}

/** Shows the keys that the address says; `on` has the actions of a row's buttons: {use, rotate, revoke}. */
export function openKeys(on) {
  actions = on;
  state.value = ['ended', ALL].includes(chosen('state')) ? chosen('state') : 'active';
  search.value = chosen('search') ?? '';
  return loadKeys();
}

export async function loadKeys() {
  const page = await attempt(() => read(), place, loadKeys);
  if (!page) return;
  replaced = new Map();
  redraw(rows, rowsOf(page));
  none.hidden = page.data.length > 0;
  none.textContent = state.value === 'active' && searched() === '' ? 'No active keys.' : 'No matching keys.';
  follow(page);
}

state.addEventListener('change', () => {
  choose({ state: state.value === 'active' ? null : state.value });
  void loadKeys();
});
let typing;
search.addEventListener('input', () => {
  clearTimeout(typing);
  typing = setTimeout(() => {
    // another page is shown by now
    if (!search.checkVisibility()) return;
    choose({ search: searched() || null });
    void loadKeys();
  }, TYPING);
});

/** The rows of a page. Keys that were replaced come after those that replaced them, in whose rows they are. */
function rowsOf({ data, replaced: old }) {
  noteNames([...data, ...old]);
  for (const key of old) replaced.set(key.id, key);
  return data.filter(({ id }) => !replaced.has(id)).map(row);
}

/** Keys that this one has replaced and that still work, newest first. */
function before({ id }) {
  const direct = [...replaced.values()].filter((key) => key.rotated_to === id);
  return direct.flatMap((key) => [key, ...before(key)]);
}

function row(key) {
  const isLive = key.state === 'active';
  return element(
    'tr',
    { class: isLive ? undefined : 'ended' },
    element('th', { scope: 'row', 'data-label': 'Name' }, element('div', {}, keyLink(key.id, shownName(key)))),
    cell('Key', keyText(key), ...before(key).map(old)),
    cell(
      'Scopes',
      element('ul', { class: 'chips' }, ...key.scopes.map((scope) => element('li', {}, scope))),
      element('span', { class: 'quiet' }, ASSISTANTS[key.mcp]),
    ),
    cell('Created', ago(key.created_at), element('span', { class: 'quiet' }, `by ${key.created_by}`)),
    cell(
      'Last used',
      ago(key.last_used_at, 'never'),
      key.last_used_from === null ? undefined : element('span', { class: 'quiet' }, key.last_used_from),
    ),
    cell('Expires', key.state === 'revoked' ? '–' : ago(key.expires_at, 'never')),
    cell(
      'State',
      element('span', { class: `tag ${key.state}` }, key.state),
      key.rotated_to === null ? undefined : element('span', { class: 'quiet' }, 'replaced'),
    ),
    cell('Actions', actionsOf(key)),
  );
}

/** What can be done with a key, and with those that it has replaced: a menu, unless it is only one thing. */
function actionsOf(key) {
  const { mayChange, hasPlan } = settings;
  const isChanged = mayChange && key.state === 'active';
  const item = (text, action, of = key) => ({ text, does: () => action(of), isDangerous: action === actions.revoke });
  const items = [
    item('Usage', actions.use),
    isChanged && hasPlan ? item('Rotate…', actions.rotate) : undefined,
    isChanged ? item('Revoke…', actions.revoke) : undefined,
    ...before(key).flatMap((old) => [
      item(`Usage of replaced …${old.last_four}`, actions.use, old),
      isChanged ? item(`Revoke replaced …${old.last_four}…`, actions.revoke, old) : undefined,
    ]),
  ].filter((one) => one !== undefined);
  return items.length === 1
    ? usageButton(key)
    : menuButton(`Actions for ${shownName(key)}`, `actions:${key.id}`, items);
}

function usageButton(key) {
  const attributes = { class: 'button', type: 'button', 'data-focus': `usage:${key.id}` };
  const label = `Usage of ${shownName(key)}`;
  return element(
    'div',
    { class: 'actions' },
    element('button', { ...attributes, 'aria-label': label, click: () => actions.use(key) }, 'Usage'),
  );
}

/** A key that was replaced, in the row of the one that replaced it. */
function old(key) {
  return element(
    'div',
    { class: 'replaced' },
    keyText(key),
    element('span', { class: 'quiet' }, 'replaced, ends ', ago(key.expires_at)),
  );
}
