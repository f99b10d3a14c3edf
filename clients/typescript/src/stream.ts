import { errorOf, errorOfGraphQL, type GraphQLError, noAnswer, ScopegateError, textOf } from './error.js';
import type { components } from './openapi.js';
import { LONGEST, type RetryOptions, waitAfter } from './retry.js';
import type { CallOptions } from './routes.js';

/** An event, and the cursor with which to go on after it: store that when you have dealt with the event. */
export type StreamEvent = components['schemas']['Event'] & { readonly cursor: string };

export interface EventsOptions extends CallOptions {
  /** A cursor; by default, events from now on. */
  readonly after?: string | undefined;
  /** Only events of these types, such as `order.created`. The key needs the read scope of each. */
  readonly types?: readonly string[] | undefined;
  /** Seconds without a byte after which the stream is opened anew. The gateway sends a comment every 15. Default 45. */
  readonly silence?: number;
}

const QUERY = `subscription ($after: String, $types: [String!]) {
  events(after: $after, types: $types) {
    id type occurred_at object { type id } changes status related { type id } gap { from to } cursor
  }
}`;

/** In characters; more without an end is no event. */
const LONGEST_EVENT = 2 ** 20;
const MALFORMED = { status: 200, code: 'unexpected_response', detail: 'The stream has what is no event of Scopegate.' };

type Connect = (body: string, signal: AbortSignal) => Promise<Response>;

/** Events as they happen, over as many connections as it takes. @throws ScopegateError that another connection would not solve */
export async function* follow(
  connect: Connect,
  { after: cursor, types, silence = 45, signal }: EventsOptions,
  options: RetryOptions,
): AsyncGenerator<StreamEvent, void> {
  let [wasOpen, failures] = [false, 0];
  for (;;) {
    signal?.throwIfAborted();
    let opened = Infinity;
    const connection = new AbortController();
    let error = new ScopegateError({ status: 0, code: 'no_answer', detail: 'The stream ended.' });
    try {
      const either = signal ? AbortSignal.any([signal, connection.signal]) : connection.signal;
      const body = JSON.stringify({ query: QUERY, variables: { after: cursor, types } });
      for await (const { id, event, error: failure } of framesOf(() => connect(body, either), silence, connection)) {
        opened = Math.min(opened, performance.now());
        cursor = id ?? cursor;
        if (failure) throw failure;
        if (event) yield event;
        wasOpen = true;
      }
    } catch (thrown) {
      signal?.throwIfAborted();
      if (!(thrown instanceof ScopegateError)) throw thrown;
      error = thrown;
    } finally {
      connection.abort();
    }
    // pauses grow until one stays open, whatever it says
    failures = performance.now() - opened < LONGEST * 1000 ? failures + 1 : 1;
    // an address that never worked may be wrong; one that worked will again
    if (!error.isRetryable || (!wasOpen && failures > options.retries)) throw error;
    await waitAfter(failures, error, options, signal);
  }
}

/** Of a stream; a comment is an empty one. */
interface Frame {
  readonly id?: string | undefined;
  readonly event?: StreamEvent;
  readonly error?: ScopegateError;
}

/** The frames of one connection. */
async function* framesOf(
  connect: () => Promise<Response>,
  silence: number,
  connection: AbortController,
): AsyncGenerator<Frame> {
  /** Counts only while it waits for the gateway: the caller may take long over an event. */
  async function unlessSilent<T>(work: Promise<T>): Promise<T> {
    const reason = new Error(`nothing for ${String(silence)} s`);
    const timer = setTimeout(() => {
      connection.abort(reason);
    }, silence * 1000);
    return work.finally(() => {
      clearTimeout(timer);
    });
  }
  const response = await unlessSilent(connect());
  if (!response.headers.get('Content-Type')?.startsWith('text/event-stream') || !response.body)
    throw errorOf(response, await unlessSilent(textOf(response)));
  const reader = response.body.getReader();
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for (let [rest, last] = ['', '']; ;) {
    const { done, value } = await unlessSilent(reader.read()).catch((error: unknown) => {
      throw noAnswer(response.url, error);
    });
    if (done) return;
    const piece = wellFormed(() => decoder.decode(value, { stream: true }));
    rest += piece;
    // a frame ends in what is new, or between the two
    if ((last + piece).includes('\n\n')) {
      const blocks = rest.split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) yield wellFormed(() => frameOf(block));
    }
    if (rest.length > LONGEST_EVENT) throw new ScopegateError(MALFORMED);
    last = piece.slice(-1);
  }
}

function frameOf(block: string): Frame {
  const fields = [...block.matchAll(/^(\w+): ?([^\n]*)/gm)].map(([, name, value]) => [name, value] as const);
  const { id, data } = Object.fromEntries(fields) as Record<string, string | undefined>;
  if (!data) return { id };
  const result = JSON.parse(data) as { data?: { events: StreamEvent }; errors?: readonly GraphQLError[] };
  if (typeof result.errors?.[0]?.message === 'string') return { id, error: errorOfGraphQL(result.errors[0]) };
  if (!result.data?.events.cursor) throw new ScopegateError(MALFORMED);
  return { id, event: result.data.events };
}

/** @throws ScopegateError if `read` cannot */
function wellFormed<T>(read: () => T): T {
  try {
    return read();
  } catch {
    throw new ScopegateError(MALFORMED);
  }
}
