import { type PipelineStage, trusted } from 'mongoose';
import { ROWS_PER_PIECE } from '../database/courtesy';
import { READ_TIMEOUT } from '../database/native';
import type { OrganisationData } from '../database/organisationData';
import { invalidRequest } from '../errors';
import { hasBrokenNumber, requireNumbers } from './brokenNumbers';
import type { Resource } from './resource';

/* Totals for dashboards (docs/decisions/dashboard-totals.md). */

/** A period; both ends are optional. ISO 8601. */
export interface Span {
  readonly from?: string | null;
  /** Exclusive. */
  readonly to?: string | null;
}

export const TOTALS_GROUPS = ['STATUS', 'MONTH', 'CUSTOMER', 'CURRENCY'] as const;
type Group = (typeof TOTALS_GROUPS)[number];

export interface TotalsArguments extends Span {
  readonly group_by?: readonly Group[] | null;
  readonly status?: readonly string[] | null;
  readonly customer_id?: string | null;
  readonly currency?: string | null;
  readonly sort?: string | null;
  readonly limit?: number | null;
}

export interface TotalsSpec {
  readonly collection: Resource;
  /** The member with the time at which a row counts; the first member of an index. */
  readonly at: string;
  /** Whether that member is a day, which is stored as a string. */
  readonly isDay: boolean;
  readonly amounts: readonly string[];
}

export interface Rows<T> {
  readonly data: T[];
  readonly has_more: boolean;
}

type Row = Readonly<Record<string, unknown>>;

/** Maximum rows of a result: enough for two years by month, six statuses and seven customers, and still fast to draw. */
const MAX_ROWS = 1000;
const DAY_LENGTH = 'YYYY-MM-DD'.length;

/** Counts and sums by group, which always includes the currency. @throws AppError invalid_request */
export async function totals(data: OrganisationData, spec: TotalsSpec, args: TotalsArguments): Promise<Rows<Row>> {
  const by = new Set(args.group_by);
  const keys: Row = {
    ...(by.has('MONTH') && { month: monthOf(spec) }),
    ...(by.has('STATUS') && { status: '$status' }),
    ...(by.has('CUSTOMER') && { customer_id: { $ifNull: ['$customer_id', null] } }),
    currency: '$currency',
  };
  const sums = Object.fromEntries(spec.amounts.map((amount) => [amount, { $sum: exact(`$${amount}`) }]));
  const { $match: period } = within(spec.at, args, spec.isDay);
  const only = {
    ...(args.customer_id && { customer_id: args.customer_id.toLowerCase() }),
    ...(args.currency && { currency: args.currency }),
  };
  const byKeys = Object.fromEntries(Object.keys(keys).map((key) => [`_id.${key}`, 1 as const]));
  return aggregate(
    data,
    spec.collection,
    [
      { $match: { ...period, ...ofStatus(args.status), ...only } },
      { $group: { _id: keys, count: { $sum: 1 }, ...sums } },
      { $sort: { ...sortOf(args.sort), ...byKeys } },
    ],
    args.limit ?? MAX_ROWS,
  );
}

function sortOf(sort: string | null | undefined): Record<string, 1 | -1> {
  if (!sort) return {};
  return sort.startsWith('-') ? { [sort.slice(1)]: -1 } : { [sort]: 1 };
}

/** Matches rows with one of these statuses; `otherwise` if none are given. */
export function ofStatus(given: readonly string[] | null | undefined, otherwise: object = {}): object {
  return given ? { status: trusted({ $in: given }) } : otherwise;
}

function monthOf({ at, isDay }: TotalsSpec): object {
  return isDay ? { $substrCP: [`$${at}`, 0, 7] } : { $dateToString: { date: `$${at}`, format: '%Y-%m' } };
}

/** The first and last times that Python supports, since one embedded server is written in it; $dateToString can write their months. */
const [EARLIEST, LATEST] = ['0001-01-01T00:00:00Z', '9999-12-31T23:59:59.999Z'];

/**
 * The $match stage of a period, which uses the index of `at` even if the period is open-ended. Days are stored as strings.
 * @throws AppError invalid_request
 */
export function within(at: string, { from, to }: Span, isDay = false): PipelineStage.Match {
  const stored = (time: string): string | Date => (isDay ? time.slice(0, DAY_LENGTH) : new Date(time));
  const start = stored(from ?? EARLIEST);
  const end = to ? { $lt: stored(to) } : { $lte: stored(LATEST) };
  if (end.$lt !== undefined && end.$lt < start)
    throw invalidRequest([{ parameter: 'to', code: 'range', detail: 'must not be before from' }]);
  return { $match: { [at]: trusted({ $gte: start, ...end }) } };
}

/** Converts an amount to a 64-bit integer, since large ones are stored as doubles, whose sums are not exact. */
export function exact(amount: string): object {
  return ifWithin(amount, Number.MAX_SAFE_INTEGER, { $toLong: amount });
}

export function decimal(number: string): object {
  return { $toDecimal: ifWithin(number, Number.MAX_VALUE, number) };
}

/** `converted` for numbers up to `most`; `otherwise` for larger ones, which might not convert: NaN by default, so their sum is refused. */
export function ifWithin(value: string, most: number, converted: unknown, otherwise = NaN): object {
  return { $cond: [{ $and: [{ $gte: [value, -most] }, { $lte: [value, most] }] }, converted, otherwise] };
}

/** Runs stages whose rows have their group as `_id`, and truncates the result. @throws AppError invalid_request */
export async function aggregate(
  data: OrganisationData,
  collection: Resource,
  [period, ...stages]: readonly [PipelineStage.Match, ...PipelineStage[]],
  most = MAX_ROWS,
): Promise<Rows<Row>> {
  return data.aggregations(async () => {
    const rowsOf = data.collection(collection);
    const found = rowsOf.aggregate<{ _id: Row }>([period, ...stages, { $limit: most + 1 }], {
      maxTimeMS: READ_TIMEOUT,
      batchSize: MAX_ROWS + 2,
    });
    const rows: Row[] = [];
    for await (const { _id, ...sums } of found) {
      if (rows.length === most) return { data: rows, has_more: true };
      const exactly = withinRange(sums);
      if (typeof exactly === 'string') {
        const broken = { ...period.$match, $or: hasBrokenNumber(collection.stored.members) };
        const row = await rowsOf.findOne(broken, { maxTimeMS: READ_TIMEOUT });
        if (row) requireNumbers(collection, row);
        const detail = `${exactly} of a group exceeds the range of Minor (2^53-1); use a shorter period`;
        throw invalidRequest([{ parameter: 'from', code: 'range', detail }]);
      }
      rows.push({ ..._id, ...exactly });
      if (rows.length % ROWS_PER_PIECE === 0) await data.giveWay();
    }
    return { data: rows, has_more: false };
  });
}

/** The row with its sums as numbers, or the name of a sum that is not exact. */
function withinRange(row: Row): Row | string {
  const exactly: Record<string, unknown> = { ...row };
  for (const [name, sum] of Object.entries(row)) {
    if (!name.endsWith('_minor')) continue;
    // 64-bit integers that are not exact, and decimals, are objects
    exactly[name] = Number(String(sum));
    if (!Number.isSafeInteger(exactly[name])) return name;
  }
  return exactly;
}
