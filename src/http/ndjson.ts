import { isUtf8 } from 'node:buffer';
import { MEBIBYTE, SECOND } from '../units';
import { BULK_BODY_LIMIT, estimateParsedSize } from './body';
import type { Exchange } from './exchange';
import { GrowingBuffer } from './growingBuffer';

/* Bodies of newline-delimited JSON, which are read a piece at a time. */

export const NDJSON = 'application/x-ndjson';

/** The most that one body may have, and how long it is read, in milliseconds, since any body must arrive within 30 s. */
export const NDJSON_LIMITS = { lines: 10_000, bytes: 16 * MEBIBYTE, line: BULK_BODY_LIMIT, time: 25 * SECOND } as const;
/** A piece ends with this many lines, or this size once parsed, or once nothing more has arrived for a moment (in milliseconds). */
export const PIECE = { lines: 1000, parsedSize: MEBIBYTE, pause: 5 } as const;
/** After this long without a piece, in milliseconds, the reader gets one of what has come, even if that is nothing: it may have a deadline. */
const IDLE = 500;
const NEWLINE = 0x0a;
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
  /** The line that has begun, if it is not too long. */
  const line = new GrowingBuffer(NDJSON_LIMITS.line, holdMemory);
  let [length, lines] = [0, 0];
  let piece: NdjsonLine[] = [];
  let parsedSize = 0;
  let arriving: Promise<IteratorResult<Buffer>> | undefined;

  function holdMemory(ofLine: number): void {
    bodies.holdBody(exchange, ofLine + parsedSize);
  }

  function append(part: Buffer): void {
    length += part.length;
    if (length <= NDJSON_LIMITS.line) line.append(part);
  }

  function endLine(): void {
    const { bytes } = line;
    lines += 1;
    if (lines > NDJSON_LIMITS.lines) piece.push({ fault: 'limit' });
    else if (length > NDJSON_LIMITS.line) piece.push({ fault: 'length' });
    else if (!isUtf8(bytes)) piece.push({ fault: 'encoding' });
    else {
      piece.push({ text: bytes.toString('utf8') });
      parsedSize += estimateParsedSize(bytes);
    }
    length = 0;
    line.clear();
    holdMemory(line.sizeInMemory);
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

  exchange.askForBody();
  try {
    yield* read();
  } finally {
    leave();
  }

  async function* read(): AsyncGenerator<NdjsonLine[]> {
    let received = 0;
    let last = performance.now();
    /** Hands the piece on; the next one begins once the reader asks for it. */
    function* hand(): Generator<NdjsonLine[]> {
      const taken = piece;
      [piece, parsedSize] = [[], 0];
      yield taken;
      last = performance.now();
      holdMemory(line.sizeInMemory);
    }
    for (;;) {
      const next = await receive();
      // bytes that come one by one would never make a pause
      if (next === PAUSE || performance.now() - last > IDLE) yield* hand();
      if (next === PAUSE) continue;
      if (next.done === true) break;
      const chunk = next.value;
      for (let start = 0; ;) {
        // blank lines are millions in a body, too many for a look at each
        if (length === 0) start = textAt(chunk, start);
        if (start === chunk.length) break;
        const newline = chunk.indexOf(NEWLINE, start);
        const end = newline === -1 ? chunk.length : newline;
        if (received + end > NDJSON_LIMITS.bytes) {
          piece.push({ fault: 'limit' });
          yield* hand();
          return;
        }
        append(chunk.subarray(start, end));
        if (newline === -1) break;
        endLine();
        start = end + 1;
        const isLast = lines > NDJSON_LIMITS.lines;
        if (isLast || piece.length >= PIECE.lines || parsedSize >= PIECE.parsedSize) yield* hand();
        if (isLast) return;
      }
      received += chunk.length;
    }
    if (length > 0) endLine();
    if (piece.length > 0) yield* hand();
  }
}

/** Where a text begins that is not white space: JSON ignores what is before it, and blank lines have none. */
function textAt(chunk: Buffer, start: number): number {
  let at = start;
  for (let byte = chunk[at]; byte === NEWLINE || byte === 0x20 || byte === 0x09 || byte === 0x0d; byte = chunk[at])
    at += 1;
  return at;
}
