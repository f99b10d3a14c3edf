import { trusted } from 'mongoose';
import removeAccents from 'remove-accents';

/*
 * Word-prefix search through a multikey index over normalised words: text indexes are not on every MongoDB-compatible
 * server, and regular expressions are never used on client input.
 */

const LONGEST_WORD = 64;
const LAST_CHARACTER = '\u{10ffff}';

/** The distinct normalised words of some texts: capitals, no accents, split at anything that is no letter or digit. */
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
  // capitals, as some have several small forms (Σ: σ, ς) or a longer form (ß: SS); small first for ẞ, which has none
  return decomposed.toLowerCase().toUpperCase();
}

function truncate(word: string): string {
  return word.length <= LONGEST_WORD ? word : Array.from(word).slice(0, LONGEST_WORD).join('');
}

/**
 * Conditions that a row's `search` words meet every word of `q` as a prefix. None when `q` holds no word. The longest
 * comes first, as the fewest rows are likely to hold it: some planners run through the index by the first alone.
 */
export function searchConditions(q: string | null | undefined): Record<string, unknown>[] {
  const longestFirst = searchWords(q).sort((one, other) => other.length - one.length);
  return longestFirst.map((word) => ({
    search: trusted({ $elemMatch: { $gte: word, $lt: word + LAST_CHARACTER } }),
  }));
}
