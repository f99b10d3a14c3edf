import { closeSync, openSync, readSync } from 'node:fs';

/** Maximum size of a file; of a device or a pipe that never ends, no more is read. */
const MAX_BYTES = 64 * 1024;

interface Unreadable {
  /** What is wrong with the file, with its path: to follow a colon, and the name of what names the file. */
  readonly error: string;
}

/** The text of a small file, or why it cannot be read. */
export function readText(path: string): { readonly text: string } | Unreadable {
  const read = readBytes(path);
  if ('error' in read) return read;
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(read.bytes) };
  } catch {
    return { error: `${path} is not text in UTF-8` };
  }
}

/** The bytes of a small file, or why it cannot be read. */
export function readBytes(path: string): { readonly bytes: Buffer } | Unreadable {
  try {
    const bytes = readStart(path, MAX_BYTES + 1);
    return bytes.length > MAX_BYTES ? { error: `${path} is larger than ${String(MAX_BYTES)} bytes` } : { bytes };
  } catch (error) {
    return { error: `cannot be read: ${(error as Error).message}` };
  }
}

/** The first bytes of a file or a pipe, at most `most`. */
function readStart(path: string, most: number): Buffer {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(most);
    let length = 0;
    for (let read = -1; read !== 0 && length < most; length += read)
      read = readSync(file, bytes, length, most - length, null);
    return bytes.subarray(0, length);
  } finally {
    closeSync(file);
  }
}
