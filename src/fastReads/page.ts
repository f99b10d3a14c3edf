import type { Model } from 'mongoose';
import { findRaw, type RawRows } from '../database/rawRows';
import { type ListRequest, openPage } from '../database/pagination';
import { SETTLED_READ } from '../database/slots';
import type { PageWriter } from './answerWriter';

/** Bytes of rows that take some milliseconds to write. */
const LARGE = 256 * 1024;
const NO_ROWS: RawRows = { bytes: Buffer.alloc(0), places: [] };

/** A page as JSON text. */
export interface WrittenPage {
  readonly text: Buffer;
  readonly next: string | null;
}

/** Reads one page as `findPage` does, and writes it without making objects. @throws UnsupportedValue if that must do it */
export async function writePage<T extends { _id: string }>(
  model: Model<T>,
  request: ListRequest,
  writer: PageWriter,
  ownTurn: () => Promise<void>,
): Promise<WrittenPage> {
  const { list, query, cursorAt } = await openPage(model, request);
  if (!query) return { text: writer.write(NO_ROWS, list.limit, null), next: null };
  const { until, filter, sort, most } = query;
  const reading = until && SETTLED_READ;
  const rows = await findRaw(model, { filter, projection: request.projection, sort, most, reading });
  if (rows.bytes.length > LARGE) await ownTurn();
  const hasMore = rows.places.length / 2 > list.limit;
  const next = hasMore ? cursorAt(writer.positionOf(rows, list.limit - 1, list.field)) : null;
  return { text: writer.write(rows, list.limit, next), next };
}
