import { type PipelineStage, trusted } from 'mongoose';
import type { Collection } from '../../database/collection';
import { ROWS_OF_PIECE } from '../../database/courtesy';
import { nativeCollection, READ_WITHIN } from '../../database/native';
import type { OrganisationData } from '../../database/organisationData';
import { invalidRequest } from '../../errors';
import type { TOTALS_GROUPS } from '../../schema/gaps/totalsGaps';

/* Totals for dashboards (docs/decisions/dashboard-totals.md). */

/** A period; both ends are optional. ISO 8601. */
export interface Span {
  readonly from?: string | null;
  /** Exclusive. */
  readonly to?: string | null;
}

type Group = (typeof TOTALS_GROUPS)[number];

export interface TotalsArguments extends Span {
  readonly group_by?: readonly Group[] | null;
}

export interface TotalsSpec {
  readonly collection: Collection<{ readonly _id: string }>;
  /** The member with the time at which a row counts; the first of an index. */
  readonly at: string;
  /** The members to sum. */
  readonly amounts: readonly string[];
}

export interface Rows<T> {
  readonly data: T[];
  readonly has_more: boolean;
}

type Row = Readonly<Record<string, unknown>>;

/** Maximum rows of a result: enough for two years by month, six statuses and seven customers, and still fast to draw. */
const MOST_ROWS = 1000;

/** Counts and sums by group, which always includes the currency. @throws AppError invalid_request */
export async function totals(data: OrganisationData, spec: TotalsSpec, args: TotalsArguments): Promise<Rows<Row>> {
  const by = new Set(args.group_by);
  const keys: Row = {
    ...(by.has('MONTH') && { month: { $dateToString: { date: `$${spec.at}`, format: '%Y-%m' } } }),
    ...(by.has('STATUS') && { status: '$status' }),
    ...(by.has('CUSTOMER') && { customer_id: '$customer_id' }),
    currency: '$currency',
  };
  const sums = Object.fromEntries(spec.amounts.map((amount) => [amount, { $sum: exact(`$${amount}`) }]));
  return aggregate(data, spec.collection, [
    within(spec.at, args),
    { $group: { _id: keys, count: { $sum: 1 }, ...sums } },
    { $sort: Object.fromEntries(Object.keys(keys).map((key) => [`_id.${key}`, 1 as const])) },
  ]);
}

/** The $match stage of a period, which uses the index of `at` even if the period is open. @throws AppError invalid_request */
export function within(at: string, { from, to }: Span): PipelineStage.Match {
  const [start, end] = [new Date(from ?? EARLIEST), to ? new Date(to) : undefined];
  if (end && end < start) {
    throw invalidRequest([{ parameter: 'to', code: 'range', detail: 'must not be before from' }]);
  }
  return { $match: { [at]: trusted({ $gte: start, ...(end && { $lt: end }) }) } };
}

/** The earliest date in Python, which one of the embedded servers is written in. */
const EARLIEST = '0001-01-01T00:00:00Z';

/** Converts an amount to a 64-bit integer, since large ones are stored as doubles, whose sums are not exact. */
export function exact(amount: string): { $toLong: string } {
  return { $toLong: amount };
}

/** Runs stages whose rows have their group as `_id`, and truncates the result. @throws AppError invalid_request */
export async function aggregate(
  data: OrganisationData,
  collection: Collection<{ readonly _id: string }>,
  stages: PipelineStage[],
): Promise<Rows<Row>> {
  return data.aggregations(async () => {
    const found = nativeCollection(data.collection(collection)).aggregate<{ _id: Row }>(
      [...stages, { $limit: MOST_ROWS + 1 }],
      { maxTimeMS: READ_WITHIN, batchSize: MOST_ROWS + 2 },
    );
    const rows: Row[] = [];
    for await (const { _id, ...sums } of found) {
      if (rows.length === MOST_ROWS) return { data: rows, has_more: true };
      rows.push({ ..._id, ...withinRange(sums) });
      if (rows.length % ROWS_OF_PIECE === 0) await data.giveWay();
    }
    return { data: rows, has_more: false };
  });
}

function withinRange(sums: Row): Row {
  // the driver returns 64-bit integers as numbers only if they are exact
  for (const [name, sum] of Object.entries(sums)) {
    if (!name.endsWith('_minor') || Number.isSafeInteger(sum)) continue;
    const detail = `${name} of a group exceeds the range of Minor (2^53-1); use a shorter period`;
    throw invalidRequest([{ parameter: 'from', code: 'range', detail }]);
  }
  return sums;
}
