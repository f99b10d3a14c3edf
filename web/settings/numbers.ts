import { settings } from './api';
import { length } from './time';

/* Counts and times in words. */

export const count = (value: number | null): string => (value ?? 0).toLocaleString('en');

/** `1 event`, `1,200 events` */
export const counted = (value: number, what: string): string => `${count(value)} ${what}${value === 1 ? '' : 's'}`;

/** `one event`, `1,200 events` */
export const inWords = (value: number, what: string): string => (value === 1 ? `one ${what}` : counted(value, what));

/** `2.5%`: more than nothing is never shown as nothing. */
export function percent(share: number | null): string {
  const value = (share ?? 0) * 100;
  if (value > 0 && value < 0.1) return '<0.1%';
  return `${value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 1 : 0 })}%`;
}

/** `≤ 50 ms`: times to answer are counted in buckets, so a percentile is known only up to its bucket's upper bound. */
export function answerTime(ms: number | null): string {
  if (ms === null) return '–';
  const bound = settings.timeBounds.find((candidate) => ms <= candidate);
  return bound === undefined || ms === settings.timeBounds.at(-1) ? `≥ ${length(ms)}` : `≤ ${length(bound)}`;
}
