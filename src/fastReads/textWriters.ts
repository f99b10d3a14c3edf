import { BSON, UnsupportedValue } from '../mongo/bson';
import type { JsonOutput } from './jsonOutput';

/* Writers of values that the database has as text: in BSON its length (4 bytes), the text in UTF-8, and a zero, which is the byte before `end`. */

/** Writes the value between two places in the bytes, which is of this BSON type. @throws UnsupportedValue */
export type Write = (at: number, type: number, end: number) => void;

/** What is written now; the same object for all rows. */
interface Writing {
  readonly bytes: Buffer;
}
interface EnumValue {
  /** With a zero at its end, as in BSON. */
  readonly name: Uint8Array;
  readonly json: Uint8Array;
}

export function stringWriter(out: JsonOutput, writing: Writing, pattern?: RegExp): Write {
  // the last text that matched the pattern, with its zero: rows often have the same currency as the one before
  let last: Uint8Array | undefined;
  return (at, type, end) => {
    const { bytes } = writing;
    if (type !== BSON.text) throw new UnsupportedValue('type');
    if (pattern && afterName(bytes, at + 4, last) !== end) {
      if (!pattern.test(bytes.toString('utf8', at + 4, end - 1))) throw new UnsupportedValue('format');
      last = end - at < LONGEST ? Buffer.from(bytes.subarray(at + 4, end)) : undefined;
    }
    out.string(bytes, at + 4, end - 1);
  };
}

/** In bytes: a longer text is unlikely to be that of the next row. */
const LONGEST = 32;

/** Writes the id of a row, a UUID in lower case. */
export function idWriter(out: JsonOutput, writing: Writing): Write {
  return (at, type, end) => {
    const { bytes } = writing;
    if (type !== BSON.text) throw new UnsupportedValue('type');
    if (!isId(bytes, at + 4, end - 1)) throw new UnsupportedValue('format');
    out.string(bytes, at + 4, end - 1);
  };
}

/** Whether a text is a UUID in lower case, as `STORED_ID` says, without decoding it. */
function isId(bytes: Buffer, start: number, end: number): boolean {
  if (end - start !== 36) return false;
  for (let index = 0; index < 36; index += 1) {
    const byte = bytes[start + index] ?? 0;
    const isDash = index === 8 || index === 13 || index === 18 || index === 23;
    const isFit = isDash ? byte === 0x2d : (byte >= 0x30 && byte <= 0x39) || (byte >= 0x61 && byte <= 0x66);
    if (!isFit) return false;
  }
  return true;
}

export function dateWriter(out: JsonOutput, writing: Writing): Write {
  return (at, type, end) => {
    const { bytes } = writing;
    if (type !== BSON.text || !isDate(bytes, at + 4, end - 1)) throw new UnsupportedValue('type');
    out.string(bytes, at + 4, end - 1);
  };
}

/** Whether a string has the form of a date, `2026-01-31`, which is all that the Date scalar checks. */
function isDate(bytes: Buffer, start: number, end: number): boolean {
  if (end - start !== 10) return false;
  for (let index = 0; index < 10; index += 1) {
    const byte = bytes[start + index] ?? 0;
    const isFit = index === 4 || index === 7 ? byte === 0x2d : byte >= 0x30 && byte <= 0x39;
    if (!isFit) return false;
  }
  return true;
}

export function enumWriter(values: readonly string[], out: JsonOutput, writing: Writing): Write {
  const enumValues: EnumValue[] = values.map((value) => ({
    name: Buffer.from(`${value}\0`),
    json: Buffer.from(JSON.stringify(value)),
  }));
  return (at, type, end) => {
    if (type !== BSON.text) throw new UnsupportedValue('type');
    for (const { name, json } of enumValues) {
      if (afterName(writing.bytes, at + 4, name) !== end) continue;
      out.put(json);
      return;
    }
    throw new UnsupportedValue('enum');
  };
}

/** The position after the bytes at `at` if they are `name`, which ends with a zero; otherwise 0. */
export function afterName(bytes: Uint8Array, at: number, name: Uint8Array | undefined): number {
  if (!name) return 0;
  const { length } = name;
  for (let index = 0; index < length; index += 1) if (bytes[at + index] !== name[index]) return 0;
  return at + length;
}
