import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';

/** A non-blank line of a file. */
export interface Line {
  /** From 1. */
  readonly number: number;
  /** Byte offset of the next line. */
  readonly end: number;
  /** The text, or why it cannot be read. */
  readonly content: { readonly text: string } | { readonly fault: 'encoding' | 'length' };
}

/** MongoDB's document limit, so no valid record is longer. Bounds memory. */
const LONGEST_LINE = 16 * 1024 * 1024;
const NEWLINE = 0x0a;
const BYTE_ORDER_MARK = '\ufeff';

/** Reads a file line by line, in constant memory. Accepts a BOM and CRLF; skips blank lines. */
export async function* ndjsonLines(path: string): AsyncGenerator<Line> {
  let [number, offset, pending, size] = [0, 0, [] as Buffer[], 0];
  const finish = (last: Buffer, newline: 0 | 1): Line | undefined => {
    size += last.length;
    pending.push(last);
    const content = size > LONGEST_LINE ? ({ fault: 'length' } as const) : decode(Buffer.concat(pending), number === 0);
    number += 1;
    offset += size + newline;
    [pending, size] = [[], 0];
    return 'text' in content && content.text === '' ? undefined : { number, end: offset, content };
  };
  for await (const chunk of createReadStream(path, { highWaterMark: 256 * 1024 }) as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const line = finish(chunk.subarray(start, end), 1);
      if (line) yield line;
      start = end + 1;
    }
    const rest = chunk.subarray(start);
    size += rest.length;
    // a line that is too long is counted but not kept
    if (size <= LONGEST_LINE) pending.push(rest);
    else pending = [];
  }
  const line = size > 0 ? finish(Buffer.alloc(0), 0) : undefined;
  if (line) yield line;
}

function decode(bytes: Buffer, isFirst: boolean): Line['content'] {
  if (!isUtf8(bytes)) return { fault: 'encoding' };
  const text = bytes.toString('utf8');
  return { text: (isFirst && text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text).trim() };
}
