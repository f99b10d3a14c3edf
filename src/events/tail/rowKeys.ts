import type { LRUCache } from 'lru-cache';
import { idText } from '../../units';

/* Keys of rows in what is remembered of them. */

export const rowKey = (database: string, collection: string, id: unknown): string =>
  `${database} ${collection} ${idText(id)}`;

/** Forgets the rows of a database. */
export function forgetRows(known: Pick<LRUCache<string, object | string>, 'keys' | 'delete'>, database: string): void {
  for (const key of [...known.keys()]) if (key.startsWith(`${database} `)) known.delete(key);
}
