import { choose, chosen } from './route.js';
import { call, newest } from './api.js';
import { wireCsv } from './csv.js';
import { byId, cell, element } from './dom.js';
import { nameOf, noteNames } from './keyPage/link.js';
import { readsOn } from './paged.js';
import { ago, exact } from './time.js';

/* The audit log, newest first. What is chosen is in the address. */

const rows = byId('events');
const table = byId('events-table');
const none = byId('no-events');
const place = byId('events-failure');
const action = byId('event-action');
const ofKey = byId('event-key');
const AT_ONCE = 20;
/** What actions are called. */
const WORDS = new Map([...action.options].slice(1).map(({ value, text }) => [value, text]));
// an answer that comes after another choice was made is dropped
const { attempt } = newest();

const keys = newest();
/** Id of the chosen key; null for the events of all keys, and of none. */
let keyId = null;

const filters = () => ({ action: action.value || null, key_id: keyId });
const read = (cursor) => call('events', { ...filters(), limit: AT_ONCE, cursor });
const rowsOf = ({ data }) => data.map(row);
const follow = readsOn(byId('more-events'), { attempt, place, read, rows, rowsOf });

/** Shows the events that the address says. */
export async function openEvents() {
  action.value = WORDS.has(chosen('action')) ? chosen('action') : '';
  keyId = /^[0-9a-f-]{36}$/i.test(chosen('key')) ? chosen('key').toLowerCase() : null;
  await Promise.all([loadEvents(), offerKeys()]);
}

/** Loads and shows the newest events. */
export async function loadEvents() {
  const page = await attempt(() => read(null), place, loadEvents);
  if (!page) return;
  rows.replaceChildren(...rowsOf(page));
  table.hidden = page.data.length === 0;
  none.hidden = page.data.length > 0;
  follow(page);
}

wireCsv(filters);

action.addEventListener('change', () => {
  choose({ action: action.value || null });
  void loadEvents();
});
ofKey.addEventListener('change', () => {
  keyId = ofKey.value || null;
  choose({ key: keyId });
  void loadEvents();
});

/** Offers keys to choose from, the newest of the organisation; the chosen one stays, also if it is older. */
async function offerKeys() {
  const page = await keys.attempt(() => call('newestKeys'), place, offerKeys);
  if (!page) return;
  const { data, has_more: hasMore } = page;
  noteNames(data);
  const options = data.map((key) => new Option(`${key.name} …${key.last_four}`, key.id));
  if (keyId !== null && !data.some(({ id }) => id === keyId)) options.unshift(await chosenOption());
  const [any] = ofKey.options;
  const older = new Option('Older keys: on their own pages');
  older.disabled = true;
  ofKey.replaceChildren(any, ...options, ...(hasMore ? [older] : []));
  ofKey.value = keyId ?? '';
}

async function chosenOption() {
  const id = keyId;
  if (nameOf(id) === undefined) {
    // what cannot be read keeps its id
    await call('key', { id }).then(
      (key) => noteNames([key]),
      () => undefined,
    );
  }
  return new Option(nameOf(id) ?? `key ${id.slice(0, 8)}`, id);
}

/** The row of an event. */
export function row(event) {
  const who = event.actor_name === null ? event.actor : event.actor_name;
  return element(
    'tr',
    {},
    cell('When', ago(event.at), element('span', { class: 'quiet' }, exact(event.at))),
    cell('What', WORDS.get(event.action) ?? event.action),
    cell('Who', element('span', { title: event.actor }, who)),
    cell('From', event.from),
    cell('Details', details(JSON.parse(event.details))),
  );
}

/** `name: nightly · scopes: quotes:read`, without members that are not set; of changes `mcp: read → off`. */
function details(given) {
  const { from, to, ...rest } = given;
  const isChange = [from, to].every((one) => typeof one === 'object' && one !== null);
  const others = isChange ? rest : given;
  const shown = Object.entries(others).filter(([, value]) => value !== null && !isEmpty(value));
  const changes = isChange
    ? Object.keys(to).map((name) => [name, changed(name, from[name]), changed(name, to[name])])
    : [];
  const texts = [
    ...shown.map(([name, value]) => `${label(name)}: ${inWords(value)}`),
    ...changes.map(([name, before, after]) => `${label(name)}: ${before} → ${after}`),
  ];
  return element('span', { class: 'details' }, texts.join(' · '));
}

const label = (name) => name.replaceAll('_', ' ');
const isEmpty = (value) => Array.isArray(value) && value.length === 0;
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;
/** What it means that a member is not set. */
const UNSET = { expires_at: 'never', allowed_ranges: 'anywhere' };

/** One side of a change. */
function changed(name, value) {
  return value === undefined || value === null || isEmpty(value) ? (UNSET[name] ?? 'none') : inWords(value);
}

function inWords(value) {
  // as an expiry that was never, in what changed
  if (value === null) return 'none';
  if (Array.isArray(value)) return value.map(inWords).join(', ');
  // as of the key that was rotated: its name and what is shown of it
  if (typeof value === 'object') return Object.values(value).map(inWords).join(' ');
  return TIME.test(value) ? exact(value) : String(value);
}
