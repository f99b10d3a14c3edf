import { contentOf, post, Problem, problemOf } from './gateway.js';
import { pause, waitAfter } from './patience.js';

const QUERY = 'subscription Follow($types: [String!]) { events(types: $types) { type object { type id } changes } }';

/** Seconds without a byte after which a connection counts as dead; the gateway sends a comment every 15 s. */
const SILENCE = 45;
/** Seconds after which a stream that ends is no failure of the one before: the waits begin anew. */
const STEADY = 30;

/**
 * Follows the events of an organisation by the GraphQL subscription over Server-Sent Events, until `signal` aborts. EventSource can send
 * neither a key nor a body, so this is fetch and a reader. After a cut it goes on with `Last-Event-ID`, after a wait that grows.
 * `cursor` is where to begin: without it nothing is known of what happened before the stream opened.
 */
export async function follow({ gateway, types, cursor, signal, onOpen, onEvent, onWait, onEnd }) {
  for (let failures = 0, last = cursor; !signal.aborted;) {
    const openedAt = performance.now();
    let problem = new Problem({ code: 'unavailable', message: 'The stream ended.' });
    try {
      for await (const { id, data } of open(gateway, types, last, signal, () => onOpen(last !== undefined))) {
        if (data) onEvent(eventOf(data));
        last = id ?? last;
      }
    } catch (error) {
      // whatever else breaks a stream, a broken connection first of all
      problem = error instanceof Problem ? error : new Problem({ code: 'unreachable', message: error.message });
    }
    if (signal.aborted) return;
    if (problem.code === 'cursor_expired') last = undefined;
    else if (!problem.isTemporary) return onEnd(problem);
    failures = performance.now() - openedAt > STEADY * 1000 ? 1 : failures + 1;
    const seconds = Math.max(problem.retryAfter, waitAfter(failures));
    onWait(problem, seconds);
    await pause(seconds, signal);
  }
}

/** The frames of one connection. @throws Problem if it is refused, and whatever breaks it */
async function* open(gateway, types, last, signal, onOpen) {
  const connection = new AbortController();
  const leave = () => connection.abort();
  let silence = setTimeout(leave, SILENCE * 1000);
  signal.addEventListener('abort', leave);
  try {
    const response = await post(
      gateway,
      { query: QUERY, variables: { types } },
      { signal: connection.signal, headers: { Accept: 'text/event-stream', ...(last && { 'Last-Event-ID': last }) } },
    );
    if (!response.headers.get('Content-Type')?.startsWith('text/event-stream')) {
      throw problemOf((await contentOf(response)).errors?.[0], response);
    }
    onOpen();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let rest = ''; ;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(silence);
      silence = setTimeout(leave, SILENCE * 1000);
      const frames = (rest + value).split('\n\n');
      rest = frames.pop();
      for (const frame of frames) yield fieldsOf(frame);
    }
  } finally {
    clearTimeout(silence);
    signal.removeEventListener('abort', leave);
    leave();
  }
}

/** The fields of a frame; comments have none. */
function fieldsOf(frame) {
  const lines = frame.split('\n').map((line) => /^(\w+): ?(.*)$/.exec(line));
  return Object.fromEntries(lines.filter(Boolean).map(([, name, value]) => [name, value]));
}

/** @throws Problem with which the gateway ends the stream */
function eventOf(data) {
  const { data: result, errors } = JSON.parse(data);
  if (errors) throw problemOf(errors[0]);
  return result.events;
}
