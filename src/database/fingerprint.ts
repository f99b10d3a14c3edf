import { createHash } from 'node:crypto';
import type { Pace } from './courtesy';

/** What a write was asked to do: the name of its root field, and its arguments. */
export interface Asked {
  readonly operation: string;
  readonly args: unknown;
}

/** Length of text after which others may be let in: well below a millisecond of work. */
const PIECE = 16 * 1024;

/**
 * SHA-256 of an operation and its arguments as JSON with sorted members, so that member order does not matter. In slices of time,
 * since the arguments may not be validated yet and as large as a body.
 */
export async function fingerprintOf({ operation, args }: Asked, pace: Pace): Promise<string> {
  const hash = createHash('sha256').update(operation).update('\n');
  const written = { text: '' };
  for (const _ of write(args, written)) {
    hash.update(written.text);
    written.text = '';
    const pause = pace();
    if (pause) await pause;
  }
  return hash.update(written.text).digest('base64url');
}

/** Writes a value as JSON.stringify does, but with sorted members. Yields when there is a piece of text to take away. */
function* write(value: unknown, to: { text: string }): Generator<undefined, void> {
  // a Date, as a scalar reads it, writes itself
  if (typeof value !== 'object' || value === null || value instanceof Date) {
    to.text += plain(value);
    return;
  }
  const isList = Array.isArray(value);
  const names = isList ? value.keys() : Object.keys(value).sort();
  let between = isList ? '[' : '{';
  for (const name of names) {
    if (to.text.length > PIECE) yield;
    const member = (value as Record<string | number, unknown>)[name];
    if (!isList && member === undefined) continue;
    to.text += between + (isList ? '' : `${JSON.stringify(name)}:`);
    between = ',';
    if (typeof member !== 'object' || member === null) to.text += plain(member);
    else yield* write(member, to);
  }
  to.text += between === ',' ? '' : between;
  to.text += isList ? ']' : '}';
}

function plain(value: unknown): string {
  return value === undefined ? 'null' : JSON.stringify(value);
}
