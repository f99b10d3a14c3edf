import type { HTTPGraphQLResponse } from '@apollo/server';
import { LRUCache } from 'lru-cache';
import type { Exchange } from '../http/exchange';

/** Maximum number of cached answers, and maximum characters of all of them and of one, including their requests. */
const MOST_ANSWERS = 100;
const MOST_CHARACTERS = 4 * 1024 * 1024;
const LONGEST = 1024 * 1024;

/** Headers that affect Apollo's answer, in addition to the method, URL and body. */
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
 * An LRU cache of answers to callers without a key, who can only introspect. Their answers depend on nothing but the
 * request, so identical requests need not be parsed, validated or executed again.
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
