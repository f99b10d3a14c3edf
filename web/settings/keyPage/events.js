import { call, newest } from '../api.js';
import { row } from '../audit.js';
import { byId } from '../dom.js';
import { readsOn } from '../paged.js';

/* The audit events of one key, newest first. */

const rows = byId('key-events');
const table = byId('key-events-table');
const none = byId('no-key-events');
const more = byId('more-key-events');
const place = byId('key-events-failure');
// an answer about another key than the shown one is dropped
const { attempt, drop } = newest();
let keyId;

const read = (cursor) => call('keyEvents', { key_id: keyId, cursor });
const rowsOf = ({ data }) => data.map(row);
const follow = readsOn(more, { attempt, place, read, rows, rowsOf });

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
  rows.replaceChildren(...rowsOf(page));
  table.hidden = page.data.length === 0;
  none.hidden = page.data.length > 0;
  none.textContent = 'Nothing yet. If it replaced another key, that is in the audit log of the other one.';
  follow(page);
}
