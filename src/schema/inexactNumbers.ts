import { shorten } from '../errors';

/*
 * Numbers that JSON.parse would make whole although they have a fraction, such as 900719925474099.96 or 1e-400: a double does not hold them, so
 * an amount would be stored that nobody sent. They are replaced before the text is parsed, by numbers that are not whole either.
 */

const [ZERO, NINE, DOT, MINUS, PLUS, SMALL_E, LARGE_E] = [48, 57, 46, 45, 43, 101, 69];

export const isDigit = (code: number): boolean => code >= ZERO && code <= NINE;

const isOfNumber = (code: number): boolean =>
  isDigit(code) || code === DOT || code === MINUS || code === PLUS || code === SMALL_E || code === LARGE_E;

/** Where the number around an index begins and ends. */
export function numberAround(text: string, at: number): [start: number, end: number] {
  let [start, end] = [at, at + 1];
  while (start > 0 && isOfNumber(text.charCodeAt(start - 1))) start -= 1;
  while (end < text.length && isOfNumber(text.charCodeAt(end))) end += 1;
  return [start, end];
}

/** A number of JSON; anything else stays as it is, so that a text that is not valid stays invalid. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i;

/** A number without an exponent loses no fraction in so many characters: 15 digits and a point. */
const EXACT_LENGTH = 16;

/** Whether a number has a fraction, but would be parsed as whole. Takes time in proportion to its length. */
export function seemsWhole(number: string): boolean {
  if (number.length <= EXACT_LENGTH && !/e/i.test(number)) return false;
  return NUMBER.test(number) && Number.isInteger(Number(number)) && /[1-9]/.test(partsOf(number).fraction);
}

/** The digits before and after the point, once the exponent has moved it. */
function partsOf(number: string): { readonly whole: string; readonly fraction: string } {
  const [written = '', exponent = '0'] = number.split(/e/i);
  const [before = '', after = ''] = written.replace('-', '').split('.');
  const digits = before + after;
  const point = Math.max(0, before.length + Number(exponent));
  return { whole: digits.slice(0, point), fraction: digits.slice(point) };
}

/** From here on all doubles are whole. */
const ALL_WHOLE = 2 ** 52;

/**
 * What to parse instead of a number that seems whole: the double next to its rounded value, on the side on which the number is; it differs in the
 * 16th digit and is not whole. Where all doubles are whole it is a list in a list, which no type has: a text alone would be accepted
 * where a text is wanted.
 */
export function fractionOf(number: string): string {
  const value = Number(number);
  if (Math.abs(value) >= ALL_WHOLE) return JSON.stringify([[shorten(number)]]);
  const bits = new BigInt64Array(new Float64Array([value]).buffer);
  const isBeyond = BigInt(partsOf(number).whole.replace(/^0+/, '')) >= Math.abs(value);
  bits[0] = (bits[0] ?? 0n) + (isBeyond ? 1n : -1n);
  return String(new Float64Array(bits.buffer)[0]);
}
