import type { HTTPGraphQLResponse } from '@apollo/server';
import { LRUCache } from 'lru-cache';
import type { Exchange } from '../http/exchange';

/** Answers that are kept, and the characters of all of them and of the longest, with what asked for them. */
const MOST_ANSWERS = 100;
const MOST_CHARACTERS = 4 * 1024 * 1024;
const LONGEST = 1024 * 1024;

/** What Apollo looks at besides the method, the address and the body. */
const HEADERS = ['accept', 'content-type', 'apollo-require-preflight', 'x-apollo-operation-name'] as const;

interface Kept {
  readonly answer: HTTPGraphQLResponse;
  readonly operation: string | undefined;
}

type IntrospectionAnswers = (
  exchange: Pick<Exchange, 'request' | 'search' | 'log'>,
  body: unknown,
  run: () => Promise<HTTPGraphQLResponse>,
) => Promise<HTTPGraphQLResponse>;

/**
 * Answers to those without a key, who may ask for the schema and nothing else: an answer depends on nothing but the request, so
 * one that was made is given to each who asks the same, without its being parsed, validated or run. The least recently
 * used is forgotten.
 */
export function createIntrospectionAnswers(): IntrospectionAnswers {
  const kept = new LRUCache<string, Kept>({
    max: MOST_ANSWERS,
    maxSize: MOST_CHARACTERS,
    maxEntrySize: LONGEST,
    sizeCalculation: ({ answer: { body } }, asked) =>
      asked.length + (body.kind === 'complete' ? body.string.length : LONGEST),
  });
  return async ({ request: { method, headers }, search, log }, body, run) => {
    const asked = JSON.stringify([method, search, HEADERS.map((name) => headers[name] ?? null), body]);
    const found = kept.get(asked);
    if (found) {
      if (found.operation !== undefined) log.operation = found.operation;
      return found.answer;
    }
    const answer = await run();
    const isData = answer.body.kind === 'complete' && answer.body.string.startsWith('{"data"');
    if (isData) kept.set(asked, { answer, operation: log.operation });
    return answer;
  };
}
