import type { ApolloServerOptions, BaseContext } from '@apollo/server';
import type { DocumentNode } from 'graphql';
import { LRUCache } from 'lru-cache';

type DocumentStore = NonNullable<ApolloServerOptions<BaseContext>['documentStore']>;

const MOST_DOCUMENTS = 1000;
/** Total for all texts; a parsed document with its tokens takes a few hundred bytes per character. */
const MOST_CHARACTERS = 128 * 1024;
/** Longer texts are not cached, because they would evict too many others. */
const LONGEST = 16 * 1024;

/**
 * An LRU cache of parsed and validated documents. Apollo's own store allows 30 MiB of JSON, which takes five times that in
 * memory: with a client that inlines values into its queries it grew by 5 KB per query.
 */
export function createDocumentStore(): DocumentStore {
  const documents = new LRUCache<string, DocumentNode>({
    max: MOST_DOCUMENTS,
    maxSize: MOST_CHARACTERS,
    maxEntrySize: LONGEST,
    sizeCalculation: ({ loc }) => loc?.source.body.length ?? 1,
  });
  return {
    get: (hash) => Promise.resolve(documents.get(hash)),
    set: (hash, document) => {
      documents.set(hash, document);
      return Promise.resolve();
    },
    delete: (hash) => Promise.resolve(documents.delete(hash)),
  };
}
