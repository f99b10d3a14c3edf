import { isUtf8 } from 'node:buffer';

/*
 * BSON as bytes (bsonspec.org), for answers that are written without making objects (docs/decisions/fast.md). Anything unexpected throws
 * UnsupportedValue, and the driver then decodes the rows. `at` or `start` is the offset at which something begins; `end` is that after the last
 * byte of what it is in.
 */

/** The types of elements that can occur in rows and replies; `flag` is a boolean, `time` a UTC datetime in milliseconds. */
export const BSON = {
  double: 1,
  text: 2,
  object: 3,
  array: 4,
  objectId: 7,
  flag: 8,
  time: 9,
  null: 10,
  int: 16,
  timestamp: 17,
  long: 18,
  decimal: 19,
} as const;

/** Bytes of a value by type, for types of fixed size; 0xff for others. */
const SIZES = new Uint8Array(0x100).fill(0xff);
for (const type of [BSON.double, BSON.time, BSON.timestamp, BSON.long]) SIZES[type] = 8;
SIZES[BSON.objectId] = 12;
SIZES[BSON.flag] = 1;
SIZES[BSON.null] = 0;
SIZES[BSON.int] = 4;
SIZES[BSON.decimal] = 16;

/** A value that cannot be written from its bytes. The message is for debugging alone. */
export class UnsupportedValue extends Error {}

/** Bytes of the shortest object: its length and its final zero. */
const SHORTEST = 5;
const DOLLAR = 0x24;
const ASCII = 0x80;

export function int32(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24);
}

/** A signed 64-bit integer; beyond 2^53 it is not exact. */
export function int64(bytes: Uint8Array, at: number): number {
  return int32(bytes, at + 4) * 0x1_0000_0000 + (int32(bytes, at) >>> 0);
}

/** The end of a key's name, where its zero is. @throws UnsupportedValue if there is none before `end` */
export function endOfKey(bytes: Uint8Array, at: number, end: number): number {
  let to = at;
  while (to < end && bytes[to] !== 0) to += 1;
  if (to >= end) throw new UnsupportedValue('document');
  return to;
}

/** The end `to` of an object, array or text, whose last byte is a zero. @throws UnsupportedValue if it cannot be there */
function endOf(bytes: Uint8Array, at: number, to: number, end: number): number {
  if (to < at + SHORTEST || to > end || bytes[to - 1] !== 0) throw new UnsupportedValue('document');
  return to;
}

/** The offset after a value, whose content is not checked. @throws UnsupportedValue for types that are not in {@link BSON} */
export function endOfValue(bytes: Uint8Array, type: number, at: number, end: number): number {
  // the length of a string does not include the bytes of the length itself
  if (type === BSON.text) return endOf(bytes, at, at + 4 + int32(bytes, at), end);
  if (type === BSON.object || type === BSON.array) return endOf(bytes, at, at + int32(bytes, at), end);
  const size = SIZES[type] ?? 0;
  if (size === 0xff || at + size > end) throw new UnsupportedValue('type');
  return at + size;
}

/** The offset after a value that is not written, but checked, since the driver would have decoded it. @throws UnsupportedValue if it might have thrown */
export function skipValue(bytes: Buffer, type: number, at: number, end: number): number {
  const to = endOfValue(bytes, type, at, end);
  if (type === BSON.text) checkText(bytes, at + 4, to - 1);
  else if (type === BSON.object || type === BSON.array) skipObject(bytes, at, to);
  else if (type === BSON.flag) checkFlag(bytes, at);
  return to;
}

export function checkFlag(bytes: Uint8Array, at: number): void {
  if ((bytes[at] ?? 0) > 1) throw new UnsupportedValue('type');
}

/** {@link skipValue} for an object that fills the bytes from `start` to `end`. */
export function skipObject(bytes: Buffer, start: number, end: number): void {
  let at = start + 4;
  for (;;) {
    const type = bytes[at++] ?? 0;
    if (type === 0) break;
    refuseReference(bytes, at);
    at = skipValue(bytes, type, endOfKey(bytes, at, end) + 1, end);
  }
  if (at !== end) throw new UnsupportedValue('document');
}

/** Refuses a reference ({$ref, $id}), which the driver makes into an object of a class of its own, by the first character of a key. */
export function refuseReference(bytes: Uint8Array, key: number): void {
  if (bytes[key] === DOLLAR) throw new UnsupportedValue('document');
}

function checkText(bytes: Buffer, start: number, end: number): void {
  for (let at = start; at < end; at += 1) {
    if ((bytes[at] ?? 0) < ASCII) continue;
    if (!isUtf8(bytes.subarray(at, end))) throw new UnsupportedValue('text');
    return;
  }
}

/** Calls `each` with the start and end of each object in the array that fills the bytes from `start` to `end`. @throws UnsupportedValue if it has anything else */
export function forEachObject(
  bytes: Buffer,
  start: number,
  end: number,
  each: (at: number, end: number) => void,
): void {
  let at = start + 4;
  for (;;) {
    const type = bytes[at++] ?? 0;
    if (type === 0) break;
    if (type !== BSON.object) throw new UnsupportedValue('type');
    const value = endOfKey(bytes, at, end) + 1;
    at = endOfValue(bytes, type, value, end);
    each(value, at);
  }
  if (at !== end) throw new UnsupportedValue('document');
}
