import { call, newest } from '../api.js';
import { row } from '../audit.js';
import { byId } from '../dom.js';

/* The audit events of one key, newest first. */

const rows = byId('key-events');
const table = byId('key-events-table');
const none = byId('no-key-events');
const more = byId('more-key-events');
const place = byId('key-events-failure');
// an answer about another key than the shown one is dropped
const { attempt, drop } = newest();
let keyId;
let next = null;

const read = (cursor) => call('keyEvents', { key_id: keyId, cursor });

/** Shows the newest events of a key; undefined leaves them. */
export async function openEvents(id) {
  if (id !== keyId) {
    rows.replaceChildren();
    for (const one of [table, none, more, place]) one.hidden = true;
  }
  keyId = id;
  if (id === undefined) drop();
  else await load();
}

async function load() {
  const page = await attempt(() => read(), place, load);
  if (!page) return;
  rows.replaceChildren(...page.data.map(row));
  table.hidden = page.data.length === 0;
  none.hidden = page.data.length > 0;
  none.textContent = 'Nothing yet. If it replaced another key, that is in the audit log of the other one.';
  follow(page);
}

async function loadMore() {
  const page = await attempt(() => read(next), place, loadMore);
  if (!page) return;
  const added = page.data.map(row);
  rows.append(...added);
  follow(page);
  // the button may be hidden now, so move the focus
  added[0]?.setAttribute('tabindex', '-1');
  added[0]?.focus();
}

more.addEventListener('click', loadMore);

function follow(page) {
  next = page.next_cursor;
  more.hidden = next === null;
}
