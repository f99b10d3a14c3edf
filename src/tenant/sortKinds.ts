import { EARLIEST, LATEST } from '../units';

/* The kinds of values that lists are sorted by, and how cursors have them. */

/** The order in which MongoDB sorts values of different types; `other` are objects, lists, binary data and ids, `last` what comes after times. */
const RANKS = { none: 0, number: 1, text: 2, other: 3, boolean: 4, time: 5, last: 6 };

export type SortValue = string | number | boolean | Date;

/** A kind of values to sort by. */
export interface Kind {
  readonly rank: number;
  /**
   * Begin and end the values of rows that can be served. `false` and '' are such values: a position with one has {@link TEXT}'s first or last as
   * its id, so that rows with it follow. A sort by a unique member, whose positions have no id, would pass over them.
   */
  readonly first: SortValue;
  readonly last: SortValue;
  /** The first and the last value of which rows have a position, if there are others: of those, rows are on no page after a position. */
  readonly within?: readonly [SortValue, SortValue];
  /** The value in a cursor of a stored one of this rank. */
  readonly valueOf: (stored: unknown) => SortValue;
  /** The value from its text in a cursor (times in ISO 8601); undefined if it is none. */
  readonly parse: (text: string) => SortValue | undefined;
}

/** MongoDB compares texts by their bytes in UTF-8: after this noncharacter come only texts that begin with it. */
export const TEXT = { first: '', last: '\u{10ffff}' };

export const KINDS = {
  string: { rank: RANKS.text, ...TEXT, valueOf: String, parse: String },
  number: {
    rank: RANKS.number,
    first: -Infinity,
    last: Infinity,
    // NaN comes before all numbers; a Decimal128, or a Long beyond 2^53, has its number as a text, and is placed by its nearest double
    valueOf: (stored) => (Number.isNaN(Number(stored)) ? -Infinity : Number(stored)),
    parse: (text) => (text === '' || Number.isNaN(Number(text)) ? undefined : Number(text)),
  },
  boolean: {
    rank: RANKS.boolean,
    first: false,
    last: true,
    valueOf: Boolean,
    parse: (text) => (text === 'true' || text === 'false' ? text === 'true' : undefined),
  },
  dateTime: {
    rank: RANKS.time,
    first: new Date(EARLIEST),
    last: new Date(LATEST),
    within: [new Date(EARLIEST), new Date(LATEST)],
    valueOf: (stored) => stored as Date,
    parse: timeIn,
  },
} satisfies Readonly<Record<string, Kind>>;

export type SortKind = keyof typeof KINDS;

/** By `_bsontype`, of values that the driver does not convert to JavaScript's. */
const RANK_OF_BSON = new Map([
  ['MinKey', RANKS.none],
  ['Long', RANKS.number],
  ['Decimal128', RANKS.number],
  ['Timestamp', RANKS.last],
  ['Code', RANKS.last],
  ['MaxKey', RANKS.last],
]);

/** Where a stored value is in MongoDB's order of types. */
export function rankOf(value: unknown): number {
  if (value === null || value === undefined) return RANKS.none;
  if (typeof value === 'number') return RANKS.number;
  if (typeof value === 'string') return RANKS.text;
  if (typeof value === 'boolean') return RANKS.boolean;
  if (value instanceof Date) return RANKS.time;
  if (value instanceof RegExp) return RANKS.last;
  const { _bsontype: type = '' } = value as { readonly _bsontype?: string };
  return RANK_OF_BSON.get(type) ?? RANKS.other;
}

/**
 * Whether a value can be that of a position: no list, which MongoDB sorts by one of its elements, nor a time that no answer has, such as one
 * beyond those of JavaScript, of which the driver makes an Invalid Date.
 */
export function isPositioned(value: unknown): boolean {
  if (value instanceof Date) return value.getTime() >= EARLIEST && value.getTime() <= LATEST;
  return !Array.isArray(value);
}

/** An id for a cursor: itself if it is a text; otherwise the first or the last text, whichever is on its side in MongoDB's order. */
export function asId(id: unknown): string {
  if (rankOf(id) === RANKS.text) return id as string;
  return rankOf(id) < RANKS.text ? TEXT.first : TEXT.last;
}

/** The time that a text has; undefined if it has none. */
export function timeIn(text: string): Date | undefined {
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? undefined : time;
}
