import { isUtf8 } from 'node:buffer';
import { DAY, EARLIEST, LATEST, MAX_ANSWER, SECOND } from '../units';
import { UnsupportedValue } from '../mongo/bson';

/** Initial size of the buffer, in bytes. */
const FIRST = 64 * 1024;
/** The size that it may keep, in bytes. */
const KEPT = 1024 * 1024;
/** The most that doubling makes it: more than the largest answer, so that a string at the end of one, for which the worst is reserved, seldom needs a copy. */
const LARGEST = MAX_ANSWER + KEPT;
/** The most bytes that one byte of text becomes: `\u0000`. */
const MAX_ESCAPE = 6;
/** The digits of 2^53. */
const MAX_DIGITS = 16;
/** Up to this, the bitwise operators of `number` are right. */
const MAX_INT = 2 ** 31 - 1;
/** Enough for any number or time. */
const SMALL = 64;

const [QUOTE, BACKSLASH, DASH, ZERO] = [0x22, 0x5c, 0x2d, 0x30];
const NULL = Buffer.from('null');
const TRUE = Buffer.from('true');
const FALSE = Buffer.from('false');

/** By ASCII character: the bytes that JSON.stringify writes, if it escapes the character. */
const ESCAPES = Array.from({ length: 0x80 }, (_, code) => {
  const text = JSON.stringify(String.fromCharCode(code)).slice(1, -1);
  return text.length === 1 ? undefined : Buffer.from(text);
});
/** 1 for each byte that needs no escape. */
const IS_PLAIN = Uint8Array.from({ length: 0x100 }, (_, code) => (code < 0x80 && !ESCAPES[code] ? 1 : 0));

/** Writes JSON as bytes, exactly as JSON.stringify does, into a buffer that is kept for the next: call `start`, then write without awaiting, then `finish`. */
export class JsonOutput {
  #bytes = Buffer.allocUnsafe(FIRST);
  #at = 0;

  start(): void {
    this.#at = 0;
  }

  /** Returns a copy of what was written since `start`. @throws UnsupportedValue if it is too large for an answer */
  finish(): Buffer {
    if (this.#at > MAX_ANSWER) this.#refuse();
    const text = Buffer.from(this.#bytes.subarray(0, this.#at));
    if (this.#bytes.length > KEPT) this.#bytes = Buffer.allocUnsafe(FIRST);
    return text;
  }

  /** Writes bytes that are already JSON. */
  put(bytes: Uint8Array): void {
    const { length } = bytes;
    this.#reserve(length);
    const out = this.#bytes;
    let at = this.#at;
    // most are names of a few bytes, which a loop copies faster than the engine's copy does
    for (let from = 0; from < length; from += 1) out[at++] = bytes[from] ?? 0;
    this.#at = at;
  }

  null(): void {
    this.put(NULL);
  }

  boolean(value: boolean): void {
    this.put(value ? TRUE : FALSE);
  }

  /** Writes a range of bytes as a string. @throws UnsupportedValue if they are not UTF-8 */
  string(bytes: Buffer, start: number, end: number): void {
    this.#reserve((end - start) * MAX_ESCAPE + 2);
    const out = this.#bytes;
    let at = this.#at;
    out[at++] = QUOTE;
    let from = start;
    for (; from < end; from += 1) {
      const byte = bytes[from] ?? 0;
      if (IS_PLAIN[byte] === 0) break;
      out[at++] = byte;
    }
    this.#at = at;
    if (from < end) this.#rest(bytes, from, end);
    out[this.#at++] = QUOTE;
  }

  /** Writes the rest of a string, from its first byte that is not plain. */
  #rest(bytes: Buffer, start: number, end: number): void {
    if (!isUtf8(bytes.subarray(start, end))) throw new UnsupportedValue('text');
    const out = this.#bytes;
    let at = this.#at;
    for (let from = start; from < end; from += 1) {
      const byte = bytes[from] ?? 0;
      const escape = ESCAPES[byte];
      if (!escape) {
        out[at++] = byte;
        continue;
      }
      out[at++] = BACKSLASH;
      for (let next = 1; next < escape.length; next += 1) out[at++] = escape[next] ?? 0;
    }
    this.#at = at;
  }

  /** Writes a finite number. */
  number(value: number): void {
    if (!Number.isSafeInteger(value)) {
      this.put(Buffer.from(String(value), 'latin1'));
      return;
    }
    this.#reserve(SMALL);
    const out = this.#bytes;
    let left = value;
    if (left < 0) {
      out[this.#at++] = DASH;
      left = -left;
    }
    let digits = 1;
    for (let power = 10; digits < MAX_DIGITS && left >= power; power *= 10) digits += 1;
    let at = this.#at + digits;
    this.#at = at;
    // what remains fits 32 bits, whose divisions are fast
    while (left > MAX_INT) {
      const tens = Math.floor(left / 10);
      out[--at] = ZERO + (left - tens * 10);
      left = tens;
    }
    do {
      const tens = (left / 10) | 0;
      out[--at] = ZERO + (left - tens * 10);
      left = tens;
    } while (left > 0);
  }

  /** Writes a time, given in milliseconds since 1970, the way toISOString does. @throws UnsupportedValue outside the years 0001 to 9999 */
  dateTime(time: number): void {
    if (!(time >= EARLIEST && time <= LATEST)) throw new UnsupportedValue('time');
    this.#reserve(SMALL);
    const out = this.#bytes;
    let at = this.#at;
    const day = Math.floor(time / DAY);
    const left = time - day * DAY;
    // Howard Hinnant's civil_from_days, since a Date takes several times as long: days count from 1 March of the year 0, so that leap days come
    // last, which is 719,468 days before 1970; an era is 400 years
    const days = day + 719_468;
    const era = (days / 146_097) | 0;
    const ofEra = days - era * 146_097;
    const yearOfEra = ((ofEra - ((ofEra / 1460) | 0) + ((ofEra / 36_524) | 0) - ((ofEra / 146_096) | 0)) / 365) | 0;
    const ofYear = ofEra - (365 * yearOfEra + (yearOfEra >> 2) - ((yearOfEra / 100) | 0));
    const fromMarch = ((5 * ofYear + 2) / 153) | 0;
    const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9;
    const year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0);
    const century = (year / 100) | 0;
    const seconds = (left / SECOND) | 0;
    const minutes = (seconds / 60) | 0;
    const hours = (minutes / 60) | 0;
    const fraction = left - seconds * SECOND;
    const tenths = (fraction / 100) | 0;
    out[at++] = QUOTE;
    at = twoDigits(out, at, century);
    at = twoDigits(out, at, year - century * 100);
    out[at++] = DASH;
    at = twoDigits(out, at, month);
    out[at++] = DASH;
    at = twoDigits(out, at, ofYear - (((153 * fromMarch + 2) / 5) | 0) + 1);
    out[at++] = 0x54; // T
    at = twoDigits(out, at, hours);
    out[at++] = 0x3a; // :
    at = twoDigits(out, at, minutes - hours * 60);
    out[at++] = 0x3a;
    at = twoDigits(out, at, seconds - minutes * 60);
    out[at++] = 0x2e; // .
    out[at++] = ZERO + tenths;
    at = twoDigits(out, at, fraction - tenths * 100);
    out[at++] = 0x5a; // Z
    out[at++] = QUOTE;
    this.#at = at;
  }

  /** Leaves the refusal to the resolvers, which have its message (operations/answers.ts). */
  #refuse(): never {
    this.#bytes = Buffer.allocUnsafe(FIRST);
    throw new UnsupportedValue('large');
  }

  #reserve(more: number): void {
    if (this.#at + more <= this.#bytes.length) return;
    if (this.#at > MAX_ANSWER) this.#refuse();
    const larger = Buffer.allocUnsafe(Math.max(Math.min(2 * this.#bytes.length, LARGEST), this.#at + more));
    this.#bytes.copy(larger, 0, 0, this.#at);
    this.#bytes = larger;
  }
}

/** Writes two digits; returns the position after them. */
function twoDigits(out: Buffer, at: number, value: number): number {
  const tens = (value / 10) | 0;
  out[at] = ZERO + tens;
  out[at + 1] = ZERO + value - tens * 10;
  return at + 2;
}
