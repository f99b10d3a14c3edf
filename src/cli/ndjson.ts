import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { addAbortSignal } from 'node:stream';
import type { Fault } from '../errors';
import { LONGEST_LINE, MEBIBYTE } from '../units';

/*
 * Files of any length with a JSON value a line. Bodies of requests have a reader of their own (http/ndjson.ts), which has limits and waits for
 * no pause; here each line has its number, for messages, and its end in bytes, for progress and the size of batches.
 */

/** Standard input, as a path. */
export const STDIN = '-';

/** A non-blank line of a file. */
export interface Line {
  /** From 1. */
  readonly number: number;
  /** Byte offset of the next line. */
  readonly end: number;
  /** The text, or why it cannot be read. */
  readonly content: { readonly text: string } | { readonly fault: 'encoding' | 'length' };
}

const NEWLINE = 0x0a;
const BYTE_ORDER_MARK = '\ufeff';

/**
 * Reads a file, or standard input (`-`), line by line, in constant memory. Accepts a BOM and CRLF; skips blank lines. `signal` aborts a wait for
 * standard input only: whoever reads a file checks it between lines.
 */
export async function* ndjsonLines(path: string, signal?: AbortSignal): AsyncGenerator<Line> {
  const chunks = path === STDIN ? process.stdin : createReadStream(path, { highWaterMark: 256 * 1024 });
  // a person or a program at the other end may never write more, nor close it
  if (path === STDIN && signal) addAbortSignal(signal, chunks);
  let number = 0;
  let offset = 0;
  let pending: Buffer[] = [];
  let size = 0;
  /** The line that ends with these bytes and so many newlines; undefined if it is blank. */
  const finish = (last: Buffer, newline: 0 | 1): Line | undefined => {
    size += last.length;
    pending.push(last);
    const content = size > LONGEST_LINE ? ({ fault: 'length' } as const) : decode(Buffer.concat(pending), number === 0);
    number += 1;
    offset += size + newline;
    pending = [];
    size = 0;
    return 'text' in content && content.text === '' ? undefined : { number, end: offset, content };
  };
  for await (const chunk of chunks as AsyncIterable<Buffer>) {
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

/** The faults of lines that cannot be read. */
export const UNREADABLE = {
  encoding: { pointer: '', code: 'encoding', detail: 'is not valid UTF-8' },
  length: { pointer: '', code: 'length', detail: `is longer than ${String(LONGEST_LINE / MEBIBYTE)} MiB` },
} as const satisfies Record<string, Fault>;

/** Parses JSON; undefined if it is malformed. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
