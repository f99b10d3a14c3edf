import { hash } from 'node:crypto';
import type { ApolloServerOptions, BaseContext } from '@apollo/server';
import { type DocumentNode, type GraphQLFormattedError, Kind } from 'graphql';
import { LRUCache } from 'lru-cache';

type DocumentStore = NonNullable<ApolloServerOptions<BaseContext>['documentStore']>;

const MOST_DOCUMENTS = 1000;
/** Total for all texts; a parsed document with its tokens takes a few hundred bytes per character. */
const MOST_CHARACTERS = 128 * 1024;
/** Longer texts are not cached, because they would evict too many others. */
const LONGEST = 16 * 1024;
/** Total for the errors of all rejected documents, and for those of one. */
const [MOST_OF_ERRORS, LONGEST_ERRORS] = [1024 * 1024, 64 * 1024];
/** Characters of a hash; Apollo puts one of the schema before it. */
const HASH = 64;

type Errors = readonly GraphQLFormattedError[];

export interface Documents extends DocumentStore {
  /** Whether a text was parsed and validated before. */
  knows(text: string): boolean;
  /** Keeps why a text was rejected; the store then has a document without definitions for it. */
  reject(hash: string, errors: Errors): void;
  /** Why a document of the store was rejected; undefined for others. */
  rejectionOf(document: DocumentNode): Errors | undefined;
}

/**
 * An LRU cache of parsed and validated documents, and of why others were rejected. Apollo's own store allows 30 MiB of JSON, which
 * takes five times that in memory: with a client that inlines values into its queries it grew by 5 KB per query.
 */
export function createDocumentStore(): Documents {
  const documents = new LRUCache<string, DocumentNode>({
    max: MOST_DOCUMENTS,
    maxSize: MOST_CHARACTERS,
    maxEntrySize: LONGEST,
    sizeCalculation: ({ loc }) => loc?.source.body.length ?? 1,
  });
  const rejections = new WeakMap<DocumentNode, Errors>();
  const rejected = new LRUCache<string, DocumentNode>({
    max: MOST_DOCUMENTS,
    maxSize: MOST_OF_ERRORS,
    maxEntrySize: LONGEST_ERRORS,
    sizeCalculation: (document) => JSON.stringify(rejections.get(document)).length,
  });
  return {
    get: (key) => Promise.resolve(documents.get(hashIn(key)) ?? rejected.get(hashIn(key))),
    set: (key, document) => {
      documents.set(hashIn(key), document);
      return Promise.resolve();
    },
    delete: (key) => Promise.resolve(documents.delete(hashIn(key))),
    knows(text) {
      const hashed = hash('sha256', text, 'hex');
      return documents.has(hashed) || rejected.has(hashed);
    },
    reject(hashed, errors) {
      const document: DocumentNode = { kind: Kind.DOCUMENT, definitions: [] };
      rejections.set(document, errors);
      rejected.set(hashed, document);
    },
    rejectionOf: (document) => rejections.get(document),
  };
}

function hashIn(key: string): string {
  return key.slice(-HASH);
}
