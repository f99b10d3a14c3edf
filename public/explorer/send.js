import { forKeys } from './schema.js';

/* Sends what GraphiQL asks for. Whatever fails becomes an error of GraphQL, since GraphiQL shows exceptions with their stack. */

const UNREACHABLE = 'The gateway cannot be reached. Check your connection, then run this again.';
const NO_KEY = 'Enter your API key under Headers, below the query, in place of svc_live_…';

/** What GraphiQL calls its own introspection; one that is written in the editor is answered as it is. */
export const INTROSPECTION = 'ExplorerIntrospection';

/**
 * GraphiQL's fetcher. `introspection` is who may introspect; `onKey` is called when the gateway first accepts a key. That
 * key also serves tabs that still have the placeholder, until the page is left.
 */
export function createFetcher({ introspection, onKey }) {
  let accepted;
  return async (parameters, { headers: given = {} } = {}) => {
    const isIntrospection = parameters.operationName === INTROSPECTION;
    const [name, authorization] = Object.entries(given).find(([one]) => one.toLowerCase() === 'authorization') ?? [];
    const headers = { ...given };
    const isPlaceholder = authorization?.includes('…');
    if (isPlaceholder && accepted !== undefined) headers[name] = accepted;
    else if (isPlaceholder) {
      if (!isIntrospection || introspection !== 'public') return failure(NO_KEY);
      // the placeholder would be refused as a key
      delete headers[name];
    }
    const answer = await post(parameters, headers);
    if (answer.errors) return answer;
    if (isIntrospection) return answer.data?.__schema ? { data: forKeys(answer.data) } : answer;
    if (authorization !== undefined && !isPlaceholder) {
      const isFirst = accepted === undefined;
      accepted = authorization;
      if (isFirst) onKey();
    }
    return answer;
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
    return failure('The headers cannot be sent: names and values must be plain ASCII text.');
  }
  let answer;
  try {
    const body = JSON.stringify(withoutStaleName(parameters));
    answer = await fetch('/graphql', { method: 'POST', credentials: 'omit', headers, body });
    if (answer.headers.get('Content-Type')?.startsWith('text/event-stream')) return results(answer.body);
    return await answer.json();
  } catch (error) {
    // a proxy's page instead of an answer
    const isNotJson = answer !== undefined && error instanceof SyntaxError;
    return failure(isNotJson ? `The answer is not JSON: HTTP ${String(answer.status)}.` : UNREACHABLE);
  }
}

/** After a tab change GraphiQL may still send the previous tab's operation name, so it is only sent if it is needed. */
function withoutStaleName({ operationName, ...parameters }) {
  const named = parameters.query.match(/^\s*(query|mutation|subscription)\b/gm) ?? [];
  return named.length > 1 ? { operationName, ...parameters } : parameters;
}

/** The results of a subscription, from its Server-Sent Events. GraphiQL's stop ends the iteration, and that the stream. */
function results(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  const iterator = framesOf(reader);
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: () => iterator.next(),
    // a generator would wait for the next frame
    async return() {
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
