import { AppError } from '../errors';

/** Which bytes of a file are wanted: from `start` to before `end`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A single range: from, to, or both. */
const SINGLE = /^bytes=(\d*)-(\d*)$/i;

/**
 * The span that a Range asks for (RFC 9110, section 14.2). Undefined for the whole file: without one, or with several, another unit or
 * an end before the start, which a server ignores. Null if the file has no such bytes.
 */
export function spanOf(header: string | undefined, size: number): Span | undefined | null {
  const [, from = '', to = ''] = SINGLE.exec(header ?? '') ?? [];
  if (from === '' && to === '') return undefined;
  if (from === '') return Number(to) === 0 || size === 0 ? null : { start: Math.max(0, size - Number(to)), end: size };
  const start = Number(from);
  const last = to === '' ? Infinity : Number(to);
  if (last < start) return undefined;
  return start >= size ? null : { start, end: Math.min(size, last + 1) };
}

/** The error for a range of which {@link spanOf} makes null. `size` is that of the file, in bytes. */
export const notSatisfiable = (size: number): AppError =>
  new AppError('range_not_satisfiable', `The file has ${String(size)} bytes.`, {
    accepts: { 'Content-Range': `bytes */${String(size)}` },
  });
