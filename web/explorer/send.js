import { at } from '../base';
import { fillKey, knownKey, OF_PAGE, takeKey } from '../key.js';
import { forKeys } from './schema.js';

/* Sends GraphiQL's requests. Failures become GraphQL errors, since GraphiQL shows exceptions with their stack. */

const UNREACHABLE = 'The gateway cannot be reached. Check your connection, then run this again.';
const NO_KEY = 'Enter your API key above, or under Headers in place of svc_live_…';

/** The name of GraphiQL's own introspection query; one typed in the editor is answered unchanged. */
export const INTROSPECTION = 'ExplorerIntrospection';

/**
 * GraphiQL's fetcher. `introspection` says who may introspect; `onAnswer` gets the status and duration of each of the visitor's requests.
 * A key under Headers that the gateway accepts is used in the other tabs and the reference too.
 */
export function createFetcher({ introspection, onAnswer }) {
  return async (parameters, { headers: given } = {}) => {
    const isIntrospection = parameters.operationName === INTROSPECTION;
    const { scopes } = await knownKey();
    const { headers, isMissing, typed } = fillKey(given);
    if (isMissing && (!isIntrospection || introspection !== 'public')) {
      if (!isIntrospection) onAnswer({ isUnsent: true });
      return failure(NO_KEY);
    }
    if (!isIntrospection) onAnswer({ isRunning: true });
    const start = performance.now();
    const { status, answer, body } = await post(parameters, { ...(isIntrospection && OF_PAGE), ...headers });
    const told = { status, ms: performance.now() - start };
    if (!isIntrospection) onAnswer({ ...told, isListening: body !== undefined });
    if (answer?.errors) return answer;
    if (isIntrospection) return answer.data?.__schema ? { data: forKeys(answer.data, scopes) } : answer;
    if (typed !== undefined) void takeKey(typed);
    return body ? results(body, () => onAnswer(told)) : answer;
  };
}

async function post(parameters, given) {
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
    response = await fetch(at('/graphql'), { method: 'POST', credentials: 'omit', headers, body });
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

/**
 * The results of a subscription, from its Server-Sent Events; `onHeard` is called once there is one, or will be none. GraphiQL's stop ends
 * the iteration, and that the stream.
 */
function results(body, onHeard) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  const iterator = framesOf(reader);
  let isHeard = false;
  const heard = () => {
    if (!isHeard) onHeard();
    isHeard = true;
  };
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      const result = await iterator.next();
      heard();
      return result;
    },
    // a generator would wait for the next frame
    async return() {
      heard();
      await reader.cancel();
      return { done: true, value: undefined };
    },
  };
}

async function* framesOf(reader) {
  let text = '';
  for (;;) {
    let read;
    try {
      read = await reader.read();
    } catch {
      yield failure('The stream was interrupted. Run it again to go on.');
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
