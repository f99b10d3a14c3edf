import { setImmediate, setTimeout } from 'node:timers/promises';
import { Lexer, Source, TokenKind } from 'graphql';
import { QUERY_LIMITS } from './queryLimits';

/* What a document costs that has to be parsed and validated: up to 30 ms, before anything else about it is known. */

/** Tokens per point, those after the first such number of them; in addition to what the operation costs. */
const TOKENS_A_POINT = 200;
/** No shorter text costs anything, since a token takes at least a character. */
export const SHORT = TOKENS_A_POINT;

/** Points of a document that is new, by its tokens as far as they can be read. */
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
