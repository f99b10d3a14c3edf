import type { mongo } from 'mongoose';
import { type ListRequest, openPage } from '../tenant/pagination';
import { UnsupportedValue } from '../mongo/bson';
import { type RawRows, requireWhole } from '../mongo/rawRows';
import { type PartFind, readRaw, type Reading } from '../mongo/readRows';
import { MEBIBYTE } from '../units';
import { JsonOutput } from './jsonOutput';
import { createWriting, createObjectWriter, type Shape, withBytes } from './rowWriter';

/* Writes pages and single objects as JSON from the bytes that the database sent, without decoding them (docs/decisions/fast.md). */

/** A page in an answer: its members in order, and the shape of its rows. */
export interface PageShape {
  readonly parts: readonly {
    /** The name in the answer. */
    readonly key: string;
    readonly from: 'data' | 'has_more' | 'next_cursor' | { readonly constant: string };
  }[];
  readonly row: Shape;
}

export type PageWriter = ReturnType<typeof createPageWriter>;

/** Shared by all writers: none awaits anything between its first byte and its last. */
const out = new JsonOutput();
const COMMA = Buffer.from(',');

/** Writes pages of a shape. `copies` is how often a byte of a row can be written at most, as a query may select a member under several names. */
export function createPageWriter({ parts, row }: PageShape, copies = 1) {
  const writing = createWriting();
  const rowWriter = createObjectWriter(row, out, writing);
  const names = parts.map(({ key, from }, index) => {
    const name = `${index === 0 ? '{' : ','}${JSON.stringify(key)}:`;
    return Buffer.from(typeof from === 'string' ? name : name + JSON.stringify(from.constant));
  });

  return {
    copies,
    /** The sort value and id of a row, for a cursor. @throws UnsupportedValue */
    positionOf(
      { bytes, places }: RawRows,
      index: number,
      field: string,
    ): [value: Date | string | number | boolean, id: string] {
      const [start, end] = placeOf(places, index);
      return withBytes(writing, bytes, () => {
        const id = rowWriter.read(start, end, '_id');
        // findPage knows which text stands for another id
        if (typeof id !== 'string') throw new UnsupportedValue('id');
        return [rowWriter.read(start, end, field), id];
      });
    },
    /** The JSON of a page with the first `most` rows and `next` as its cursor. @throws UnsupportedValue */
    write({ bytes, places }: RawRows, most: number, next: string | null): Buffer {
      const count = places.length / 2;
      const shown = Math.min(count, most);
      return withBytes(writing, bytes, () => {
        out.start();
        for (const [index, { from }] of parts.entries()) {
          out.put(names[index] as Uint8Array);
          if (from === 'has_more') out.boolean(count > most);
          else if (from === 'next_cursor') out.put(Buffer.from(JSON.stringify(next)));
          else if (from === 'data') writeRows(places, shown);
        }
        // the resolver would decode the row beyond the page, too, and fail if it cannot be
        for (let index = shown; index < count; index += 1) rowWriter.check(...placeOf(places, index));
        out.put(END);
        return out.finish();
      });
    },
  };

  function writeRows(places: RawRows['places'], shown: number): void {
    out.put(OPEN);
    for (let index = 0; index < shown; index += 1) {
      if (index > 0) out.put(COMMA);
      rowWriter.write(...placeOf(places, index));
    }
    out.put(CLOSE);
  }
}

const OPEN = Buffer.from('[');
const CLOSE = Buffer.from(']');
const END = Buffer.from('}');

/** Where a row begins and ends; `places` has these two for each row in turn. */
function placeOf(places: RawRows['places'], index: number): [number, number] {
  const start = places[2 * index];
  const end = places[2 * index + 1];
  if (start === undefined || end === undefined) throw new UnsupportedValue('document');
  return [start, end];
}

export function createSingleWriter(shape: Shape) {
  const writing = createWriting();
  const object = createObjectWriter(shape, out, writing);
  return {
    /** The JSON of an object. @throws UnsupportedValue */
    write(row: Buffer): Buffer {
      return withBytes(writing, row, () => {
        out.start();
        object.write(0, row.length);
        return out.finish();
      });
    },
  };
}

/** From this many bytes on, rows take several milliseconds to write: that waits for a turn of the event loop. */
const LARGE = 256 * 1024;
/** More bytes than this are left to the resolver, which yields in between: writing 16 MiB takes 0.1 s. */
const LARGEST = 4 * MEBIBYTE;
const NO_ROWS: RawRows = { bytes: Buffer.alloc(0), places: [], isWhole: true };

/** A page as JSON. */
export interface WrittenPage {
  readonly text: Buffer;
  /** The cursor of the next page; null if this is the last. */
  readonly next: string | null;
}

/** Reads a page as `findPage` does, and writes it without decoding rows. @throws UnsupportedValue if only `findPage` can answer */
export async function writePage<T extends { _id: string }>(
  collection: mongo.Collection<T>,
  request: ListRequest,
  writer: PageWriter,
  { reading, yieldTurn }: { readonly reading: Reading; readonly yieldTurn: () => Promise<void> },
): Promise<WrittenPage> {
  const { list, query, cursorAt, isPosition } = await openPage(collection, request, reading);
  if (!query) return { text: writer.write(NO_ROWS, list.limit, null), next: null };
  const upTo: PartFind['upTo'] = (rowsPerPiece) => {
    // only the resolver reads a page in pieces
    if (query.most > rowsPerPiece) throw new UnsupportedValue('large');
    return query;
  };
  const rows = requireWhole(await readRaw(collection, { projection: request.projection, upTo }, reading));
  const most = writer.copies * rows.bytes.length;
  if (most > LARGEST) throw new UnsupportedValue('large');
  if (most > LARGE) await yieldTurn();
  const hasMore = rows.places.length / 2 > list.limit;
  const position = hasMore ? writer.positionOf(rows, list.limit - 1, list.field) : undefined;
  // of another type than the others, or beyond all times: findPage knows where a page continues after such a value
  if (position && !isPosition(position[0])) throw new UnsupportedValue('type');
  const next = position ? cursorAt(position) : null;
  return { text: writer.write(rows, list.limit, next), next };
}
