import type { JSX } from 'preact';
import { DAY, HOUR } from '../../src/units';
import type { Calls } from './calls';
import { Segments } from './parts';
import { choose, chosen } from './route';
import { clockOf, dayOf, utcDayOf } from './time';

/* The periods of usage; the chosen one is in the address. */

export type Period = Calls['usage']['variables']['period'];

interface Words {
  readonly name: string;
  readonly span: string;
  /** The length of a bucket in milliseconds. */
  readonly step: number;
  /** The filter `since` of the requests, which are kept for 7 days. */
  readonly since?: string;
}

const PERIODS: Readonly<Record<Period, Words>> = {
  last_1h: { name: '1 hour', span: 'the last hour', step: HOUR / 12, since: '1' },
  last_24h: { name: '24 hours', span: 'the last 24 hours', step: HOUR, since: '24' },
  last_7d: { name: '7 days', span: 'the last 7 days', step: DAY },
  last_30d: { name: '30 days', span: 'the last 30 days', step: DAY },
};
/** The period of an address that names none. */
export const USUAL = 'last_24h';
const OPTIONS = Object.entries(PERIODS).map(([period, { name }]) => [period, name] as const);

export function periodInAddress(): Period {
  const period = chosen('period') ?? '';
  return Object.hasOwn(PERIODS, period) ? (period as Period) : USUAL;
}

/** An answer with its period, since another may be chosen before it arrives. */
export type InPeriod<T> = T & { readonly period: Period };
export async function inPeriod<T extends object>(period: Period, answer: Promise<T>): Promise<InPeriod<T>> {
  return { ...(await answer), period };
}

export const spanOf = (period: Period): string => PERIODS[period].span;
/** `the 24 hours before`, `the hour before` */
export const spanBefore = (period: Period): string => `${spanOf(period).replace('last ', '')} before`;
/** What limits a list of requests to a period. */
export const sinceOf = (period: Period): string => {
  const { since } = PERIODS[period];
  return since === undefined ? '' : `&since=${since}`;
};

/** `change` is called once the address has the chosen period. */
export function Periods(props: { name: string; label: string; of: Period; change: (to: Period) => void }): JSX.Element {
  return (
    <Segments
      name={props.name}
      label={props.label}
      of={props.of}
      options={OPTIONS}
      change={(to) => {
        choose({ period: to === USUAL ? null : to });
        props.change(to as Period);
      }}
    />
  );
}

/** The time that a bucket counts. */
export interface Span {
  readonly since: string;
  readonly until: string;
  /** Its start in few words, in local time; a day is one of UTC, as it is counted. */
  readonly label: string;
  /** All of it in words. */
  readonly local: string;
  readonly utc: string;
}

export function spanAt(start: string, period: Period): Span {
  const until = new Date(Date.parse(start) + PERIODS[period].step).toISOString();
  const utc = `${start.slice(11, 16)} to ${until.slice(11, 16)} UTC`;
  if (PERIODS[period].step < DAY) {
    const [from, to] = [clockOf(start), clockOf(until)];
    return { since: start, until, label: from, local: `${dayOf(start)}, ${from} to ${to}`, utc };
  }
  const zone = `${dayOf(start)}, ${clockOf(start)} to ${dayOf(until)}, ${clockOf(until)} here`;
  const isUtc = new Date(start).getTimezoneOffset() === 0;
  return { since: start, until, label: utcDayOf(start), local: `${utcDayOf(start)} (UTC)`, utc: isUtc ? '' : zone };
}
