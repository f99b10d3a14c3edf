/** Edits that a word may be away, as a share of its length. */
const FARTHEST = 0.4;
const MOST = 3;

/** Shortest part of a word that stands for it. */
const PART = 3;

/** The words that a mistyped one could be, nearest first. */
export function nearest(text: string, words: readonly string[]): string[] {
  const given = text.toLowerCase();
  const isPart = (word: string): boolean => given.length >= PART && (word.includes(given) || given.includes(word));
  return words
    .map((word) => ({ word, edits: editsBetween(given, word) }))
    .filter(({ word, edits }) => edits <= FARTHEST * word.length || isPart(word))
    .sort((one, other) => one.edits - other.edits)
    .slice(0, MOST)
    .map(({ word }) => word);
}

/** Levenshtein distance. */
function editsBetween(one: string, other: string): number {
  let above = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let row = 0; row < one.length; row++) {
    const next = [row + 1];
    for (let at = 1; at <= other.length; at++) {
      const replaced = (above[at - 1] ?? 0) + (one[row] === other[at - 1] ? 0 : 1);
      next.push(Math.min(replaced, (above[at] ?? 0) + 1, (next[at - 1] ?? 0) + 1));
    }
    above = next;
  }
  return above[other.length] ?? 0;
}
