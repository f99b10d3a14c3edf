import { now } from '../api';
import { element } from '../dom';
import { ago, span } from '../time';

/* How the state of an endpoint is said. */

/** A URL that is broken into lines at its slashes where there is a choice. */
export function urlParts(url) {
  return url.split(/(?<=[^/:]\/)/).flatMap((part, at) => (at === 0 ? [part] : [element('wbr'), part]));
}

/** A few types as chips; `most` of them, with the rest as a count. */
export function typeList(types, most = types.length) {
  if (types.length === 0) return element('span', {}, 'all');
  const chips = types.slice(0, most).map((type) => element('li', {}, type));
  const rest = types.slice(most);
  if (rest.length > 0) chips.push(element('li', { title: rest.join(', ') }, `and ${rest.length} more`));
  return element('ul', { class: 'chips' }, ...chips);
}

const DISABLED = {
  by_hand: 'by hand',
  failures: 'after nothing but failures for 5 days',
  gone: 'because it answered 410 Gone',
};

/** What there is to say of an endpoint's state beside its name, as parts of a line; empty if nothing. */
export function stateNote({ state, disabled_reason: reason, disabled_at: at, failing_since: since, ...rest }) {
  if (state === 'disabled') return [`${DISABLED[reason] ?? ''} `, ago(at, '')];
  if (since === null) return [];
  if (state === 'enabled') return ['some events fail; the first failed ', ago(since)];
  const { next_attempt_at: next } = rest;
  return ['the first failed ', ago(since), ...(next === null ? [] : ['; tried again ', ahead(next)])];
}

/** A time to come; once it has passed, what it waits for. */
function ahead(iso) {
  return isPast(iso) ? SOON : element('span', { 'data-ahead': iso }, ago(iso));
}

const SOON = 'as soon as there is room';
const isPast = (iso) => Date.parse(iso) <= now();

setInterval(() => {
  for (const place of document.querySelectorAll('[data-ahead]')) {
    if (isPast(place.dataset.ahead)) place.replaceWith(SOON);
  }
}, 2000);

/** When a delivery of an endpoint is tried again: of one that is failing, only the oldest is. */
export function nextAttempt({ state, next_attempt_at: next }, { next_attempt_at: own }, isOldest) {
  if (own === null) return 'none';
  if (state === 'disabled') return 'when it is enabled';
  if (state === 'failing') return isOldest ? ahead(next ?? own) : 'after the oldest is accepted';
  return ahead(own);
}

/** How long events are kept, in seconds: nothing older is behind. */
const KEPT = 30 * 86_400;

/** How far it is behind. */
export function behind({ lag_seconds: lag, waiting }) {
  const words = () => (lag > KEPT ? 'more than 30 days' : span(lag));
  if (lag === 0 && waiting > 0) return [`up to date, but for ${events(waiting)} waiting to be retried`];
  const parts = [lag === null ? 'not known' : lag === 0 ? 'up to date' : words()];
  if (waiting > 0) parts.push(element('span', { class: 'quiet' }, `${events(waiting)} waiting to be retried`));
  return parts;
}

/** `one event`, `3 events` */
export function events(count) {
  return count === 1 ? 'one event' : `${count.toLocaleString('en')} events`;
}

const NOTICES = {
  by_hand: 'Somebody disabled this endpoint, so nothing is sent to it. Enable it when it is to get events again.',
  failures:
    'Everything that was sent to this endpoint failed for five days, so it was disabled. Look below at what it answered, repair it, send a test event, then enable it: from where it stopped, if that is at most 30 days ago.',
  gone: 'This endpoint answered 410 Gone, which says that it wants nothing more, so it was disabled. Delete it if it is no longer needed; otherwise change its URL or repair it, send a test event, and enable it.',
};

const ACCEPTED =
  'The endpoint accepted what was sent by hand. That does not count: it stays failing until it accepts the oldest event that waits. To send that at once, and the others after it, press "Try again" and choose "From where it stopped".';

/** What an admin should do about an endpoint, also after it has accepted something by hand; undefined if nothing. */
export function noticeOf({ state, disabled_reason: reason, waiting, hasAccepted }) {
  if (state === 'disabled') return NOTICES[reason];
  if (state === 'failing' && hasAccepted) return ACCEPTED;
  if (state === 'failing')
    return 'The last events of ten different objects failed. Until one is accepted, only the oldest is tried again; the others wait, and nothing is lost within 30 days. Look below at what the endpoint answers, repair it, and try again. After five days of nothing but failures it is disabled.';
  if (waiting === 0) return undefined;
  return waiting === 1
    ? 'One event failed and is tried again automatically, for up to 75 hours. Later events of the same object wait behind it, so that they stay in order.'
    : `${events(waiting)} failed, or wait behind one that failed. They are tried again automatically, for up to 75 hours, and events of the same object stay in order.`;
}

/** One line of what became of an attempt. */
export function outcome({ ok, status, error, ms }) {
  const took = `${ms.toLocaleString('en')} ms`;
  return ok ? `Accepted: the answer was ${status}, after ${took}.` : `Failed: ${error}, after ${took}.`;
}
