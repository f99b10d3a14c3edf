import { trusted } from 'mongoose';
import removeAccents from 'remove-accents';

/*
 * Prefix search on normalised words, with a multikey index, because not all MongoDB-compatible servers have text indexes,
 * and regular expressions must not be built from client input.
 */

const LONGEST_WORD = 64;
const LAST_CHARACTER = '\u{10ffff}';

/** The distinct normalised words of strings: upper case, without accents, split at everything except letters and digits. */
export function searchWords(...texts: readonly (string | null | undefined)[]): string[] {
  const words = new Set<string>();
  for (const text of texts) {
    if (!text) continue;
    for (const word of normalise(text).split(/[^\p{L}\p{N}]+/u)) {
      if (word !== '') words.add(truncate(word));
    }
  }
  return [...words];
}

function normalise(text: string): string {
  const decomposed = removeAccents(text.normalize('NFKC'))
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, '');
  // upper case, since some letters have several lower-case forms (Σ: σ, ς) or expand (ß: SS); lower case first for ẞ
  return decomposed.toLowerCase().toUpperCase();
}

function truncate(word: string): string {
  return word.length <= LONGEST_WORD ? word : Array.from(word).slice(0, LONGEST_WORD).join('');
}

/**
 * Conditions that every word of `q` is a prefix of a search word; empty if `q` has no words. The longest word is first,
 * since it is likely to match the fewest rows, and some planners use the index for the first condition only.
 */
export function searchConditions(q: string | null | undefined): Record<string, unknown>[] {
  const longestFirst = searchWords(q).sort((one, other) => other.length - one.length);
  return longestFirst.map((word) => ({
    search: trusted({ $elemMatch: { $gte: word, $lt: word + LAST_CHARACTER } }),
  }));
}
