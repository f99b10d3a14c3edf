import { EARLIEST, LATEST } from '../units';

/* The kinds of values that lists are sorted by, and how cursors have them. */

/** Where the types of values are in MongoDB's order, as far as it matters here. */
const RANKS = { none: 0, number: 1, text: 2, other: 3, boolean: 4, time: 5, last: 6 };

export type SortValue = string | number | boolean | Date;

/** A kind of values to sort by. */
export interface Kind {
  readonly rank: number;
  /** Before and after all values of sound rows. */
  readonly first: SortValue;
  readonly last: SortValue;
  readonly valueOf: (stored: unknown) => SortValue;
  /** The value from its text in a cursor (times in ISO 8601); undefined if it is none. */
  readonly parse: (text: string) => SortValue | undefined;
}

/** In bytes of UTF-8, as MongoDB compares them, nothing but a text that begins with this noncharacter comes after it. */
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
    valueOf: (stored) => stored as Date,
    parse: timeIn,
  },
} satisfies Readonly<Record<string, Kind>>;

export type SortKind = keyof typeof KINDS;

/** Of values that the driver leaves as BSON's. */
const RANK_OF_BSON = new Map([
  ['MinKey', RANKS.none],
  ['Long', RANKS.number],
  ['Decimal128', RANKS.number],
  ['Timestamp', RANKS.last],
  ['Code', RANKS.last],
  ['MaxKey', RANKS.last],
]);

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

/** The id if it is a text; otherwise the first or last text, on whose side it is itself. */
export function asId(id: unknown): string {
  if (rankOf(id) === RANKS.text) return id as string;
  return rankOf(id) < RANKS.text ? TEXT.first : TEXT.last;
}

export function timeIn(text: string): Date | undefined {
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? undefined : time;
}
