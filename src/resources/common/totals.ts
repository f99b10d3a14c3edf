import { type PipelineStage, trusted } from 'mongoose';
import type { Collection } from '../../database/collection';
import type { OrganisationData } from '../../database/organisationData';
import { invalidRequest } from '../../errors';

/* Totals for dashboards (docs/decisions/dashboard-totals.md). */

/** A span of time; both ends may be open. ISO 8601. */
export interface Span {
  readonly from?: string | null;
  /** Exclusive. */
  readonly to?: string | null;
}

type Group = 'STATUS' | 'MONTH' | 'CUSTOMER' | 'CURRENCY';

export interface TotalsArguments extends Span {
  readonly group_by?: readonly Group[] | null;
}

export interface TotalsSpec {
  readonly collection: Collection<{ readonly _id: string }>;
  /** The member that says when a row counts; the first of an index. */
  readonly at: string;
  /** The members that are summed. */
  readonly amounts: readonly string[];
}

export interface Rows<T> {
  readonly data: T[];
  readonly has_more: boolean;
}

type Row = Readonly<Record<string, unknown>>;

/** Most rows of an answer: two years by month, six states and seven customers, and still quick to draw. */
const MOST_ROWS = 1000;
/** How long the database may work on one total, in milliseconds. */
const LONGEST = 10_000;

/** Counts and sums by group, the currency always part of it. @throws AppError invalid_request */
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

/** The stage that keeps a span, through the index of `at` even where the span is open. @throws AppError invalid_request */
export function within(at: string, { from, to }: Span): PipelineStage.Match {
  const [start, end] = [new Date(from ?? EARLIEST), to ? new Date(to) : undefined];
  if (end && end < start) {
    throw invalidRequest([{ parameter: 'to', code: 'range', detail: 'must not be before from' }]);
  }
  return { $match: { [at]: trusted({ $gte: start, ...(end && { $lt: end }) }) } };
}

/** Python, which one of the embedded servers is written in, knows no earlier date. */
const EARLIEST = '0001-01-01T00:00:00Z';

/** An amount as a 64-bit integer: large ones are stored as doubles, whose sums would not be exact. */
export function exact(amount: string): { $toLong: string } {
  return { $toLong: amount };
}

/** Runs stages whose rows have their group as `_id`, and cuts what they answer. @throws AppError invalid_request */
export async function aggregate(
  data: OrganisationData,
  collection: Collection<{ readonly _id: string }>,
  stages: PipelineStage[],
): Promise<Rows<Row>> {
  const rows = await data.aggregations(async () =>
    data
      .collection(collection)
      .aggregate<{ _id: Row }>([...stages, { $limit: MOST_ROWS + 1 }])
      .option({ maxTimeMS: LONGEST }),
  );
  return {
    data: rows.slice(0, MOST_ROWS).map(({ _id, ...sums }) => ({ ..._id, ...withinRange(sums) })),
    has_more: rows.length > MOST_ROWS,
  };
}

function withinRange(sums: Row): Row {
  // the driver hands integers over as numbers while they are exact
  for (const [name, sum] of Object.entries(sums)) {
    if (!name.endsWith('_minor') || Number.isSafeInteger(sum)) continue;
    const detail = `${name} of a group leaves the exact range of Minor (2^53-1); ask for less time`;
    throw invalidRequest([{ parameter: 'from', code: 'range', detail }]);
  }
  return sums;
}
