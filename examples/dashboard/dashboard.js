import { keep, kept } from './address.js';
import { ask } from './gateway.js';
import { ALL, MOST_NAMES, namesRequest, partsOf, periodOf, queryFor, START, typesFor } from './parts.js';
import { persist } from './patience.js';
import { createReads } from './reads.js';
import { follow } from './stream.js';
import { clear, explain, pend, pendingOf, show, shownCustomers } from './views.js';

const element = (id) => document.getElementById(id);
const [connection, form, url, key, year] = ['connection', 'connect', 'url', 'key', 'year'].map(element);
const [title, live, message, panels] = ['title', 'live', 'message', 'panels'].map(element);
const [reading, updated] = ['reading', 'updated'].map(element);

/** Where the tab keeps the key, with the gateway that it is for. */
const STORED = 'gateway';

/** Ends with everything that belongs to the gateway and key in the form. */
let session = new AbortController();
let reads;

async function connect() {
  leave();
  const { signal } = session;
  const gateway = { url: url.value.trim(), key: key.value.trim() };
  sessionStorage.setItem(STORED, JSON.stringify(gateway));
  // a reload would go to the other gateway
  if (kept('url')) keep('url', gateway.url);
  choose(kept('year'));
  say('info', 'Connecting…');
  let isKnown = false;
  const onWait = (problem, seconds) => {
    const [heading, text] = wordsOf(problem, isKnown);
    const again = `Trying again at ${timeIn(seconds)}.`;
    say('wait', heading, `${text} ${again}`, problem.requestId);
    reading.textContent = '';
    pend(pendingOf(ALL), `${heading}. ${again}`);
  };
  const onStop = (problem) => fail(problem);
  try {
    const { me, events } = await persist(() => start(gateway, signal), { signal, onWait });
    isKnown = true;
    const { scopes } = me.key;
    const names = new Map();
    const known = { gateway, scopes, names, hasYears: false };
    title.textContent = me.organisation.name;
    pend(ALL, '');
    const read = (parts, dropped) => readParts(known, parts, dropped);
    reads = createReads({ read, signal, onWait, onStop });
    reads.mark(ALL);
    await listen({ gateway, types: typesFor(scopes), cursor: events?.next_cursor, names, signal });
  } catch (problem) {
    if (!signal.aborted) fail(problem);
  }
}

/** @throws Problem */
async function start(gateway, signal) {
  const { data, problems } = await ask(gateway, START, {}, signal);
  if (!data.me) throw problems.get('me');
  return data;
}

async function readParts(known, parts, signal) {
  const { gateway, scopes, names } = known;
  sayReading();
  const withYears = year.value !== '' && !known.hasYears;
  const { data, problems } = await ask(gateway, queryFor(parts, { withYears }), periodOf(year.value), signal);
  const nameOf = (id) => (id === null ? 'No customer' : (names.get(id) ?? `Customer ${id.slice(0, 8)}`));
  for (const part of parts) {
    const problem = problems.get(part);
    if (!problem) show(part, data[part], nameOf);
    // otherwise it is read again, and the figures of the same period stay until then
    else if (!problem.isTemporary) explain(part, wordsOf(problem, true).filter(Boolean).join('. '));
  }
  for (const months of [data.years, data.months]) if (months) offerYears(months.data);
  known.hasYears ||= !problems.get('years')?.isTemporary;
  panels.hidden = false;
  const temporary = [...problems.values()].find(({ isTemporary }) => isTemporary);
  if (temporary) throw temporary;
  if (data.customers) await readNames({ gateway, scopes, names, totals: data.customers, nameOf, signal });
  settle(parts.some((part) => !problems.has(part)));
}

/** Asks for the names that are not known yet. */
async function readNames({ gateway, scopes, names, totals, nameOf, signal }) {
  if (!scopes.includes('customers:read')) {
    element('names').textContent = 'Names need the scope customers:read.';
    return;
  }
  const unknown = shownCustomers(totals.data).filter((id) => !names.has(id));
  const asked = unknown.slice(0, MOST_NAMES);
  if (asked.length === 0) return;
  const { data, problems } = await ask(gateway, ...namesRequest(asked), signal);
  asked.forEach((id, n) => {
    const problem = problems.get(`c${n}`);
    if (problem?.isTemporary) throw problem;
    names.set(id, data[`c${n}`]?.name ?? `Unknown customer ${id.slice(0, 8)}`);
  });
  show('customers', totals, nameOf);
  if (unknown.length > asked.length) reads.mark(['customers']);
}

/** Reads again what events say has changed. */
async function listen({ gateway, types, cursor, names, signal }) {
  if (types.length === 0) return setLive('off', 'Not live: the key has no scope for events');
  await follow({
    gateway,
    types,
    cursor,
    signal,
    onOpen(isResumed) {
      setLive('live', 'Live');
      if (!isResumed) reads.mark(ALL);
    },
    onEvent(event) {
      const { object, changes } = event;
      const isRenamed = object?.type === 'customer' && (changes.length === 0 || changes.includes('name'));
      reads.mark(isRenamed && names.delete(object.id) ? ['customers'] : partsOf(event));
    },
    onWait: (problem, seconds) => setLive('wait', `Reconnecting at ${timeIn(seconds)}`, problem.message),
    onEnd(problem) {
      // the scopes may have changed; anything else concerns the reads too
      if (problem.code === 'insufficient_scope') setLive('off', 'Not live', problem.message);
      else fail(problem);
    },
  });
}

/** Says what is being read, where the figures would be and beside the period, or that something is tried again. */
function sayReading() {
  const text = year.value === '' ? 'Reading all years…' : `Reading ${year.value}…`;
  const pending = pendingOf(ALL);
  pend(pending, text);
  reading.textContent = pending.length > 0 ? text : '';
  if (!message.hidden && message.dataset.kind === 'wait') say('wait', 'Trying again…');
}

/** Everything asked for is shown. */
function settle(hasFigures) {
  message.hidden = true;
  reading.textContent = '';
  if (!hasFigures) return;
  const isFirst = updated.textContent === '';
  updated.textContent = `Updated ${timeIn(0)}`;
  // later somebody may have opened it again
  if (!isFirst || !connection.open) return;
  const hadFocus = connection.contains(document.activeElement);
  connection.open = false;
  if (hadFocus) connection.querySelector('summary').focus();
}

/** Ends the session with a problem that another attempt would not solve. */
function fail(problem) {
  leave();
  if (problem.code === 'unauthenticated') sessionStorage.removeItem(STORED);
  const [heading, text] = wordsOf(problem, true);
  say('error', heading, text, problem.requestId);
}

/** Ends the session: nothing of it stays, since the next may be of another organisation. */
function leave() {
  session.abort();
  session = new AbortController();
  reads = undefined;
  title.textContent = 'Sales dashboard';
  panels.hidden = true;
  message.hidden = true;
  connection.open = true;
  reading.textContent = updated.textContent = element('names').textContent = '';
  choose(undefined);
  setLive('', '');
  for (const part of ALL) clear(part);
}

/** @returns what a problem is called, and what to do */
function wordsOf({ code, message: text, scope }, isKnown) {
  if (code === 'unreachable') {
    const hint = `If it is running, it may not allow this page: add ${location.origin} to its CORS_ORIGINS.`;
    return ['The gateway does not answer', isKnown ? text : `${text} ${hint}`];
  }
  if (code === 'insufficient_scope') return [`The key lacks the scope ${scope}.`, ''];
  if (code === 'rate_limited') return ['Rate limit reached', text];
  if (code === 'unauthenticated') {
    return [
      'The key is not valid',
      'It is mistyped, expired or revoked. An admin of the organisation can create another.',
    ];
  }
  return ['The gateway cannot answer', text];
}

function say(kind, heading, text = '', requestId = '') {
  message.hidden = false;
  message.dataset.kind = kind;
  element('message-heading').textContent = heading;
  element('message-text').textContent = text;
  element('message-request').textContent = requestId && `Request ${requestId}`;
}

function setLive(state, text, reason = '') {
  live.dataset.state = state;
  live.title = reason;
  // said once, not for each event
  if (live.textContent !== text) live.textContent = text;
}

function timeIn(seconds) {
  return new Date(Date.now() + seconds * 1000).toLocaleTimeString('en-GB');
}

/** Chooses a year as the only one that is offered, or all years. */
function choose(chosen) {
  year.replaceChildren(new Option('All years', ''));
  if (!/^[12]\d{3}$/.test(chosen)) return;
  year.add(new Option(chosen, chosen));
  year.value = chosen;
}

/** Adds the years that are not offered yet, the latest first. */
function offerYears(rows) {
  const known = [...year.options].map(({ value }) => value);
  const found = rows.map(({ month }) => month.split('-')[0]).filter((value) => !known.includes(value));
  for (const value of new Set(found)) {
    const next = [...year.options].find((option) => option.value !== '' && option.value < value);
    year.add(new Option(value, value), next ?? null);
  }
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  void connect();
});
element('forget').addEventListener('click', () => {
  sessionStorage.removeItem(STORED);
  key.value = '';
  keep('year', '');
  leave();
  key.focus();
});
year.addEventListener('change', () => {
  keep('year', year.value);
  pend(ALL, '');
  sayReading();
  reads?.restart(ALL);
});
// somebody has changed the address
addEventListener('hashchange', () => location.reload());

element('origin').textContent = location.origin;
// a key for a gateway is sent to no other
const stored = JSON.parse(sessionStorage.getItem(STORED) ?? '{}');
url.value = kept('url') ?? stored.url ?? url.value;
if (stored.key && stored.url === url.value) {
  key.value = stored.key;
  void connect();
}
