import { settings } from './api';
import { length } from './time';

/* Counts and times in words. */

export const count = (value: number | null): string => (value ?? 0).toLocaleString('en');

/** `1 event`, `1,200 events` */
export const counted = (value: number, what: string): string => `${count(value)} ${what}${value === 1 ? '' : 's'}`;

/** `one event`, `1,200 events` */
export const inWords = (value: number, what: string): string => (value === 1 ? `one ${what}` : counted(value, what));

/** `2.5%`: more than nothing is never shown as nothing, and less than all never as all. */
export function percent(share: number | null): string {
  if (share === null) return '–';
  const value = share * 100;
  if (value > 0 && value < 0.1) return '<0.1%';
  if (value > 99.9 && value < 100) return '>99.9%';
  const isPrecise = value < 10 || (value > 99 && value < 100);
  return `${value.toLocaleString('en', { maximumFractionDigits: isPrecise ? 1 : 0 })}%`;
}

/** `≤ 50 ms`: times to answer are counted in buckets, so a percentile is known only up to its bucket's upper bound. */
export function answerTime(ms: number | null): string {
  if (ms === null) return '–';
  const bound = settings.timeBounds.find((candidate) => ms <= candidate);
  return bound === undefined || ms === settings.timeBounds.at(-1) ? `≥ ${length(ms)}` : `≤ ${length(bound)}`;
}
