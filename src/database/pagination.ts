import { createHash } from 'node:crypto';
import mongoose, { type Model, trusted } from 'mongoose';
import type { Projection } from './collection';
import { nativeCollection } from './native';
import { SETTLED_READ } from './openWrites';
import type { AppError } from '../errors';
import { invalidRequest } from '../errors';

/**
 * Keyset pages (contract, section 3). A cursor names the last row by its sort value and id and carries a fingerprint of
 * the organisation, the operation, the sort and the filters, so that it fits no other list, and a changed one fits none.
 */
export interface Page<T> {
  readonly data: T[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

export interface ListArguments {
  readonly sort?: string | null;
  readonly limit?: number | null;
  readonly cursor?: string | null;
}

export interface ListRequest {
  readonly organisationId: string;
  /** Name of the root field. */
  readonly operation: string;
  readonly args: ListArguments;
  /** The filters in force, as the caller gave them, empty ones left out. */
  readonly filters: Readonly<Record<string, unknown>>;
  /** The same filters as MongoDB conditions; all must hold. Undefined where no row can match: then none is looked for. */
  readonly conditions: readonly Record<string, unknown>[] | undefined;
  readonly defaultSort?: string;
  /** For a list that copies are kept by: the moment up to which its changes are settled, asked for on the first page. */
  readonly settledUntil?: () => Promise<Date>;
  /** Fields to read; all when left out. */
  readonly projection?: Projection;
}

export const DEFAULT_LIMIT = 20;
const DEFAULT_SORT = '-created_at';

/** Reads one page through the index of its sort; examines at most limit + 1 rows where a filter has an index. */
export async function findPage<T extends { _id: string }>(model: Model<T>, request: ListRequest): Promise<Page<T>> {
  const order = sortOrder(request);
  const limit = request.args.limit ?? DEFAULT_LIMIT;
  const mark = fingerprint(request, order);
  const position = decodeCursor(request, order, mark);
  if (!request.conditions) return toPage<T>([], limit, order, mark);
  const until = position ? position.until : await request.settledUntil?.();
  const conditions = [...upTo(until, request.conditions), ...after(position, order)];
  // read by the driver: the conditions are made here, of arguments that were checked; an operator in a value is none
  const rows = await nativeCollection(model)
    .find<T>(mongoose.sanitizeFilter(allOf(conditions)) as object, {
      ...(request.projection && { projection: request.projection }),
      sort: { [order.field]: order.direction, _id: order.direction },
      limit: limit + 1,
      ...(until && SETTLED_READ),
    })
    .toArray();
  return toPage(rows, limit, order, mark, until);
}

type Conditions = NonNullable<ListRequest['conditions']>;

/** The conditions of rows that were changed no later than `until`, where it is given. */
function upTo(until: Date | undefined, conditions: Conditions): Conditions {
  if (!until) return conditions;
  return conditions.map((condition) =>
    'updated_at' in condition
      ? { updated_at: trusted({ ...(condition.updated_at as Record<string, unknown>), $lte: until }) }
      : condition,
  );
}

/** One filter of conditions that must all hold; `$and` only where two speak of one member, since not every planner sees through it. */
function allOf(conditions: readonly Record<string, unknown>[]): Record<string, unknown> {
  const members = conditions.flatMap((condition) => Object.keys(condition));
  return new Set(members).size === members.length
    ? (Object.assign({}, ...conditions) as Record<string, unknown>)
    : { $and: conditions };
}

/** The page that `rows` (one more than `limit`, where there are more) make. */
function toPage<T extends { _id: string }>(
  rows: T[],
  limit: number,
  order: SortOrder,
  mark: string,
  until?: Date,
): Page<T> {
  const data = rows.slice(0, limit);
  const last = data.at(-1);
  const hasMore = rows.length > limit;
  return { data, has_more: hasMore, next_cursor: hasMore && last ? cursorAt(last, order, mark, until) : null };
}

/** A first page made from rows that were read elsewhere (limit + 1 of them), as {@link findPage} would answer it. */
export function firstPage<T extends { _id: string }>(rows: T[], request: Omit<ListRequest, 'conditions'>): Page<T> {
  const order = sortOrder(request);
  return toPage(rows, request.args.limit ?? DEFAULT_LIMIT, order, fingerprint(request, order));
}

interface SortOrder {
  readonly field: string;
  readonly direction: 1 | -1;
}

function sortOrder({ args, defaultSort = DEFAULT_SORT }: Pick<ListRequest, 'args' | 'defaultSort'>): SortOrder {
  const sort = args.sort ?? defaultSort;
  return sort.startsWith('-') ? { field: sort.slice(1), direction: -1 } : { field: sort, direction: 1 };
}

function fingerprint(request: Omit<ListRequest, 'conditions'>, order: SortOrder): string {
  const filters = Object.entries(request.filters).sort(([a], [b]) => (a < b ? -1 : 1));
  return digest([request.organisationId, request.operation, order.field, order.direction, filters]);
}

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 16);
}

function cursorAt(row: { _id: string }, order: SortOrder, mark: string, until: Date | undefined): string {
  return encodeCursor(
    [(row as unknown as Record<string, unknown>)[order.field], row._id, ...(until ? [until] : [])],
    mark,
  );
}

/** A position is the sort value and the id of the last row, and how far the list is settled where it is bounded by that. */
function encodeCursor(position: readonly unknown[], mark: string): string {
  return Buffer.from(JSON.stringify([digest([mark, position]), ...position])).toString('base64url');
}

interface Position {
  readonly value: Date | string;
  readonly id: string;
  readonly until: Date | undefined;
}

function after(position: Position | undefined, order: SortOrder): Record<string, unknown>[] {
  if (!position) return [];
  const { value, id } = position;
  const [reached, beyond] = order.direction === 1 ? (['$gte', '$gt'] as const) : (['$lte', '$lt'] as const);
  // the bound beside the $or lets the server start inside the index: 25 keys examined instead of 2,403
  return [
    { [order.field]: trusted({ [reached]: value }) },
    { $or: [{ [order.field]: trusted({ [beyond]: value }) }, { _id: trusted({ [beyond]: id }) }] },
  ];
}

function decodeCursor({ args, settledUntil }: ListRequest, order: SortOrder, mark: string): Position | undefined {
  const { cursor } = args;
  if (cursor === null || cursor === undefined) return undefined;
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    throw badCursor();
  }
  const position = Array.isArray(parts) ? (parts as unknown[]).slice(1) : [];
  if (position.length !== (settledUntil ? 3 : 2) || !position.every((part) => typeof part === 'string'))
    throw badCursor();
  // made again it must be the same: of this list, unchanged, and without characters that base64 would skip
  if (encodeCursor(position, mark) !== cursor) throw badCursor();
  const [value = '', id = '', until] = position;
  return {
    value: /(^|_)at$/.test(order.field) ? moment(value) : value,
    id,
    until: until === undefined ? undefined : moment(until),
  };
}

function moment(text: string): Date {
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) throw badCursor();
  return date;
}

function badCursor(): AppError {
  return invalidRequest([
    {
      parameter: 'cursor',
      code: 'cursor',
      detail: 'is not a cursor of this list; start again without it, or keep filters and sort as they were',
    },
  ]);
}
