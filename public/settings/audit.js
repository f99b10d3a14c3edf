import { call, newest } from './api.js';
import { byId, cell, element } from './dom.js';
import { ago, exact } from './time.js';

/* The audit log, newest first. */

const rows = byId('events');
const more = byId('more-events');
const place = byId('events-failure');
const { attempt } = newest();
let next = null;

/** Loads and shows the newest events. */
export async function loadEvents() {
  const page = await attempt(() => call('events'), place, loadEvents);
  if (!page) return;
  rows.replaceChildren(...page.data.map(row));
  follow(page);
}

async function loadMore() {
  const page = await attempt(() => call('events', { cursor: next }), place, loadMore);
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

const WORDS = {
  'organisation.created': 'Organisation created',
  'organisation.plan_changed': 'Plan changed',
  'key.created': 'Key created',
  'key.rotated': 'Key rotated',
  'key.revoked': 'Key revoked',
  'webhook.created': 'Webhook endpoint added',
  'webhook.updated': 'Webhook endpoint changed',
  'webhook.rotated': 'Webhook secret rotated',
  'webhook.enabled': 'Webhook endpoint enabled',
  'webhook.disabled': 'Webhook endpoint disabled',
  'webhook.deleted': 'Webhook endpoint deleted',
  'link.created': 'Sign-in link created',
  'user.signed_in': 'Signed in',
  'user.signed_out': 'Signed out',
};

/** The row of an event. */
export function row(event) {
  const who = event.actor_name === null ? event.actor : event.actor_name;
  return element(
    'tr',
    {},
    cell('When', ago(event.at), element('span', { class: 'quiet' }, exact(event.at))),
    cell('What', WORDS[event.action] ?? event.action),
    cell('Who', element('span', { title: event.actor }, who)),
    cell('From', event.from),
    cell('Details', details(JSON.parse(event.details))),
  );
}

/** `name: nightly · scopes: quotes:read`, without members that are not set. */
function details(given) {
  const shown = Object.entries(given).filter(([, value]) => value !== null && !isEmpty(value));
  const text = shown.map(([name, value]) => `${name.replaceAll('_', ' ')}: ${inWords(value)}`);
  return element('span', { class: 'details' }, text.join(' · '));
}

const isEmpty = (value) => Array.isArray(value) && value.length === 0;
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

function inWords(value) {
  if (Array.isArray(value)) return value.map(inWords).join(', ');
  // as of the key that was rotated: its name and what is shown of it
  if (typeof value === 'object') return Object.values(value).map(inWords).join(' ');
  return TIME.test(value) ? exact(value) : String(value);
}
