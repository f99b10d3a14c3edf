import { errorOf, errorOfGraphQL, type GraphQLError, noAnswer, ScopegateError, textOf } from './error.js';
import type { components } from './openapi.js';
import { type RetryOptions, waitAfter } from './retry.js';
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

type Connect = (body: string, signal: AbortSignal) => Promise<Response>;

/** Events as they happen, over as many connections as it takes. @throws ScopegateError that another connection would not solve */
export async function* follow(
  connect: Connect,
  { after: cursor, types, silence = 45, signal }: EventsOptions,
  options: RetryOptions,
): AsyncGenerator<StreamEvent, void> {
  let wasOpen = false;
  for (let failures = 1; ; failures += 1) {
    signal?.throwIfAborted();
    const connection = new AbortController();
    let error = new ScopegateError({ status: 0, code: 'no_answer', detail: 'The stream ended.' });
    try {
      const either = signal ? AbortSignal.any([signal, connection.signal]) : connection.signal;
      const body = JSON.stringify({ query: QUERY, variables: { after: cursor, types } });
      let frames = 0;
      for await (const { id, result } of framesOf(() => connect(body, either), silence, connection)) {
        cursor = id ?? cursor;
        if (result?.errors?.[0]) throw errorOfGraphQL(result.errors[0]);
        if (result?.data) yield result.data.events;
        wasOpen = true;
        // the first only opens the stream: one that ends after it may never get further
        if ((frames += 1) > 1) failures = 0;
      }
    } catch (thrown) {
      signal?.throwIfAborted();
      if (!(thrown instanceof ScopegateError)) throw thrown;
      error = thrown;
    } finally {
      connection.abort();
    }
    // an address that never worked may be wrong; one that worked will again
    if (!error.isRetryable || (!wasOpen && failures > options.retries)) throw error;
    await waitAfter(Math.max(failures, 1), error, options, signal);
  }
}

interface Frame {
  readonly id?: string;
  readonly result?: { readonly data?: { readonly events: StreamEvent }; readonly errors?: readonly GraphQLError[] };
}

/** The frames of one connection; a comment is an empty one. */
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
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = ''; ;) {
    const { done, value } = await unlessSilent(reader.read()).catch((error: unknown) => {
      throw noAnswer(response.url, error);
    });
    if (done) return;
    const blocks = (rest + value).split('\n\n');
    rest = blocks.pop() ?? '';
    yield* blocks.map(frameOf);
  }
}

function frameOf(block: string): Frame {
  const fields = [...block.matchAll(/^(\w+): ?(.*)$/gm)].map(([, name, value]) => [name, value] as const);
  const { id, data } = Object.fromEntries(fields) as Record<string, string | undefined>;
  return { ...(id && { id }), ...(data && { result: JSON.parse(data) as NonNullable<Frame['result']> }) };
}
