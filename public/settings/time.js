import { now } from './api.js';
import { element } from './dom.js';

/* Times relative to now, in words. */

const UNITS = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
];
const words = new Intl.RelativeTimeFormat('en', { numeric: 'always' });
/** How often the shown ones are brought up to date, in milliseconds. */
const EVERY = 20_000;

/** `3 minutes ago`, `in 2 hours`, `just now`. */
function relative(iso) {
  const seconds = (Date.parse(iso) - now()) / 1000;
  const [unit, length] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? [];
  if (unit) return words.format(Math.trunc(seconds / length), unit);
  return seconds > 10 ? 'in less than a minute' : 'just now';
}

/** A length of time in its largest unit: `45 seconds`, `3 minutes`, `2 days`. */
export function span(seconds) {
  const [unit, length] = UNITS.find(([, size]) => seconds >= size) ?? ['second', 1];
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
