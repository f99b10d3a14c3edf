import { isUtf8 } from 'node:buffer';
import { MEBIBYTE } from '../units';
import { BULK_BODY_LIMIT, estimateParsedSize } from './body';
import type { Exchange } from './exchange';

/* Bodies of newline-delimited JSON, which are read a piece at a time. */

export const NDJSON = 'application/x-ndjson';

/** The most that one body may have. */
export const NDJSON_LIMITS = { lines: 10_000, bytes: 16 * MEBIBYTE, line: BULK_BODY_LIMIT } as const;
/** A piece ends with this many lines or bytes, or once nothing more has arrived for a moment (in milliseconds). */
const PIECE = { lines: 1000, bytes: MEBIBYTE, pause: 5 } as const;
/** How often a caller that sends nothing, or next to nothing, gets an empty piece, in milliseconds, so that the reader can end. */
const IDLE = 500;
const NEWLINE = 0x0a;
/** Bytes of the first buffer, which doubles. */
const FIRST_ROOM = 16 * 1024;
const PAUSE = Symbol('pause');

/** The text of a line, or why there is none; after `limit` no more lines are read. */
export type NdjsonLine = { readonly text: string } | { readonly fault: 'encoding' | 'length' | 'limit' };

/**
 * Reads a body in pieces, which may be empty. Its memory is counted. If the reader stops early, the rest of the body is discarded.
 * @throws AppError unavailable; the error of a connection that closed
 */
export async function* ndjsonPieces(exchange: Exchange): AsyncGenerator<NdjsonLine[]> {
  const { request, bodies } = exchange;
  const chunks = request.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer>;
  // one growing buffer, since each chunk of its own costs 440 bytes, however small
  let room = Buffer.alloc(0);
  let [size, bytes, lines, isTooLong] = [0, 0, 0, false];
  let piece: NdjsonLine[] = [];
  let pieceBytes = 0;
  let arriving: Promise<IteratorResult<Buffer>> | undefined;

  function append(part: Buffer): void {
    isTooLong ||= size + part.length > NDJSON_LIMITS.line;
    if (isTooLong) {
      size = 0;
      return;
    }
    if (size + part.length > room.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(size + part.length, 2 * room.length, FIRST_ROOM));
      room.copy(larger, 0, 0, size);
      room = larger;
    }
    part.copy(room, size);
    size += part.length;
  }

  function endLine(): void {
    const line = room.subarray(0, size);
    const wasTooLong = isTooLong;
    [size, isTooLong] = [0, false];
    lines += 1;
    if (lines > NDJSON_LIMITS.lines) piece.push({ fault: 'limit' });
    else if (wasTooLong) piece.push({ fault: 'length' });
    else if (!isUtf8(line)) piece.push({ fault: 'encoding' });
    else piece.push({ text: line.toString('utf8') });
    pieceBytes += estimateParsedSize(line);
  }

  function take(): NdjsonLine[] {
    const taken = piece;
    [piece, pieceBytes] = [[], 0];
    return taken;
  }

  /** The next chunk, or a pause. */
  async function receive(): Promise<IteratorResult<Buffer> | typeof PAUSE> {
    exchange.isReceiving = true;
    arriving ??= chunks.next();
    let timer: NodeJS.Timeout | undefined;
    const pause = new Promise<typeof PAUSE>((resolve) => {
      timer = setTimeout(resolve, piece.length > 0 ? PIECE.pause : IDLE, PAUSE);
    });
    const next = await Promise.race([arriving, pause]).finally(() => {
      clearTimeout(timer);
      exchange.isReceiving = false;
    });
    if (next !== PAUSE) arriving = undefined;
    return next;
  }

  /** Discards the rest, so that the caller can read the answer. */
  function leave(): void {
    arriving?.catch(() => undefined);
    void chunks.return?.().then(() => request.resume());
  }

  try {
    yield* read();
  } finally {
    leave();
  }

  async function* read(): AsyncGenerator<NdjsonLine[]> {
    let last = performance.now();
    for (;;) {
      const next = await receive();
      // bytes that come one by one would never make a pause
      if (next === PAUSE || performance.now() - last > IDLE) {
        yield take();
        last = performance.now();
      }
      if (next === PAUSE) continue;
      if (next.done === true) break;
      const chunk = next.value;
      bytes += chunk.length;
      for (let start = 0; ;) {
        // blank lines are millions in a body, too many for a look at each
        if (size === 0 && !isTooLong) start = textAt(chunk, start);
        if (start === chunk.length) break;
        const end = chunk.indexOf(NEWLINE, start);
        append(chunk.subarray(start, end === -1 ? undefined : end));
        if (end === -1) break;
        endLine();
        start = end + 1;
        bodies.holdBody(exchange, room.length + pieceBytes);
        if (lines > NDJSON_LIMITS.lines || piece.length >= PIECE.lines || pieceBytes >= PIECE.bytes) yield take();
        if (lines > NDJSON_LIMITS.lines) return;
      }
      bodies.holdBody(exchange, room.length + pieceBytes);
      if (bytes > NDJSON_LIMITS.bytes) {
        yield [...take(), { fault: 'limit' }];
        return;
      }
    }
    if (size > 0 || isTooLong) endLine();
    if (piece.length > 0) yield take();
  }
}

/** Where a text begins that is not white space: JSON ignores what is before it, and blank lines have none. */
function textAt(chunk: Buffer, start: number): number {
  let at = start;
  for (let byte = chunk[at]; byte === NEWLINE || byte === 0x20 || byte === 0x09 || byte === 0x0d; byte = chunk[at])
    at += 1;
  return at;
}
