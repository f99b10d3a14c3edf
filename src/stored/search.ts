import { trusted } from 'mongoose';
import removeAccents from 'remove-accents';
import { invalidRequest } from '../errors';

/*
 * Prefix search on normalised words, with a multikey index, because not all MongoDB-compatible servers have text indexes,
 * and regular expressions must not be built from client input.
 */

const LONGEST_WORD = 64;
/** Distinct words that an object is found by; a text of 20,000 characters has about as many. */
export const MAX_WORDS = 1000;
/** Distinct words that a search may have. */
export const MAX_SOUGHT = 8;
/** Length of a text from which words are taken, and what it may grow to: Hangul three times as long, U+FDFA eighteen times. */
const LONGEST_TEXT = 20_000;
const GROWTH = { times: 3, always: 100 };
/**
 * Combining marks in a row beyond the 30 of Unicode's Stream-Safe Text Format: to normalise takes the square of their number. The two
 * halfwidth sound marks of Japanese become such marks.
 */
const MARKS_TOO_MANY = /([\p{M}\uff9e\uff9f]{30})[\p{M}\uff9e\uff9f]+/gu;
const LAST_CHARACTER = '\u{10ffff}';

/**
 * The distinct normalised words of strings: upper case, without accents, split at everything except letters and digits.
 * The first {@link MAX_WORDS} of them.
 */
export function searchWords(...texts: readonly (string | null | undefined)[]): string[] {
  const words = new Set<string>();
  for (const text of texts) {
    if (!text) continue;
    for (const word of normalise(text.slice(0, LONGEST_TEXT)).split(/[^\p{L}\p{N}]+/u)) {
      if (word === '') continue;
      words.add(truncate(word));
      if (words.size === MAX_WORDS) return [...words];
    }
  }
  return [...words];
}

function normalise(text: string): string {
  // the common case
  if (/^[\0-\x7f]*$/.test(text)) return text.toUpperCase();
  const most = Math.max(GROWTH.always, GROWTH.times * text.length);
  const decomposed = removeAccents(text.replaceAll(MARKS_TOO_MANY, '$1').normalize('NFKC').slice(0, most))
    .normalize('NFKD')
    .slice(0, most)
    .replaceAll(/\p{M}+/gu, '');
  // upper case, since some letters have several lower-case forms (Σ: σ, ς) or expand (ß: SS); lower case first for ẞ
  return decomposed.toLowerCase().toUpperCase();
}

function truncate(word: string): string {
  return word.length <= LONGEST_WORD ? word : Array.from(word).slice(0, LONGEST_WORD).join('');
}

/**
 * Conditions that every word of a text is a prefix of a search word; none if it has no words. The longest word is first,
 * since it is likely to match the fewest rows, and some planners use the index for the first condition only.
 * @throws AppError invalid_request, naming the argument, for more than {@link MAX_SOUGHT} words, each of which is looked up
 */
export function searchConditions(text: string, argument: string): Record<string, unknown>[] {
  const words = searchWords(text);
  if (words.length > MAX_SOUGHT) {
    const detail = `must have at most ${String(MAX_SOUGHT)} different words, and has ${String(words.length)}`;
    throw invalidRequest([{ parameter: argument, code: 'length', detail }]);
  }
  words.sort((one, other) => other.length - one.length);
  return words.map((word) => ({
    search: trusted({ $elemMatch: { $gte: word, $lt: word + LAST_CHARACTER } }),
  }));
}

/**
 * Conditions that one of the members is an email address, whatever its case; none if no address is like that. They use the index of search
 * words, those of the local part first, which few addresses share.
 */
export function emailConditions(address: string, members: readonly string[]): Record<string, unknown>[] {
  const [, local = '', domain = ''] = /^(.*?)(@[^@]*)?$/su.exec(address) ?? [];
  const words = searchWords(local, domain);
  if (words.length === 0) return [];
  // as the database does it, which knows ASCII only
  const wanted = { $literal: address.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase()) };
  const isOne = members.map((path) => {
    const [list = '', member] = path.split('.');
    if (member === undefined) return { $eq: [{ $toLower: `$${path}` }, wanted] };
    const each = { $map: { input: { $ifNull: [`$${list}`, []] }, in: { $toLower: `$$this.${member}` } } };
    return { $in: [wanted, each] };
  });
  return [...words.map((word) => ({ search: word })), { $expr: trusted({ $or: isOne }) }];
}
