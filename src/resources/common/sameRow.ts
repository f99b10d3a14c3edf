import { isDeepStrictEqual } from 'node:util';

/** Whether two rows are equal, ignoring the order of their search words. */
export function isSameRow(one: object, other: object): boolean {
  return isDeepStrictEqual(withSortedWords(one), withSortedWords(other));
}

function withSortedWords(row: object): object {
  return 'search' in row && Array.isArray(row.search) ? { ...row, search: row.search.toSorted() } : row;
}
