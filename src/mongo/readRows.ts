import mongoose, { type mongo } from 'mongoose';
import { DECODED, MEBIBYTE } from '../units';
import type { Budget } from '../async/yield';
import { findRaw, type RawFind, type RawRows } from './rawRows';

/*
 * Reads rows in pieces of bounded size: one command for as many rows as should fit, and decoding that yields to others. MongoDB bounds an
 * answer by 16 MiB alone, and rows differ in size by a factor of a thousand (docs/decisions/bodies-and-fairness.md).
 */

/** BSON bytes of rows to ask for in one command. */
const PIECE_BYTES = 2 * MEBIBYTE;
/** Bytes of a row whose size is unknown: the 1,000 elements that a bulk call can have fit into a piece. */
const UNKNOWN_ROW_BYTES = 2 * 1024;
/** Fewer rows than this count as this many: one very large row, read alone, must not make lists of small ones take many commands. */
const SMALLEST_SAMPLE = 8;
/** How long a size stands although rows were smaller since, in milliseconds: 10 minutes. */
const REMEMBERED_FOR = 600_000;

interface Size {
  /** Bytes of a row on average, in the answer where they were largest. */
  readonly bytes: number;
  readonly at: number;
}

/** How many sizes a {@link RowSizes} remembers: callers of GraphQL choose the members that are read, so there may be any number. */
const MOST_SIZES = 64;

declare const isPart: unique symbol;
/** A collection and the members that are read of its rows; not the collection's name alone, since the size of ids says nothing of that of rows. */
export type Part = string & { readonly [isPart]: true };

export function partOf(collection: string, projection: RawFind['projection'] = {}): Part {
  return `${collection} ${Object.entries(projection).join()}` as Part;
}

/** How large the rows are that were read lately, by what was read of them: one for each organisation, and one for all control data. */
export class RowSizes {
  readonly #sizes = new Map<Part, Size>();
  /** The command under way that reads rows whose size is unknown, by collection. */
  readonly #first = new Map<string, Promise<unknown>>();

  /**
   * Runs a command that reads a part of the rows of a collection. While its size is unknown, one runs at a time for each collection: its
   * answer may have the 16 MiB that MongoDB allows, and those that waited for it then ask for fewer rows.
   */
  async oneWhileUnknown<T>(collection: string, part: Part, read: () => Promise<T>): Promise<T> {
    for (;;) {
      if (this.#sizes.has(part)) return read();
      const first = this.#first.get(collection);
      if (!first) break;
      await first.catch(() => undefined);
    }
    const reading = read();
    this.#first.set(collection, reading);
    try {
      return await reading;
    } finally {
      this.#first.delete(collection);
    }
  }

  /** How many rows one command should read if it reads this part of each. */
  rowsPerPiece(part: Part): number {
    return Math.max(1, Math.floor(PIECE_BYTES / (this.#sizes.get(part)?.bytes ?? UNKNOWN_ROW_BYTES)));
  }

  /** Notes an answer with so many rows in so many bytes. */
  note(part: Part, rows: number, bytes: number): void {
    const stored = this.#sizes.get(part);
    if (stored && rows === 0) return;
    // without rows it counts as known, too, or reads that find nothing would go on waiting for each other
    const average = rows === 0 ? UNKNOWN_ROW_BYTES : Math.ceil(bytes / Math.max(rows, SMALLEST_SAMPLE));
    const now = performance.now();
    if (stored && average < stored.bytes && now - stored.at <= REMEMBERED_FOR) return;
    // at the end of the map, whose first is then the one that was noted longest ago
    this.#sizes.delete(part);
    this.#sizes.set(part, { bytes: average, at: now });
    const [oldest] = this.#sizes.keys();
    if (oldest !== undefined && this.#sizes.size > MOST_SIZES) this.#sizes.delete(oldest);
  }
}

/** How to read, for whom. */
export interface Reading {
  readonly sizes: RowSizes;
  /** Bounds what is decoded in a turn of the event loop. */
  readonly budget: Budget;
  /** Counts memory of decoded rows, in bytes, until the request ends; fewer if negative. @throws AppError unavailable or invalid_request if too many */
  readonly hold?: ((bytes: number) => void) | undefined;
}

export interface PartFind extends Pick<RawFind, 'projection'> {
  /** What to find with one command, by how many rows it should read at most. */
  readonly upTo: (most: number) => Omit<RawFind, 'projection'>;
}

/** Reads rows with one command, without decoding them. */
export async function readRaw<T extends { _id: string }>(
  collection: mongo.Collection<T>,
  { projection, upTo }: PartFind,
  { sizes, hold }: Omit<Reading, 'budget'>,
): Promise<RawRows> {
  const { collectionName: name } = collection;
  const part = partOf(name, projection);
  const rows = await sizes.oneWhileUnknown(name, part, async () => {
    const piece = await findRaw(collection, { ...upTo(sizes.rowsPerPiece(part)), projection });
    sizes.note(part, piece.places.length / 2, piece.bytes.length);
    return piece;
  });
  hold?.(DECODED * rows.bytes.length);
  return rows;
}

export interface Piece<T> {
  readonly rows: T[];
  /** Bytes of memory that `hold` counted for the rows. */
  readonly held: number;
  /** Whether these are all rows that the command could find; otherwise they are the first of them. */
  readonly isWhole: boolean;
}

/** Reads rows with one command. */
export async function readPiece<T extends { _id: string }>(
  collection: mongo.Collection<T>,
  find: PartFind,
  reading: Reading,
): Promise<Piece<T>> {
  const { bytes, places, isWhole } = await readRaw(collection, find, reading);
  const rows: T[] = [];
  for (let at = 0; at < places.length; at += 2) {
    const row = bytes.subarray(places[at], places[at + 1]);
    const wait = reading.budget({ bytes: row.length });
    if (wait) await wait;
    rows.push(mongoose.mongo.BSON.deserialize(row) as T);
  }
  return { rows, held: DECODED * bytes.length, isWhole };
}

/** The condition that a member has one of some values. @throws TypeError if one is no string: an object would be an operator of MongoDB */
export function anyOf(values: readonly string[]): unknown {
  if (!values.every((value) => typeof value === 'string')) throw new TypeError('a value to read by is not a string');
  return values.length === 1 ? values[0] : { $in: values };
}

/** Rows of a piece, and the keys that they answer: those of its rows, and those without a row. */
export interface KeyedPiece<T> extends Piece<T> {
  readonly keys: ReadonlySet<string>;
}

export interface KeyedFind extends Pick<RawFind, 'projection' | 'session'> {
  readonly member: string;
  readonly keys: readonly string[];
  /** Whether a key is still to be read; asked before each piece but the first. */
  readonly isWanted?: (key: string) => boolean;
}

/** Reads the rows that have one of some keys as the value of a member, in pieces; no two rows may have the same. */
export async function* readByKeys<T extends { _id: string }>(
  collection: mongo.Collection<T>,
  { member, keys: all, isWanted, projection, ...how }: KeyedFind,
  reading: Reading,
): AsyncGenerator<KeyedPiece<T>, void> {
  let keys = all;
  while (keys.length > 0) {
    let pieceKeys: readonly string[] = [];
    const upTo: PartFind['upTo'] = (most) => {
      pieceKeys = keys.slice(0, most);
      return { ...how, filter: { [member]: anyOf(pieceKeys) }, most: pieceKeys.length };
    };
    const piece = await readPiece(collection, { projection, upTo }, reading);
    const answered = piece.isWhole
      ? new Set(pieceKeys)
      : new Set(piece.rows.map((row) => (row as Readonly<Record<string, unknown>>)[member] as string));
    yield { ...piece, keys: answered };
    keys = keys.filter((key) => !answered.has(key) && (isWanted?.(key) ?? true));
  }
}
