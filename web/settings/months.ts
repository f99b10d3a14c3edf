import { now } from './api';

/* The periods of Insights, and their months, which are those of UTC as in the API; or years, if there are many months. */

export const INSIGHT_PERIODS = [
  ['last_12_months', '12 months'],
  ['this_year', 'This year'],
  ['last_year', 'Last year'],
  ['all', 'All'],
] as const;
export type InsightPeriod = (typeof INSIGHT_PERIODS)[number][0];

/** The months of a period as their numbers since the year 0, both inclusive; undefined for all. */
function monthsOf(period: InsightPeriod): readonly [first: number, last: number] | undefined {
  const today = new Date(now());
  const month = today.getUTCFullYear() * 12 + today.getUTCMonth();
  const january = month - today.getUTCMonth();
  if (period === 'all') return undefined;
  if (period === 'last_12_months') return [month - 11, month];
  return period === 'this_year' ? [january, month] : [january - 12, january - 1];
}

/** The first day of a month. A year below 100 would be taken for one of the last century. */
function startOf(month: number): Date {
  const date = new Date(Date.UTC(2000, month % 12));
  date.setUTCFullYear(Math.floor(month / 12));
  return date;
}

/** A period as arguments of a total. What lies in the future counts as of this year, and of the last 12 months. */
export function spanOf(period: InsightPeriod): { readonly from?: string; readonly to?: string } {
  const months = monthsOf(period);
  if (!months) return {};
  const [first, last] = months;
  const from = startOf(first).toISOString();
  return period === 'last_year' ? { from, to: startOf(last + 1).toISOString() } : { from };
}

interface Row {
  readonly month: string | null;
  readonly count: number;
  readonly total_minor: number;
}

/** What counts in a month or year. */
export interface Bucket {
  /** `March 2026` or `2026` */
  readonly name: string;
  /** `Mar` or `2026` */
  readonly label: string;
  /** The year of a month. */
  readonly year?: string;
  readonly count: number;
  readonly minor: bigint;
}

/** The most columns of a chart. */
const MOST = 36;

/**
 * The rows of a period by month; those in between without any are empty. If that would be too many, of all by year, the latest if there are
 * still more; of another period with only those months after it that have any, so that one order of the far future does not hide its months.
 */
export function bucketsOf(rows: readonly Row[], period: InsightPeriod): readonly Bucket[] {
  const counted = rows.map((row) => ({ ...row, at: numberOf(row.month ?? '') }));
  const given = counted.map(({ at }) => at);
  const [first, last] = monthsOf(period) ?? [Math.min(...given), Math.max(...given)];
  const end = Math.max(last, ...given);
  const isShort = end - first < MOST;
  if (isShort || period !== 'all') {
    const later = distinct(given.filter((at) => at > last));
    const months = isShort ? between(first, end) : [...between(first, last), ...later].slice(0, MOST);
    return months.map((at) =>
      monthBucket(
        at,
        sumOf(counted, (row) => row.at === at),
      ),
    );
  }
  const years = distinct(given.map(yearOf));
  const [oldest = 0, newest = 0] = [years[0], years.at(-1)];
  const shown = newest - oldest < MOST ? between(oldest, newest) : years.slice(-MOST);
  return shown.map((year) => ({
    name: String(year),
    label: String(year),
    ...sumOf(counted, ({ at }) => yearOf(at) === year),
  }));
}

const distinct = (numbers: readonly number[]): number[] => [...new Set(numbers)].sort((left, right) => left - right);
const yearOf = (month: number): number => Math.floor(month / 12);

function numberOf(month: string): number {
  const [year = 0, digits = 1] = month.split('-').map(Number);
  return year * 12 + digits - 1;
}

function between(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, at) => first + at);
}

function sumOf<R extends Row>(rows: readonly R[], counts: (row: R) => boolean): Pick<Bucket, 'count' | 'minor'> {
  const counted = rows.filter(counts);
  return {
    count: counted.reduce((sum, row) => sum + row.count, 0),
    minor: counted.reduce((sum, row) => sum + BigInt(row.total_minor), 0n),
  };
}

// years are those of the API, whatever calendar the browser uses
const MONTH = { calendar: 'gregory', timeZone: 'UTC' } as const;
const LONG = new Intl.DateTimeFormat(undefined, { ...MONTH, month: 'long', year: 'numeric' });
const SHORT = new Intl.DateTimeFormat(undefined, { ...MONTH, month: 'short' });

function monthBucket(month: number, sums: Pick<Bucket, 'count' | 'minor'>): Bucket {
  const start = startOf(month);
  return { name: LONG.format(start), label: SHORT.format(start), year: String(yearOf(month)), ...sums };
}

/** The names below columns: those of at most `most` of them, with the year where it begins. */
export function labelsOf(buckets: readonly Bucket[], most: number): readonly (readonly string[])[] {
  const every = Math.ceil(buckets.length / most);
  return buckets.map(({ label, year }, index) => {
    if (index % every !== 0) return [];
    const { year: before } = buckets[index - every] ?? {};
    const { year: after = year } = buckets[index + every] ?? {};
    // where the next year begins at once, there is no room for the first
    const begins = before === undefined ? year === after : year !== before;
    return begins && year !== undefined ? [label, year] : [label];
  });
}
