import { trusted } from 'mongoose';
import removeAccents from 'remove-accents';
import { invalidRequest } from '../errors';

/*
 * Prefix search on normalised words, with a multikey index, because a text index finds whole words only, and regular
 * expressions must not be built from client input. Rows keep the words that they were stored with: after a change of how words are made,
 * `doctor --rows` names the rows that have others, and `--fix` stores them anew.
 */

/** Characters of a word that are stored and compared; what is beyond is left out of both. */
const LONGEST_WORD = 64;
/** Maximum distinct words by which an object is found; a string of 20,000 characters has about as many. */
export const MAX_WORDS = 1000;
/** Maximum distinct words of a search. */
export const MAX_SOUGHT = 8;
/** Words are taken from this many characters of a string, which normalising may lengthen: Hangul three times, U+FDFA eighteen times. */
const LONGEST_TEXT = 20_000;
/** How many times as long a text may become, and the characters that it may always have, so that the few short ones that grow most are kept. Chosen. */
const GROWTH = { times: 3, always: 100 };
/**
 * Consecutive combining marks beyond the 30 of Unicode's Stream-Safe Text Format: the time to normalise them grows with the square of
 * their number. Normalising turns the two halfwidth sound marks of Japanese into such marks.
 */
const MARKS_TOO_MANY = /([\p{M}\uff9e\uff9f]{30})[\p{M}\uff9e\uff9f]+/gu;
const LAST_CHARACTER = '\u{10ffff}';

/**
 * The distinct normalised words of strings: upper case, without accents, split at everything except letters and digits.
 * What is no string has none: another program may have stored it in place of a text. Returns at most the first {@link MAX_WORDS}.
 */
export function searchWords(texts: readonly unknown[]): string[] {
  const words = new Set<string>();
  for (const text of texts) {
    if (typeof text !== 'string') continue;
    for (const word of normalise(text.slice(0, LONGEST_TEXT)).split(/[^\p{L}\p{N}]+/u)) {
      if (word === '') continue;
      words.add(truncate(word));
      if (words.size === MAX_WORDS) return [...words];
    }
  }
  return [...words];
}

/** The search words that a row has; none if another program stored something else there. */
export function storedWords(row: object): readonly string[] {
  const { search }: { readonly search?: unknown } = row;
  return Array.isArray(search) && search.every((word) => typeof word === 'string') ? search : [];
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
 * Conditions that every word of a text is a prefix of a search word; none if the text has no words, so that nothing can match. The longest word is
 * first, since it is likely to match the fewest rows, and some planners use the index for the first condition only.
 * @throws AppError invalid_request, naming the argument, for more than {@link MAX_SOUGHT} words, each of which is looked up
 */
export function searchConditions(text: string, argument: string): Record<string, unknown>[] {
  const words = searchWords([text]);
  if (words.length > MAX_SOUGHT) {
    const detail = `must have at most ${String(MAX_SOUGHT)} different words, and has ${String(words.length)}`;
    throw invalidRequest([{ parameter: argument, code: 'length', detail }]);
  }
  words.sort((left, right) => right.length - left.length);
  return words.map((word) => ({
    search: trusted({ $elemMatch: { $gte: word, $lt: word + LAST_CHARACTER } }),
  }));
}

/**
 * Conditions that one of the members equals an email address, ignoring case; none if the address has no words, so that nothing can match.
 * They use the index of search words, starting with the words of the local part, which few addresses share. So an address beyond {@link MAX_WORDS}
 * of its row is not found, which is accepted.
 */
export function emailConditions(address: string, members: readonly string[]): Record<string, unknown>[] {
  const [, local = '', domain = ''] = /^(.*?)(@[^@]*)?$/su.exec(address) ?? [];
  const words = searchWords([local, domain]);
  if (words.length === 0) return [];
  // lower case as the database makes it, which changes ASCII letters only
  const lowerCaseAddress = { $literal: address.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase()) };
  const isAddress = members.map((path) => {
    const [list = '', member] = path.split('.');
    if (member === undefined) return { $eq: [{ $toLower: `$${path}` }, lowerCaseAddress] };
    const each = { $map: { input: { $ifNull: [`$${list}`, []] }, in: { $toLower: `$$this.${member}` } } };
    return { $in: [lowerCaseAddress, each] };
  });
  return [...words.map((word) => ({ search: word })), { $expr: trusted({ $or: isAddress }) }];
}
