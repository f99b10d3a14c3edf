import { isDeepStrictEqual } from 'node:util';

/** Whether two rows say the same; the order of the words they are found by says nothing. */
export function isSameRow(one: object, other: object): boolean {
  return isDeepStrictEqual(withSortedWords(one), withSortedWords(other));
}

function withSortedWords(row: object): object {
  return 'search' in row && Array.isArray(row.search) ? { ...row, search: row.search.toSorted() } : row;
}
