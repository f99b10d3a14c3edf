import { at } from '../base';
import { fillKey, knownKey, OF_PAGE, takeKey } from '../key.js';
import { forKeys } from './schema.js';

/* Sends GraphiQL's requests. Failures become GraphQL errors, since GraphiQL shows exceptions with their stack. */

const UNREACHABLE = 'The gateway cannot be reached. Check your connection, then run this again.';
const NO_KEY = 'Enter your API key above, or under Headers in place of the placeholder.';

/** The name of GraphiQL's own introspection query; one typed in the editor is answered unchanged. */
export const INTROSPECTION = 'ExplorerIntrospection';

/**
 * GraphiQL's fetcher. `introspection` says who may introspect; `onAnswer` gets the status and duration of each of the visitor's requests,
 * and as `request` the same object from its start to its end. A key under Headers that the gateway accepts is used in the other tabs and
 * the reference too.
 */
export function createFetcher({ introspection, onAnswer }) {
  return (parameters, { headers } = {}) => {
    if (parameters.operationName === INTROSPECTION) return introspect(parameters, headers, introspection === 'public');
    const tell = (detail) => onAnswer({ request: parameters, ...detail });
    return stoppable((signal) => run(parameters, headers, { tell, signal }));
  };
}

async function introspect(parameters, given, isPublic) {
  const { scopes } = await knownKey();
  const { headers, isMissing } = fillKey(given);
  if (isMissing && !isPublic) return failure(NO_KEY);
  const { answer } = await post(parameters, { ...OF_PAGE, ...headers });
  return answer.data?.__schema && !answer.errors ? { data: forKeys(answer.data, scopes) } : answer;
}

/** The results of the generator that `start` makes. GraphiQL's Stop calls `return`, which in a generator would wait for the next result. */
function stoppable(start) {
  const stopping = new AbortController();
  const results = start(stopping.signal);
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: () => results.next(),
    async return() {
      stopping.abort();
      return { done: true, value: undefined };
    },
  };
}

/** The answer of a query, or the results of a subscription as they come. */
async function* run(parameters, given, { tell, signal }) {
  tell({ isRunning: true });
  await knownKey();
  const { headers, isMissing, typed } = fillKey(given);
  if (isMissing) {
    tell({ isUnsent: true });
    yield failure(NO_KEY);
    return;
  }
  const start = performance.now();
  const { status, answer, body } = await post(parameters, headers, signal);
  if (signal.aborted) {
    tell({ isStopped: true });
    return;
  }
  const told = { status, ms: performance.now() - start };
  tell({ ...told, isListening: body !== undefined });
  if (typed !== undefined && !answer?.errors) void takeKey(typed);
  if (body === undefined) {
    yield answer;
    return;
  }
  let isHeard = false;
  for await (const result of framesOf(body, signal)) {
    if (!isHeard) tell(told);
    isHeard = true;
    yield result;
  }
  if (!isHeard) tell(told);
}

async function post(parameters, given, signal) {
  let headers;
  try {
    headers = new Headers({
      'Content-Type': 'application/json',
      Accept: 'application/graphql-response+json, application/json, text/event-stream',
      ...given,
    });
  } catch {
    return { answer: failure('The headers cannot be sent: names and values must be plain ASCII text.') };
  }
  let response;
  try {
    const body = JSON.stringify(withoutStaleName(parameters));
    response = await fetch(at('/graphql'), { method: 'POST', credentials: 'omit', headers, body, signal });
    const isStream = response.headers.get('Content-Type')?.startsWith('text/event-stream');
    const { status } = response;
    return isStream ? { status, body: response.body } : { status, answer: await response.json() };
  } catch (error) {
    // a proxy's page instead of an answer
    const isNotJson = response !== undefined && error instanceof SyntaxError;
    const words = isNotJson ? `The answer is not JSON: HTTP ${String(response.status)}.` : UNREACHABLE;
    return { status: response?.status, answer: failure(words) };
  }
}

/** After a tab change GraphiQL may still send the previous tab's operation name, so it is only sent if it is needed. */
export function withoutStaleName({ operationName, ...parameters }) {
  const named = parameters.query.match(/^\s*(query|mutation|subscription)\b/gm) ?? [];
  return named.length > 1 ? { operationName, ...parameters } : parameters;
}

/** The results of a subscription, from its Server-Sent Events. */
async function* framesOf(body, signal) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    let read;
    try {
      read = await reader.read();
    } catch {
      if (!signal.aborted) yield failure('The stream was interrupted. Run it again to go on.');
      return;
    }
    if (read.done) return;
    const frames = (text + read.value).split('\n\n');
    text = frames.pop();
    for (const frame of frames) {
      const data = /^data: (.+)$/m.exec(frame)?.[1];
      if (data) yield JSON.parse(data);
    }
  }
}

function failure(message) {
  return { errors: [{ message }] };
}
