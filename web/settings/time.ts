import { now } from './api';

/* Times in words. */

/** Units with their length in seconds, and the number from which the next larger unit is used. */
const UNITS = [
  ['minute', 60, 60],
  ['hour', 3600, 24],
  ['day', 86_400, 3653],
  ['year', 31_557_600, Infinity],
] as const;
const words = new Intl.RelativeTimeFormat('en', { numeric: 'always' });

/** `3 minutes ago`, `in 2 hours`, `just now`: past times are rounded down, future ones to the nearest. */
export function relative(iso: string): string {
  const seconds = (Date.parse(iso) - now()) / 1000;
  const round = seconds < 0 ? Math.trunc : Math.round;
  const counts = UNITS.map(([unit, length, end]) => ({ unit, count: round(seconds / length), end }));
  const { unit, count } = counts.find(({ count: most, end }) => Math.abs(most) < end) ?? { unit: 'year', count: 0 };
  if (count === 0) return seconds > 10 ? 'in less than a minute' : 'just now';
  // years are written without a comma
  if (unit === 'year') return count < 0 ? `${-count} years ago` : `in ${count} years`;
  return words.format(count, unit);
}

/** A length of time in its largest unit: `45 seconds`, `3 minutes`, `2 days`. */
export function span(seconds: number): string {
  const [unit, length] = UNITS.slice(0, -1).findLast(([, size]) => seconds >= size) ?? ['second', 1];
  const count = Math.floor(seconds / length);
  return `${count.toLocaleString('en')} ${unit}${count === 1 ? '' : 's'}`;
}

/** `2026-07-01 10:03:05 UTC` */
export function exact(iso: string): string {
  return `${iso.slice(0, 19).replace('T', ' ')} UTC`;
}

export const CLOCK = { hour: '2-digit', minute: '2-digit' } as const;
export const DAY = { day: 'numeric', month: 'short' } as const;

/** Writes times in the visitor's time zone. */
export function createFormat(options: Intl.DateTimeFormatOptions): (iso: string) => string {
  const format = new Intl.DateTimeFormat('en-GB', options);
  return (iso) => format.format(new Date(iso));
}

/** `28 Nov 2026, 14:05` */
export const localTime = createFormat({ ...DAY, year: 'numeric', ...CLOCK });
/** `14:05` */
export const clockOf = createFormat(CLOCK);
/** `28 Nov` */
export const dayOf = createFormat(DAY);
/** `28 Nov`: the day in UTC. */
export const utcDayOf = createFormat({ ...DAY, timeZone: 'UTC' });
const weekdayOf = createFormat({ weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });

/** The day of a time, where the browser is: `Today`, `Yesterday`, `Friday 27 November 2026`. */
export function dayInWords(iso: string): string {
  const date = new Date(iso).toDateString();
  const today = new Date(now());
  if (date === today.toDateString()) return 'Today';
  today.setDate(today.getDate() - 1);
  return date === today.toDateString() ? 'Yesterday' : weekdayOf(iso).replace(',', '');
}

/** The beginning of a day (YYYY-MM-DD) where the browser is, or of another one some days later. */
export function startOf(day: string, later = 0): Date {
  const date = new Date(`${day}T00:00`);
  date.setDate(date.getDate() + later);
  return date;
}

export const TIME_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** A time as `datetime-local` inputs have it, in the visitor's time zone: `2026-11-28T14:05`. */
export function localInput(time: number): string {
  return new Date(time - new Date(time).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** `8 ms`, `1.2 s` */
export function length(ms: number): string {
  if (ms < 1) return '<1 ms';
  const [value, unit] = ms < 999.5 ? [Math.round(ms), 'ms'] : [Math.round(ms / 100) / 10, 's'];
  return `${value.toLocaleString('en')} ${unit}`;
}
