import { call, newest, settings } from './api.js';
import { byId, cell, element, moment } from './dom.js';

/* The table of keys. */

const rows = byId('keys');
const more = byId('more-keys');
const none = byId('no-keys');
const state = byId('state');
// an answer that comes after another choice was made is dropped
const { attempt } = newest();
let next = null;
let actions = {};

/** Shows the first keys in the selected state; `on` has the actions of a row's buttons: {use, rotate, revoke}. */
export async function loadKeys(on = actions) {
  actions = on;
  const page = await attempt(() => call('keys', { state: state.value || null }));
  if (!page) return;
  rows.replaceChildren(...page.data.map(row));
  none.hidden = page.data.length > 0;
  none.textContent = state.value === 'active' ? 'No active keys.' : 'No matching keys.';
  follow(page);
}

state.addEventListener('change', () => loadKeys());

more.addEventListener('click', async () => {
  const page = await attempt(() => call('keys', { state: state.value || null, cursor: next }));
  if (!page) return;
  const added = page.data.map(row);
  rows.append(...added);
  follow(page);
  added[0]?.querySelector('button')?.focus();
});

function follow(page) {
  next = page.next_cursor;
  more.hidden = next === null;
}

function row(key) {
  const isLive = key.state === 'active';
  const button = (text, does, isThere = true) =>
    isThere
      ? element(
          'button',
          { class: 'button', type: 'button', 'aria-label': `${text} ${key.name}`, click: () => does(key) },
          text,
        )
      : undefined;
  return element(
    'tr',
    { class: isLive ? undefined : 'ended' },
    element('th', { scope: 'row', 'data-label': 'Name' }, element('div', {}, key.name)),
    cell('Key', element('code', {}, `${key.prefix}…${key.last_four}`)),
    cell('Scopes', element('ul', { class: 'chips' }, ...key.scopes.map((scope) => element('li', {}, scope)))),
    cell('Created', moment(key.created_at), element('span', { class: 'quiet' }, `by ${key.created_by}`)),
    cell(
      'Last used',
      moment(key.last_used_at, 'never'),
      key.last_used_from === null ? undefined : element('span', { class: 'quiet' }, key.last_used_from),
    ),
    cell('Expires', moment(key.expires_at, 'never')),
    cell('State', element('span', { class: `tag ${key.state}` }, key.state)),
    cell(
      'Actions',
      element(
        'div',
        { class: 'actions' },
        button('Usage', actions.use),
        button('Rotate', actions.rotate, isLive && settings.mayChange && settings.hasPlan),
        button('Revoke', actions.revoke, isLive && settings.mayChange),
      ),
    ),
  );
}
