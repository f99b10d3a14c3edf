import { call, failureOf, newest, settings } from '../api';
import { byId, cell, element, say, showFailure } from '../dom';
import { readsOn } from '../paged';
import { ago, exact } from '../time';
import { answerOf, outcomeBox } from './outcome';
import { nextAttempt } from './words';

/* What was sent to an endpoint, newest event first. */

const rows = byId('deliveries');
const more = byId('more-deliveries');
const none = byId('no-deliveries');
const state = byId('delivery-state');
const failed = byId('deliveries-failure');
// an answer that comes after another choice was made is dropped
const { attempt, drop } = newest();

/** Whose deliveries are shown, as it was read last. */
let endpoint;
/** The rows' places for the next attempt, newest first: {delivery, place}. */
let attemptsToCome = [];
/** Ids of deliveries whose details are shown, and of those that are being sent again. */
const opened = new Set();
const sending = new Set();
/** What became of what was sent again, by id of the delivery. */
const outcomes = new Map();

/** What the endpoint's page does: after one was `accepted` that was sent again, and after something was `missing`. */
let on = {};

/** Reads and shows the newest deliveries of an endpoint; undefined leaves them. */
export async function openDeliveries(of, then = {}) {
  on = then;
  if (of?.id !== endpoint?.id) {
    for (const kept of [opened, outcomes]) kept.clear();
    state.value = '';
    clear();
  }
  endpoint = of;
  if (of === undefined) drop();
  else await load();
}

function clear() {
  rows.replaceChildren();
  byId('deliveries-table').hidden = true;
  none.hidden = true;
  more.hidden = true;
  showFailure(failed);
}

async function read(cursor) {
  const { missing } = on;
  try {
    return await call('deliveries', { endpoint: endpoint.id, state: state.value || null, cursor });
  } catch (error) {
    if (error.code === 'not_found') missing();
    throw error;
  }
}

async function load() {
  const page = await attempt(() => read(), failed, load);
  if (!page) return;
  attemptsToCome = [];
  rows.replaceChildren(...rowsOf(page));
  byId('deliveries-table').hidden = page.data.length === 0;
  none.hidden = page.data.length > 0;
  none.textContent =
    state.value === ''
      ? 'Nothing was sent yet. Events that happen from now on are listed here; to try the endpoint, send a test event.'
      : 'No deliveries in this state.';
  follow(page);
}

const rowsOf = ({ data }) => data.flatMap(pair);
const follow = readsOn(more, { attempt, place: failed, read, rows, rowsOf, shown: sayNextAttempts });

function sayNextAttempts() {
  const open = attemptsToCome.filter(({ delivery }) => ['waiting', 'held'].includes(delivery.state));
  // older ones may be on the next page
  const hasOldest = state.value !== 'held' && (more.hidden || open.length >= endpoint.waiting);
  const oldest = hasOldest ? open.at(-1) : undefined;
  for (const one of attemptsToCome) one.place.replaceChildren(nextAttempt(endpoint, one.delivery, one === oldest));
}

state.addEventListener('change', () => {
  clear();
  void load();
});

const STATES = {
  delivered: { words: 'delivered', tag: 'enabled' },
  waiting: { words: 'retrying', tag: 'failing' },
  held: { words: 'held back', note: 'behind an earlier event of the same object' },
  failed: { words: 'given up', tag: 'disabled', note: 'all attempts failed' },
  skipped: { words: 'skipped', note: 'the endpoint was enabled from another time' },
};

/** The row of a delivery, and the row of its details. */
function pair(delivery) {
  const { id, type, object_id: object, attempts, next_attempt_at: again, at } = delivery;
  const { words, tag = '', note } = STATES[delivery.state] ?? { words: delivery.state };
  const details = element('tr', { class: 'delivery-details', id: `delivery-${id}` });
  const last = delivery.log.at(-1);
  const button = element(
    'button',
    {
      class: 'button',
      type: 'button',
      'aria-controls': details.id,
      'aria-label': `Details of ${type} ${object ?? ''}`,
    },
    'Details',
  );
  const show = () => {
    const isOpen = opened.has(id);
    details.hidden = !isOpen;
    button.setAttribute('aria-expanded', String(isOpen));
    details.replaceChildren(...(isOpen ? [detailsOf(delivery)] : []));
  };
  button.addEventListener('click', () => {
    if (!opened.delete(id)) opened.add(id);
    show();
  });
  details.addEventListener('changed', show);
  show();
  const toCome = cell('Next attempt');
  attemptsToCome.push({ delivery, place: toCome.firstElementChild });
  // cards leave it out
  toCome.classList.toggle('idle', again === null);
  const quiet = note ?? (last && (last.ok ? `${last.status}, ${last.ms} ms` : last.error));
  const row = element(
    'tr',
    {},
    element('th', { scope: 'row', 'data-label': 'Event' }, element('div', {}, element('code', {}, type))),
    cell('Object', object === null ? '' : element('code', { class: 'id' }, object)),
    cell('State', element('span', { class: `tag ${tag}` }, words), quiet && element('span', { class: 'quiet' }, quiet)),
    cell('Attempts', String(attempts)),
    toCome,
    cell('First sent', ago(at, '')),
    cell('Details', element('div', { class: 'actions' }, button)),
  );
  return [row, details];
}

function detailsOf(delivery) {
  const { id, event_id: event, log } = delivery;
  const last = log.at(-1);
  const done = outcomes.get(id);
  return element(
    'td',
    { colspan: '7' },
    element('p', {}, 'Event id, sent as webhook-id: ', element('code', { class: 'id' }, event)),
    log.length === 0 ? element('p', { class: 'quiet' }, 'It was not tried yet.') : attemptsOf(log),
    last && !done && last.answer !== null ? element('p', {}, 'What it answered last, up to 1 KiB:') : undefined,
    last && !done ? answerOf(last) : undefined,
    settings.mayChange ? resendButton(delivery) : undefined,
    done && (done instanceof Error ? failureBox(done) : outcomeBox('Sent again', done)),
  );
}

function failureBox({ message }) {
  return element('p', { class: 'alert', role: 'alert' }, message);
}

function attemptsOf(log) {
  const rowOf = ({ at, ok, status, error, ms }) =>
    element(
      'tr',
      {},
      element('td', {}, ago(at, ''), element('span', { class: 'quiet' }, exact(at))),
      element('td', { class: ok ? 'good' : 'bad' }, ok ? `accepted: ${status}` : error),
      element('td', {}, `${ms.toLocaleString('en')} ms`),
    );
  return element(
    'table',
    { class: 'plain attempts' },
    element('caption', {}, 'Attempts, newest first, with those by hand'),
    element(
      'thead',
      {},
      element('tr', {}, ...['When', 'Outcome', 'Took'].map((name) => element('th', { scope: 'col' }, name))),
    ),
    element('tbody', {}, ...log.toReversed().map(rowOf)),
  );
}

function resendButton(delivery) {
  const { id, type } = delivery;
  const isRunning = sending.has(id);
  return element(
    'p',
    { class: 'actions' },
    element(
      'button',
      {
        ...{ class: 'button', type: 'button', 'aria-disabled': String(isRunning), 'data-resend': true },
        ...{ 'aria-label': `Send again: ${type}`, click: () => resend(delivery) },
      },
      'Send again',
    ),
    element(
      'span',
      { class: 'hint' },
      isRunning ? 'Sending…' : 'Now, with the same id. Order and retries stay as they are.',
    ),
  );
}

async function resend(delivery) {
  const { id } = delivery;
  if (sending.has(id)) return;
  const of = endpoint.id;
  sending.add(id);
  outcomes.delete(id);
  redraw(id);
  const done = await call('resend', { endpoint: of, delivery: id }).catch(failureOf);
  sending.delete(id);
  // another endpoint is shown by now
  if (endpoint?.id !== of) return;
  outcomes.set(id, done);
  if (done.code === 'not_found') on.missing();
  if (!(done instanceof Error)) {
    // as the gateway notes it: the answer is kept of the last attempt only
    delivery.log = [...delivery.log.map((one) => ({ ...one, answer: null })), done].slice(-10);
    say(done.ok ? 'Sent again: accepted.' : 'Sent again: failed.');
    if (done.ok) on.accepted();
  }
  redraw(id);
}

function redraw(id) {
  const details = byId(`delivery-${id}`);
  const hadFocus = details?.contains(document.activeElement);
  details?.dispatchEvent(new Event('changed'));
  if (hadFocus) details.querySelector('[data-resend]')?.focus();
}
