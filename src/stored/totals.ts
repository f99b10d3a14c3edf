import { type PipelineStage, trusted } from 'mongoose';
import { WITHOUT_SEARCH } from '../mongo/collection';
import { ROWS_PER_PIECE } from '../async/yield';
import { READ_TIMEOUT } from '../mongo/native';
import { invalidRequest } from '../errors';
import type { FiguresContext } from '../operations/context';
import type { StoredMember } from '../schema/storedTypes';
import { EARLIEST, LATEST, TOTALS_ROWS } from '../units';
import { faultsOf, numberType } from './invalidRows';
import type { Resource } from './resource';
import { STRINGS } from './storedSchema';

/* Totals for dashboards (docs/decisions/dashboard-totals.md). */

/** A period; both ends are optional. Each is of the type of the member with the time: a DateTime, which the scalar makes UTC, or a Date. */
export interface Span {
  readonly from?: string | null;
  /** Exclusive. */
  readonly to?: string | null;
}

export interface TotalsArguments extends Span {
  /** CURRENCY changes nothing: every group has it. */
  readonly group_by?: readonly ('STATUS' | 'MONTH' | 'CUSTOMER' | 'CURRENCY')[] | null;
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
  /** Members of the type Minor, whose names end in `_minor` (schema/checks). */
  readonly amounts: readonly string[];
}

export interface Rows<T> {
  readonly data: T[];
  readonly has_more: boolean;
}

type Row = Readonly<Record<string, unknown>>;

const DAY_LENGTH = 'YYYY-MM-DD'.length;

/** Counts and sums by group, which always includes the currency. @throws AppError invalid_request */
export async function totals(context: TotalsContext, spec: TotalsSpec, args: TotalsArguments): Promise<Rows<Row>> {
  const groups = new Set(args.group_by);
  const keys: Row = {
    ...(groups.has('MONTH') && { month: monthOf(spec) }),
    ...(groups.has('STATUS') && { status: '$status' }),
    ...(groups.has('CUSTOMER') && { customer_id: { $ifNull: ['$customer_id', null] } }),
    currency: '$currency',
  };
  const { members: stored } = spec.collection.stored;
  const summed = stored.filter(({ name }) => spec.amounts.includes(name));
  const sums = Object.fromEntries(summed.map((amount) => [amount.name, { $sum: whole(amount) }]));
  const { $match: period } = spanStage(spec.at, args, spec.isDay);
  const only = {
    ...(args.customer_id && { customer_id: args.customer_id.toLowerCase() }),
    ...(args.currency && { currency: args.currency }),
  };
  const byKeys = Object.fromEntries(Object.keys(keys).map((key) => [`_id.${key}`, 1 as const]));
  const members = stored.filter(({ name }) => name in keys || name in sums);
  return aggregate(
    context,
    { collection: spec.collection, members, keys: Object.keys(keys) },
    [
      { $match: { ...period, ...ofStatus(args.status), ...only } },
      { $group: { _id: keys, count: { $sum: 1 }, ...sums } },
      { $sort: { ...sortOf(args.sort), ...byKeys } },
    ],
    args.limit ?? TOTALS_ROWS,
  );
}

function sortOf(sort: string | null | undefined): Record<string, 1 | -1> {
  if (!sort) return {};
  return sort.startsWith('-') ? { [sort.slice(1)]: -1 } : { [sort]: 1 };
}

/** Matches rows with one of these statuses; `otherwise` if none are given. */
export function ofStatus(statuses: readonly string[] | null | undefined, otherwise: object = {}): object {
  return statuses ? { status: trusted({ $in: statuses }) } : otherwise;
}

function monthOf({ at, isDay }: TotalsSpec): object {
  return isDay ? { $substrCP: [`$${at}`, 0, 7] } : { $dateToString: { date: `$${at}`, format: '%Y-%m' } };
}

/**
 * The $match stage of a period, which uses the index of `at` even if the period is open-ended. Days are stored as strings.
 * @throws AppError invalid_request
 */
export function spanStage(at: string, { from, to }: Span, isDay = false): PipelineStage.Match {
  const stored = (time: string): string | Date => (isDay ? time.slice(0, DAY_LENGTH) : new Date(time));
  const start = stored(from ?? new Date(EARLIEST).toISOString());
  const end = to ? { $lt: stored(to) } : { $lte: stored(new Date(LATEST).toISOString()) };
  if (end.$lt !== undefined && end.$lt < start)
    throw invalidRequest([{ parameter: 'to', code: 'range', detail: 'must not be before from' }]);
  return { $match: { [at]: trusted({ $gte: start, ...end }) } };
}

/**
 * Converts an amount to a 64-bit integer, since large ones are stored as doubles, whose sums are not exact. Truncates what another program
 * stored with a fraction.
 */
export function exact(amount: string): object {
  return ifStored(amount, Number.MAX_SAFE_INTEGER, { $toLong: amount });
}

/** Converts a number to a Decimal128, in which sums of fractions are exact. */
export function decimal(number: string): object {
  return { $toDecimal: ifStored(number, Number.MAX_VALUE, number) };
}

/** `converted` for numbers up to `most`; `otherwise` for larger ones, which might not convert: NaN by default, so their sum is refused. */
export function ifWithin(
  value: string | object,
  most: number,
  converted: unknown,
  otherwise = NaN,
  ...and: object[]
): object {
  return { $cond: [{ $and: [{ $gte: [value, -most] }, { $lte: [value, most] }, ...and] }, converted, otherwise] };
}

/** The same for a stored number, which is never a Decimal128: such a row cannot be served. */
const ifStored = (value: string | object, most: number, converted: unknown): object =>
  ifWithin(value, most, converted, NaN, { $ne: [{ $type: value }, 'decimal'] });

/** The same for an amount, as a 64-bit integer; NaN if it has a fraction. One that may be null counts as 0, as in $sum. */
function whole({ name, isRequired }: StoredMember): object {
  const amount = isRequired ? `$${name}` : { $ifNull: [`$${name}`, 0] };
  const isWhole = { $eq: [amount, { $trunc: amount }] };
  return ifStored(amount, Number.MAX_SAFE_INTEGER, { $cond: [isWhole, { $toLong: amount }, NaN] });
}

/** Whether GraphQL answers a stored value as a String: of numbers only those that JavaScript has, as {@link unshownTexts} finds the others. */
export function shownAsText(value: string): object {
  const type = { $type: value };
  const most = { $cond: [{ $eq: [type, 'long'] }, Number.MAX_SAFE_INTEGER, Number.MAX_VALUE] };
  const isWithin = { $and: [{ $gte: [value, { $multiply: [most, -1] }] }, { $lte: [value, most] }] };
  return { $cond: [{ $isNumber: value }, { $and: [{ $ne: [type, 'decimal'] }, isWithin] }, { $in: [type, STRINGS] }] };
}

/** Conditions that find what is stored in place of a text and not shown as one. */
const unshownTexts = (path: string): object[] => [
  { [path]: { $in: [NaN, Infinity, -Infinity] } },
  { [path]: { $type: 'long', $not: { $gte: Number.MIN_SAFE_INTEGER, $lte: Number.MAX_SAFE_INTEGER } } },
];

export type TotalsContext = Pick<FiguresContext, 'data' | 'noteInvalid'>;

/** The rows that are counted. */
interface CountedRows {
  readonly collection: Resource;
  /** The members that the totals depend on. */
  readonly members: readonly StoredMember[];
  /** The names of those that are part of every group. */
  readonly keys: readonly string[];
  /** What the second stage matches, if it leaves out rows: those are not searched for values that cannot be counted. */
  readonly only?: object;
}

/** The first matches the period. Of the others only that of {@link CountedRows.only} leaves out rows; any may leave out parts of rows. */
type Stages = readonly [PipelineStage.Match, ...PipelineStage[]];

/**
 * Runs stages whose rows have their group as `_id`, and truncates the result. If it cannot be shown, because of rows that cannot be served,
 * those are left out. @throws AppError invalid_request
 */
export async function aggregate(
  context: TotalsContext,
  counted: CountedRows,
  stages: Stages,
  most = TOTALS_ROWS,
): Promise<Rows<Row>> {
  return context.data.aggregations(async () => {
    const result = await run(context, counted, stages, most);
    if (typeof result !== 'string') return result;
    const valid = await withoutInvalid(context, counted, stages[0]);
    const rows = valid ? await run(context, counted, [valid, ...stages.slice(1)], most) : result;
    if (typeof rows !== 'string') return rows;
    throw invalidRequest([{ parameter: 'from', code: 'range', detail: `${rows}; use a shorter period` }]);
  });
}

/** The result, or if a row of it cannot be shown, why, as a clause. */
async function run(
  { data }: TotalsContext,
  { collection, members, keys }: CountedRows,
  stages: Stages,
  most: number,
): Promise<Rows<Row> | string> {
  const ofGroup = members.filter(({ name }) => keys.includes(name));
  const faultInGroup = faultsOf({ members: ofGroup })(WITHOUT_SEARCH);
  const cursor = data.collection(collection).aggregate<{ _id: Row }>([...stages, { $limit: most + 1 }], {
    maxTimeMS: READ_TIMEOUT,
    // more than it can have, so that one command reads all and closes the cursor
    batchSize: most + 2,
  });
  const rows: Row[] = [];
  for await (const { _id: group, ...sums } of cursor) {
    if (rows.length === most) return { data: rows, has_more: true };
    const exactRow = withExactAmounts(sums);
    if (typeof exactRow === 'string') return exactRow;
    const fault = faultInGroup(group);
    if (fault) return `${String(fault.pointer).slice(1)} of a group ${fault.detail}`;
    rows.push({ ...group, ...exactRow });
    if (rows.length % ROWS_PER_PIECE === 0) await data.yieldToOthers();
  }
  return { data: rows, has_more: false };
}

/** The given $match stage without the rows that cannot be served, which are noted; undefined if there are none. */
async function withoutInvalid(
  context: TotalsContext,
  { collection, members, only }: CountedRows,
  { $match }: PipelineStage.Match,
): Promise<PipelineStage.Match | undefined> {
  const rows = context.data.collection(collection);
  const invalid = members.flatMap((member) => invalidIn(member));
  const filter = { ...$match, ...only, $or: invalid } as object;
  const [row] = await rows.find(filter, { limit: 1, maxTimeMS: READ_TIMEOUT }).toArray();
  if (!row) return undefined;
  const count = await rows.countDocuments(filter, { maxTimeMS: READ_TIMEOUT });
  const { name } = collection;
  const fault = collection.faultIn(WITHOUT_SEARCH)(row);
  // what was found may have been cured or deleted before it was counted
  const others = Math.max(0, count - 1);
  if (fault) context.noteInvalid?.({ collection: name, id: row._id, fault }, 'omitted', others);
  return { $match: { ...$match, $nor: invalid } };
}

/** Conditions that each find rows with a value of a member that totals cannot use. */
function invalidIn(member: StoredMember, prefix = '', isInList = false): object[] {
  const { name, type, kind, isRequired, isList, values, pattern, members } = member;
  const path = prefix + name;
  if (kind === 'object') {
    if (!isList) return members.flatMap((inner) => invalidIn(inner, `${path}.`, isInList));
    const conditions = members
      .flatMap((inner) => invalidIn(inner, '', true))
      .map((condition) => ({ [path]: { $elemMatch: condition } }));
    // $unwind takes it for a list of one
    return [...conditions, { [path]: { $not: { $type: 'array' }, ...(!isRequired && { $ne: null }) } }];
  }
  if (kind === 'number') {
    const { range } = numberType(type);
    const isFraction = { $and: [{ $isNumber: `$${path}` }, { $ne: [`$${path}`, { $trunc: `$${path}` }] }] };
    // $elemMatch takes no $expr; amounts in lists are truncated instead (exact)
    const fractions = type === 'Float' || isInList ? [] : [{ $expr: isFraction }];
    const outside = { $not: { $gte: range[0], $lte: range[1] }, ...(!isRequired && { $ne: null }) };
    return [{ [path]: outside }, { [path]: { $type: ['decimal', 'array'] } }, ...fractions];
  }
  // the other conditions hold of a list if they do of an element
  const list = { [path]: { $type: 'array' } };
  if (values) return [{ [path]: { $nin: isRequired ? values : [...values, null] } }, list];
  if (kind !== 'string') return [];
  // of ids and currencies, the only ones that totals depend on: PCRE reads these as JavaScript does
  const not = pattern ? { $regex: pattern.source } : { $type: type === 'String' ? STRINGS : 'string' };
  const others = type === 'String' && !pattern ? unshownTexts(path) : [];
  return [{ [path]: { $not: not, ...(!isRequired && { $ne: null }) } }, list, ...others];
}

/** The row with its amounts as numbers, or which of them is not exact, as a clause; its count, and sums of other members, stay as they are. */
function withExactAmounts(row: Row): Row | string {
  const exactRow: Record<string, unknown> = { ...row };
  for (const [name, sum] of Object.entries(row)) {
    if (!name.endsWith('_minor')) continue;
    // 64-bit integers that are not exact, and decimals, are objects
    exactRow[name] = Number(String(sum));
    if (!Number.isSafeInteger(exactRow[name])) return `${name} of a group exceeds the range of Minor (2^53-1)`;
  }
  return exactRow;
}
