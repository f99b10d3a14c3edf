import { now } from './api';
import { element } from './dom';

/* Times relative to now, in words. */

/** Units with their length in seconds, and from how many on the next is used. */
const UNITS = [
  ['minute', 60, 60],
  ['hour', 3600, 24],
  ['day', 86_400, 3653],
  ['year', 31_557_600, Infinity],
];
const words = new Intl.RelativeTimeFormat('en', { numeric: 'always' });
/** How often the shown ones are brought up to date, in milliseconds. */
const EVERY = 20_000;

/** `3 minutes ago`, `in 2 hours`, `just now`: what is past is rounded down, what is to come to the nearest. */
export function relative(iso) {
  const seconds = (Date.parse(iso) - now()) / 1000;
  const round = seconds < 0 ? Math.trunc : Math.round;
  const counts = UNITS.map(([unit, length, end]) => ({ unit, count: round(seconds / length), end }));
  const { unit, count } = counts.find(({ count: one, end }) => Math.abs(one) < end);
  if (count === 0) return seconds > 10 ? 'in less than a minute' : 'just now';
  // years are written without a comma
  if (unit === 'year') return count < 0 ? `${-count} years ago` : `in ${count} years`;
  return words.format(count, unit);
}

/** A length of time in its largest unit: `45 seconds`, `3 minutes`, `2 days`. */
export function span(seconds) {
  const [unit, length] = UNITS.slice(0, -1).findLast(([, size]) => seconds >= size) ?? ['second', 1];
  const count = Math.floor(seconds / length);
  return `${count.toLocaleString('en')} ${unit}${count === 1 ? '' : 's'}`;
}

/** `2026-07-01 10:03:05 UTC` */
export function exact(iso) {
  return `${iso.slice(0, 19).replace('T', ' ')} UTC`;
}

/** A relative time with the exact one as its tooltip. */
export function ago(iso, otherwise) {
  if (iso === null) return otherwise;
  return element('time', { datetime: iso, title: exact(iso), 'data-relative': true }, relative(iso));
}

setInterval(() => {
  for (const place of document.querySelectorAll('[data-relative]')) {
    const text = relative(place.getAttribute('datetime'));
    if (place.textContent !== text) place.textContent = text;
  }
}, EVERY);
