import { LRUCache } from 'lru-cache';
import { idText } from '../../units';

/* What is remembered of rows, so that most changes need no query. */

export const rowKey = (database: string, collection: string, id: unknown): string =>
  `${database} ${collection} ${idText(id)}`;

/** What is remembered of the rows of a batch of changes, by {@link rowKey}. */
export interface BatchMemory<V> {
  get(key: string): V | undefined;
  set(key: string, value: V): void;
  delete(key: string): void;
}

/** Remembers something of the `max` rows that were used last. */
export function createRowMemory<V extends object | string>(max: number) {
  const remembered = new LRUCache<string, V>({ max });
  return {
    clear(): void {
      remembered.clear();
    },
    /** Forgets the rows of a database. */
    forget(database: string): void {
      for (const key of [...remembered.keys()]) if (key.startsWith(`${database} `)) remembered.delete(key);
    },
    /** For one batch, which keeps what it got or set: its own rows and those of other organisations may push that out before it is done. */
    batch(): BatchMemory<V> {
      const kept = new Map<string, V>();
      return {
        get(key) {
          const value = kept.get(key) ?? remembered.get(key);
          if (value !== undefined) kept.set(key, value);
          return value;
        },
        set(key, value) {
          kept.set(key, value);
          remembered.set(key, value);
        },
        delete(key) {
          kept.delete(key);
          remembered.delete(key);
        },
      };
    },
  };
}
