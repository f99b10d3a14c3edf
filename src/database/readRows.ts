import mongoose, { type mongo } from 'mongoose';
import { MEBIBYTE } from '../units';
import type { Pace } from './courtesy';
import { findRaw, type RawFind, type RawRows } from './rawRows';

/*
 * Reads rows in pieces of bounded size: one command for as many rows as should fit, and decoding that yields to others. MongoDB bounds an
 * answer by 16 MiB alone, and rows differ in size by a factor of a thousand (docs/decisions/bodies-and-fairness.md).
 */

/** Bytes of rows to ask for in one command. */
const PIECE = 4 * MEBIBYTE;
/** Rows of the first command to read rows of a kind, when their size is unknown: a page of 100, with the row beyond it. */
const FIRST_ROWS = 101;
/** How long a size is remembered after rows of that size were read, in milliseconds. */
const KEPT = 600_000;
/** From this many bytes on, decoding begins in a turn of the event loop of its own. */
const LARGE = 256 * 1024;

interface Size {
  /** Bytes of a row on average, in the answer where they were largest. */
  readonly bytes: number;
  readonly at: number;
}

/** How large rows are that were read lately, of any kind: a collection with a projection. */
export class RowSizes {
  readonly #sizes = new Map<string, Size>();

  /** How many rows of a kind one command should read. */
  rowsPerPiece(kind: string): number {
    const size = this.#sizes.get(kind);
    return size ? Math.max(1, Math.floor(PIECE / size.bytes)) : FIRST_ROWS;
  }

  /** Notes an answer with this many rows of a kind. */
  note(kind: string, rows: number, bytes: number): void {
    if (rows === 0) return;
    const average = Math.ceil(bytes / rows);
    const now = performance.now();
    const known = this.#sizes.get(kind);
    if (!known || average >= known.bytes || now - known.at > KEPT) this.#sizes.set(kind, { bytes: average, at: now });
  }
}

/** How to read, for whom. */
export interface Reading {
  readonly sizes: RowSizes;
  /** Waits for a turn of the event loop of its own. */
  readonly ownTurn: () => Promise<void>;
  readonly pace: Pace;
  /** Counts bytes of rows that are kept in memory. @throws AppError unavailable or invalid_request if that is too many */
  readonly hold?: ((bytes: number) => void) | undefined;
}

/** Reads rows with one command, without decoding them; resolves in a turn of its own if they are many bytes. */
export async function readRaw<T extends { _id: string }>(
  collection: mongo.Collection<T>,
  find: RawFind,
  { sizes, ownTurn, hold }: Omit<Reading, 'pace'>,
): Promise<RawRows> {
  const rows = await findRaw(collection, find);
  sizes.note(kindOf(collection, find), rows.places.length / 2, rows.bytes.length);
  hold?.(rows.bytes.length);
  if (rows.bytes.length > LARGE) await ownTurn();
  return rows;
}

export interface Piece<T> {
  readonly rows: T[];
  readonly bytes: number;
  /** Whether these are all rows that the command could find; otherwise they are the first of them. */
  readonly isWhole: boolean;
}

/** Reads rows with one command. */
export async function readPiece<T extends { _id: string }>(
  collection: mongo.Collection<T>,
  find: RawFind,
  reading: Reading,
): Promise<Piece<T>> {
  const { bytes, places, isWhole } = await readRaw(collection, find, reading);
  const rows: T[] = [];
  for (let at = 0; at < places.length; at += 2) {
    const pause = reading.pace();
    if (pause) await pause;
    rows.push(mongoose.mongo.BSON.deserialize(bytes.subarray(places[at], places[at + 1])) as T);
  }
  return { rows, bytes: bytes.length, isWhole };
}

/** How many of the rows one command should read. */
export function pieceOf<T extends { _id: string }>(
  collection: mongo.Collection<T>,
  find: Pick<RawFind, 'projection'>,
  { sizes }: Pick<Reading, 'sizes'>,
): number {
  return sizes.rowsPerPiece(kindOf(collection, find));
}

function kindOf({ collectionName }: { collectionName: string }, { projection }: Pick<RawFind, 'projection'>): string {
  return projection ? `${collectionName} ${Object.keys(projection).join(' ')}` : collectionName;
}
