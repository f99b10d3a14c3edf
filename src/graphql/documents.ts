import { hash } from 'node:crypto';
import { setImmediate, setTimeout } from 'node:timers/promises';
import type { ApolloServerOptions, BaseContext } from '@apollo/server';
import { type DocumentNode, Lexer, Source, TokenKind } from 'graphql';
import { LRUCache } from 'lru-cache';
import { QUERY_LIMITS } from './queryLimits';

/* Documents: those that are kept, and what one costs that has to be parsed and validated. */

const MOST_DOCUMENTS = 1000;
/** Total for all texts; a parsed document with its tokens takes a few hundred bytes per character. */
const MOST_CHARACTERS = 128 * 1024;
/** Longer texts are not cached, because they would evict too many others. */
const LONGEST = 16 * 1024;
/** Characters of a hash; Apollo puts one of the schema before it. */
const HASH = 64;

export interface Documents extends NonNullable<ApolloServerOptions<BaseContext>['documentStore']> {
  /** Whether a text was parsed and validated before. */
  knows(text: string): boolean;
}

/**
 * An LRU cache of parsed and validated documents. Apollo's own store allows 30 MiB of JSON, which takes five times that in memory: with a
 * client that inlines values into its queries it grew by 5 KB per query.
 */
export function createDocumentStore(): Documents {
  const documents = new LRUCache<string, DocumentNode>({
    max: MOST_DOCUMENTS,
    maxSize: MOST_CHARACTERS,
    maxEntrySize: LONGEST,
    sizeCalculation: ({ loc }) => loc?.source.body.length ?? 1,
  });
  return {
    get: (key) => Promise.resolve(documents.get(hashIn(key))),
    set: (key, document) => {
      documents.set(hashIn(key), document);
      return Promise.resolve();
    },
    delete: (key) => Promise.resolve(documents.delete(hashIn(key))),
    knows: (text) => documents.has(hash('sha256', text, 'hex')),
  };
}

function hashIn(key: string): string {
  return key.slice(-HASH);
}

/** Tokens per point, those after the first such number of them; in addition to what the operation costs. */
const TOKENS_A_POINT = 200;
/** No shorter text costs anything, since a token takes at least a character. */
export const SHORT = TOKENS_A_POINT;

/**
 * Points of a document that is new, by its tokens as far as they can be read: parsing and validating it takes up to 30 ms, before anything
 * else about it is known.
 */
export function pointsOfNew(text: string): number {
  const lexer = new Lexer(new Source(text));
  let tokens = 0;
  try {
    // parsing stops at the limit too
    while (tokens < QUERY_LIMITS.tokens && lexer.advance().kind !== TokenKind.EOF) tokens += 1;
  } catch {
    // parsing fails there too, and says why
  }
  return Math.max(0, Math.ceil(tokens / TOKENS_A_POINT) - 1);
}

let rested: Promise<void> = Promise.resolve();

/** Waits until a new document may be parsed: after the one before it, others have the event loop for as long as that one held it. */
export function turnOfLoop(): Promise<void> {
  const turn = rested;
  rested = turn.then(async () => {
    const started = performance.now();
    // the caller's turn is resolved next, and no part of parsing and validating waits for anything outside
    await setImmediate();
    await setTimeout(performance.now() - started);
  });
  return turn;
}
