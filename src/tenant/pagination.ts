import { hash } from 'node:crypto';
import mongoose, { type mongo, trusted } from 'mongoose';
import { including, type Projection } from '../mongo/collection';
import { type PartFind, type Reading, readPiece, RowSizes } from '../mongo/readRows';
import { SETTLED_READ } from './slots';
import { type AppError, invalidRequest } from '../errors';
import { asId, isPositioned, type Kind, KINDS, rankOf, type SortKind, type SortValue, TEXT, timeIn } from './sortKinds';

/**
 * Keyset pagination (contract, section 3). A cursor has the sort value and id of the last row, and a fingerprint of the
 * organisation, operation, sort and filters, so that it is only valid for its own list. It is no signature: a forged cursor reads
 * nothing that the list does not have. A text that is too long for a cursor is not in it, and read again by the id.
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

/** A list, and which page of it. */
export interface ListRequest {
  readonly organisationId: string;
  /** Name of the root field. */
  readonly operation: string;
  readonly args: ListArguments;
  /** The active filters, as given by the caller. */
  readonly filters: Readonly<Record<string, unknown>>;
  /** The same filters as MongoDB conditions, combined with AND; one on updated_at has no other member. Undefined if no row can match, which skips the query. */
  readonly conditions: readonly Record<string, unknown>[] | undefined;
  /** As `args.sort`: a member of the row itself that is never null, since pages would leave out rows without it; of @stored lists schema/checks/lists.ts checks it. */
  readonly defaultSort?: string;
  /** What the values of a member to sort by are; by default `created_at` is a time, and others are texts. */
  readonly kindOf?: (member: string) => SortKind;
  /** A member with a unique index, so that a sort by it needs no id to break ties. */
  readonly unique?: string | undefined;
  /** For lists with `updated_since`: reads the time up to which all changes are visible (openWrites.ts), once for the first page. */
  readonly settledUntil?: () => Promise<Date>;
  /** Fields to read (default: all). */
  readonly projection?: Projection;
}

/** What the cursors of a list are bound to, and how it is sorted. */
export type ListIdentity = Omit<ListRequest, 'conditions' | 'settledUntil' | 'projection'>;

/** Rows of a page without `limit`, as every list of the SDL has it. */
const DEFAULT_LIMIT = 20;
const DEFAULT_SORT = '-created_at';
/** Bytes of the longest text in a cursor, as JSON: with an id and a time it stays below the 2,048 characters that the argument takes. */
const LONGEST_TEXT = 1200;

/** How control data is read, whose rows are small. */
const CONTROL: Reading = { sizes: new RowSizes(), budget: () => undefined };

/** Reads one page through the index for its sort, in several commands if its rows are large; with an indexed filter it examines at most limit + 1 rows. */
export async function findPage<T extends { _id: string }>(
  collection: mongo.Collection<T>,
  request: ListRequest,
  reading: Reading = CONTROL,
): Promise<Page<T>> {
  const { list, query, cursorAt } = await openPage(collection, request, reading);
  if (!query) return toPage<T>([], list, cursorAt);
  const { filterAfter, most, ...how } = query;
  const projection = request.projection && including(request.projection, list.field);
  const rows: T[] = [];
  while (rows.length < most) {
    const filter = rows.length > 0 ? filterAfter(positionAfter(rows, list)) : query.filter;
    let pieceSize = 0;
    const upTo: PartFind['upTo'] = (rowsPerPiece) => {
      pieceSize = Math.min(most - rows.length, rowsPerPiece);
      return { ...how, filter, most: pieceSize };
    };
    const piece = await readPiece(collection, { projection, upTo }, reading);
    rows.push(...piece.rows);
    if (piece.isWhole && piece.rows.length < pieceSize) break;
  }
  await reading.budget({ objects: rows.length });
  return toPage(rows, list, cursorAt);
}

/** Prepares a page: its query, and what makes the cursor after it. @throws AppError invalid_request for a cursor of another list */
export async function openPage<T extends { _id: string }>(
  collection: mongo.Collection<T>,
  request: ListRequest,
  reading: Reading,
) {
  const list = listOf(request);
  const { field, direction, isUnique, limit } = list;
  const { conditions, settledUntil } = request;
  const position = await positionFrom(request, list, async (id) => {
    // with the conditions, since the id may be forged: of a row outside the list nothing is told, nor whether it exists
    const filter = mongoose.sanitizeFilter(allOf([...(conditions ?? []), { _id: id }])) as object;
    const find: PartFind = { projection: { [field]: 1 }, upTo: () => ({ filter, most: 1 }) };
    const [row] = (await readPiece(collection, find, reading)).rows;
    return row && valueIn(row, field);
  });
  const until = position || !conditions ? position?.until : await settledUntil?.();
  // straight to the driver: the conditions are built from validated arguments, and operators inside values are inert
  const filterAfter = (from: Pick<Position, 'value' | 'id'> | undefined): object =>
    mongoose.sanitizeFilter(allOf([...changedUntil(until, conditions ?? []), ...after(from, list)])) as object;
  return {
    list,
    /** Undefined if no row can match. */
    query: conditions && {
      filter: filterAfter(position),
      /** The filter that continues after a row, by its sort value and id. */
      filterAfter,
      sort: { [field]: direction, ...(!isUnique && { _id: direction }) },
      most: limit + 1,
      reading: until && SETTLED_READ,
    },
    cursorAt: cursorsOf(list, until),
    /** Whether a row's sort value is of the kind that its list is sorted by: only then is its position this value. */
    isPosition: (value: unknown) => rankOf(value) === list.kind.rank && isPositioned(value),
  };
}

type Conditions = NonNullable<ListRequest['conditions']>;

/** Limits the conditions to rows changed no later than `until`, if given: lists that have it have a condition on updated_at. */
function changedUntil(until: Date | undefined, conditions: Conditions): Conditions {
  if (!until) return conditions;
  return conditions.map((condition) =>
    'updated_at' in condition
      ? { updated_at: trusted({ ...(condition.updated_at as Record<string, unknown>), $lte: until }) }
      : condition,
  );
}

/** Combines conditions with AND; uses `$and` only if two have the same member, since not every query planner optimises it. */
function allOf(conditions: readonly Record<string, unknown>[]): Record<string, unknown> {
  const members = conditions.flatMap((condition) => Object.keys(condition));
  return new Set(members).size === members.length
    ? (Object.assign({}, ...conditions) as Record<string, unknown>)
    : { $and: conditions };
}

/** Makes the cursor that continues after a row; `position` is the row's sort value and id. */
type CursorAt = (position: readonly [value: unknown, id: string]) => string;

/** `until` is the time that the pages of a list with `updated_since` have in common. */
function cursorsOf({ mark }: List, until?: Date): CursorAt {
  return ([value, id]) => {
    // numbers and Booleans as texts: a cursor consists of texts, and times become some as JSON
    const text = value instanceof Date ? value : String(value);
    const isLong = typeof text === 'string' && Buffer.byteLength(JSON.stringify(text)) > LONGEST_TEXT;
    return encodeCursor([...(isLong ? [] : [text]), id, ...(until ? [until] : [])], mark);
  };
}

/** Makes a page from `rows`, which has limit + 1 rows if there are more. */
function toPage<T extends { _id: string }>(rows: T[], list: List, cursorAt: CursorAt): Page<T> {
  const { limit } = list;
  const data = rows.slice(0, limit);
  const hasMore = rows.length > limit;
  if (!hasMore || data.length === 0) return { data, has_more: hasMore, next_cursor: null };
  const { value, id } = positionAfter(data, list);
  return { data, has_more: true, next_cursor: cursorAt([value, id]) };
}

/** The position of the last row that has one ({@link isPositioned}); pages after a position have no other rows. */
function positionAfter(rows: readonly { readonly _id: string }[], list: List): Pick<Position, 'value' | 'id'> {
  const { field, kind, direction } = list;
  const last = rows.findLast((row) => isPositioned(valueIn(row, field)));
  if (last) return positionOf(last, list);
  return direction === 1 ? { value: kind.first, id: TEXT.first } : { value: kind.last, id: TEXT.last };
}

const valueIn = (row: object, field: string): unknown => (row as Readonly<Record<string, unknown>>)[field];

/**
 * The position of a row. MongoDB sorts values by their type first, and compares values of one type alone. So if another program stored one of
 * another type, the position is before or after all values of the right type, from where the page continues with those.
 */
function positionOf(
  row: { readonly _id: string },
  { field, kind }: Pick<List, 'field' | 'kind'>,
): Pick<Position, 'value' | 'id'> {
  const value = valueIn(row, field);
  if (rankOf(value) === kind.rank) return { value: kind.valueOf(value), id: asId(row._id) };
  return rankOf(value) < kind.rank ? { value: kind.first, id: TEXT.first } : { value: kind.last, id: TEXT.last };
}

/** Makes a first page from rows read elsewhere (up to limit + 1), the same as {@link findPage} would return. */
export function firstPage<T extends { _id: string }>(rows: T[], request: ListIdentity): Page<T> {
  const list = listOf(request);
  return toPage(rows, list, cursorsOf(list));
}

type List = ReturnType<typeof listOf>;

function listOf(request: ListIdentity) {
  const { organisationId, operation, args, defaultSort = DEFAULT_SORT } = request;
  const sort = args.sort ?? defaultSort;
  const [field, direction] = sort.startsWith('-') ? ([sort.slice(1), -1] as const) : ([sort, 1] as const);
  const filters = Object.entries(request.filters).sort(([a], [b]) => (a < b ? -1 : 1));
  const mark = cursorMark([organisationId, operation, field, direction, filters]);
  const kind: Kind = KINDS[(request.kindOf ?? usualKind)(field)];
  return { field, direction, kind, isUnique: field === request.unique, limit: args.limit ?? DEFAULT_LIMIT, mark };
}

const usualKind = (member: string): SortKind => (member === 'created_at' ? 'dateTime' : 'string');

/** The fingerprint of what a cursor is bound to. */
export function cursorMark(parts: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(parts), 'base64url').slice(0, 16);
}

/** The position in a cursor; undefined if the cursor was not made with this mark. */
export function positionIn(cursor: string, mark: string): readonly string[] | undefined {
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    return undefined;
  }
  const position = Array.isArray(parts) ? (parts as unknown[]).slice(1) : [];
  if (!position.every((part) => typeof part === 'string')) return undefined;
  // re-encoding must give the same string: this rejects other lists, changes, and characters that base64 ignores
  return encodeCursor(position, mark) === cursor ? position : undefined;
}

/** For pages, `position` is the sort value and id of the last row and, for lists with `updated_since`, the settled time; feeds of events have positions of their own. */
export function encodeCursor(position: readonly unknown[], mark: string): string {
  return Buffer.from(JSON.stringify([cursorMark([mark, position]), ...position])).toString('base64url');
}

/** Where a page begins: after the row with this sort value and id. */
interface Position {
  readonly value: SortValue;
  readonly id: string;
  /** The time that the first page read with `settledUntil`. */
  readonly until: Date | undefined;
}

/** Conditions of the rows after a position. */
function after(
  position: Pick<Position, 'value' | 'id'> | undefined,
  { field, kind, direction, isUnique }: List,
): Record<string, unknown>[] {
  if (!position) return [];
  const { value, id } = position;
  const [reached, beyond] = direction === 1 ? (['$gte', '$gt'] as const) : (['$lte', '$lt'] as const);
  const end = kind.within && (direction === 1 ? { $lte: kind.within[1] } : { $gte: kind.within[0] });
  // of a list in the row, each element is compared, so that it could come again on every page
  const positioned = { $not: { $type: 'array' }, ...end };
  if (isUnique) return [{ [field]: trusted({ [beyond]: value, ...positioned }) }];
  // the extra bound next to $or lets the server start inside the index: 25 keys examined instead of 2,403
  return [
    { [field]: trusted({ [reached]: value, ...positioned }) },
    { $or: [{ [field]: trusted({ [beyond]: value }) }, { _id: trusted({ [beyond]: id }) }] },
  ];
}

/** The position in a list's cursor, if it has one. `readValue` reads the value of a row, whose text was too long for the cursor. */
async function positionFrom(
  { args, settledUntil }: ListRequest,
  { kind, mark }: List,
  readValue: (id: string) => Promise<unknown>,
): Promise<Position | undefined> {
  const { cursor } = args;
  if (cursor === null || cursor === undefined) return undefined;
  const parts = [...(positionIn(cursor, mark) ?? [])];
  const until = settledUntil && timeIn(parts.pop() ?? '');
  const id = parts.pop();
  if (id === undefined || parts.length > 1 || (settledUntil && !until)) throw badCursor();
  const [text = await readValue(id)] = parts;
  const value = typeof text === 'string' ? kind.parse(text) : undefined;
  if (value === undefined) throw badCursor();
  return { value, id, until };
}

/** The error for a cursor from another list. */
export function badCursor(
  parameter = 'cursor',
  remedy = 'restart without it, or use the same filters and sort as before',
): AppError {
  return invalidRequest([{ parameter, code: 'cursor', detail: `is not a cursor of this list; ${remedy}` }]);
}
