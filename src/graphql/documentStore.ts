import type { ApolloServerOptions, BaseContext } from '@apollo/server';
import type { DocumentNode } from 'graphql';
import { LRUCache } from 'lru-cache';

type DocumentStore = NonNullable<ApolloServerOptions<BaseContext>['documentStore']>;

const MOST_DOCUMENTS = 1000;
/** Of the texts together; a parsed document takes some hundred bytes for each, its tokens included. */
const MOST_CHARACTERS = 128 * 1024;
/** A longer text is parsed each time: it would push out too many others. */
const LONGEST = 16 * 1024;

/**
 * Parsed and validated documents, the least recently used forgotten. Apollo's own store holds 30 MiB of their JSON, which is
 * five times that in memory: a client that writes its values into its queries made it grow by 5 KB a query.
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
