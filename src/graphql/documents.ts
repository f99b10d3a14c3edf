import { hash } from 'node:crypto';
import { setImmediate, setTimeout } from 'node:timers/promises';
import type { ApolloServerOptions, BaseContext } from '@apollo/server';
import { type DocumentNode, Lexer, Source, TokenKind } from 'graphql';
import { LRUCache } from 'lru-cache';
import { QUERY_LIMITS } from './queryLimits';

/* A cache of documents, and the cost of parsing and validating a new one; which texts are cached, and what tokens cost, is in the contract, section 6. */

/** Cached documents: more short ones would not be worth their overhead. */
const MAX_DOCUMENTS = 1000;
/** Characters of all cached texts together; a parsed document with its tokens takes a few hundred bytes per character. */
const MAX_CHARACTERS = 128 * 1024;
/** Texts of more characters are not cached, because they would evict too many others. */
const LONGEST = 16 * 1024;
/** Length of a document's hash; in a key, Apollo puts a hash of the schema before it. */
const HASH = 64;

export interface Documents extends NonNullable<ApolloServerOptions<BaseContext>['documentStore']> {
  /** Whether a text was parsed and validated before. */
  knows(text: string): boolean;
}

/**
 * An LRU cache of the parsed and validated documents of one schema, so that its hash in Apollo's keys says nothing. Apollo's own store allows 30 MiB of JSON, which takes five times that in memory: it grew
 * by 5 KB per query with a client that inlines values into its queries.
 */
export function createDocumentStore(): Documents {
  const documents = new LRUCache<string, DocumentNode>({
    max: MAX_DOCUMENTS,
    maxSize: MAX_CHARACTERS,
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

/** Tokens per point, of which the first 200 are free; these points are in addition to the cost of the operation. */
const TOKENS_A_POINT = 200;
/** Texts up to this length cost nothing, since a token has at least one character. */
export const SHORT = TOKENS_A_POINT;

/**
 * Points of a new document by its tokens, up to the first that is invalid: parsing and validating it takes up to 30 ms, before anything else
 * about it is known.
 */
export function documentPoints(text: string): number {
  const lexer = new Lexer(new Source(text));
  let tokens = 0;
  try {
    // parsing stops at the same limit
    while (tokens < QUERY_LIMITS.tokens && lexer.advance().kind !== TokenKind.EOF) tokens += 1;
  } catch {
    // parsing fails at the same place, and says why
  }
  return Math.max(0, Math.ceil(tokens / TOKENS_A_POINT) - 1);
}

/** Resolves when the next new document may be parsed. */
let nextTurn: Promise<void> = Promise.resolve();

/** Waits until a new document may be parsed: other requests get the event loop for as long as the previous document held it. */
export function parseTurn(): Promise<void> {
  const turn = nextTurn;
  nextTurn = turn.then(async () => {
    const started = performance.now();
    // the caller's turn comes next, and parsing and validating never wait for anything
    await setImmediate();
    await setTimeout(performance.now() - started);
  });
  return turn;
}
