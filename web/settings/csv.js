import { call, failureOf } from './api.js';
import { byId, element, say } from './dom.js';

/* The audit log as a file, made here from page after page. What was read is kept until it is saved or another file is begun. */

const button = byId('csv');
const state = byId('csv-state');
const text = byId('csv-text');
const buttons = byId('csv-buttons');
const AT_ONCE = 100;
/** How long to wait when too many requests were made, in milliseconds. */
const PAUSE = 5000;
const COLUMNS = ['id', 'at', 'action', 'actor', 'actor_name', 'from', 'key_id', 'details'];

const most = () => Number(button.dataset.most);
/** What is read: {filters, events, cursor}, and whether it is being read. */
let job;
let isReading = false;
/** The number of the present reading: an answer to an earlier one is dropped. */
let turn = 0;

const counted = (number) => `${number.toLocaleString('en')} ${number === 1 ? 'event' : 'events'}`;

/** `filters()` has those of the shown list. */
export function wireCsv(filters) {
  button.addEventListener('click', () => {
    if (isReading) return stop();
    job = { filters: filters(), events: [], cursor: null };
    void read();
  });
}

async function read() {
  turn += 1;
  const own = turn;
  isReading = true;
  button.textContent = 'Stop';
  show(`${counted(job.events.length)} read…`);
  say('Reading the audit log.');
  try {
    while (job.events.length < most()) {
      const page = await next(own);
      if (own !== turn) return;
      job.events.push(...page.data);
      job.cursor = page.next_cursor;
      if (job.cursor === null) break;
      show(`${counted(job.events.length)} read…`);
    }
    end();
    finish();
  } catch (error) {
    if (own !== turn) return;
    const { message, link } = failureOf(error);
    end();
    pause(message.replace(/ Try again\.$/, ''), link);
  }
}

/** The next page; waits while too many requests were made. @throws Failure */
async function next(own) {
  for (;;) {
    try {
      return await call('events', { ...job.filters, limit: AT_ONCE, cursor: job.cursor });
    } catch (error) {
      if (own !== turn || failureOf(error).code !== 'rate_limited') throw error;
      show(`${counted(job.events.length)} read; the limit of requests per minute is reached, so this goes on later…`);
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
      if (own !== turn) throw error;
    }
  }
}

function end() {
  turn += 1;
  isReading = false;
  button.textContent = 'Download CSV';
}

/** What is on its way is read again when it goes on. */
function stop() {
  end();
  pause('Stopped.');
}

function pause(reason, link) {
  const count = job.events.length;
  const message = `${reason} ${counted(count)} ${count === 1 ? 'was' : 'were'} read.`;
  show(
    message,
    action('Go on', () => void read()),
    count === 0 ? undefined : action(`Save ${counted(count)}`, save),
    link && element('a', { class: 'button', href: link.href, target: '_blank' }, link.text),
  );
  say(message);
}

function finish() {
  if (job.events.length === 0) return leave('There are no such events.');
  save();
}

/** Saves what was read, and forgets it. */
function save() {
  const { events, cursor } = job;
  const name = `audit-${new Date().toISOString().slice(0, 10)}.csv`;
  const href = URL.createObjectURL(new Blob([toCsv(events.slice(0, most()))], { type: 'text/csv' }));
  element('a', { href, download: name }).click();
  // the browser has it by then
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
  const isCut = cursor !== null && events.length >= most();
  const advice = isCut ? ' Older ones are not in it: choose an action or a key for those.' : '';
  leave(`Saved ${counted(Math.min(events.length, most()))} as ${name}.${advice}`);
}

function leave(message) {
  job = undefined;
  show(message);
  say(message);
}

function show(message, ...actions) {
  state.hidden = false;
  state.classList.toggle('warning', actions.length > 0);
  // a session that ends then must not take the page away
  state.toggleAttribute('data-unsaved', job !== undefined && job.events.length > 0);
  text.textContent = message;
  if (buttons.contains(document.activeElement)) button.focus();
  buttons.replaceChildren(...actions.filter((one) => one !== undefined));
}

function action(label, does) {
  return element('button', { class: 'button', type: 'button', click: does }, label);
}

/**
 * Events as CSV (RFC 4180). It begins with a byte order mark, without which Excel takes UTF-8 for another encoding, and a cell that a spreadsheet would
 * take for a formula begins with an apostrophe, since names in it are chosen by others.
 */
export function toCsv(events) {
  const rows = [COLUMNS, ...events.map((event) => COLUMNS.map((column) => event[column] ?? ''))];
  return `\ufeff${rows.map((row) => `${row.map(cellOf).join(',')}\r\n`).join('')}`;
}

function cellOf(value) {
  const safe = /^[=+\-@\t\r\n]/.test(value) ? `'${value}` : value;
  return /[",\r\n']/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
