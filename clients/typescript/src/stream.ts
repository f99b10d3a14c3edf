import { errorOf, errorOfGraphQL, type GraphQLError, parse, ScopegateError } from './error.js';
import type { components } from './openapi.js';
import type { CallOptions } from './routes.js';

/** An event, and the cursor to resume after it: store that once you have handled the event. */
export type StreamEvent = components['schemas']['Event'] & { readonly cursor: string };

export interface EventsOptions extends CallOptions {
  /** The cursor of the last event you handled. By default, events from now on. */
  readonly after?: string | undefined;
  /** Only events of these types, such as `order.created`. The key needs the read scope of each. */
  readonly types?: readonly string[] | undefined;
  /** Seconds without a byte after which the stream is reopened. The gateway sends a comment every 15. Default 45. */
  readonly silence?: number;
}

export const QUERY = `subscription ($after: String, $types: [String!]) {
  events(after: $after, types: $types) {
    id type occurred_at object { type id } changes status related { type id } gap { from to } origin { kind id name } cursor
  }
}`;

/** Maximum length of an event, in characters. */
const LONGEST_EVENT = 2 ** 20;
const MALFORMED = { status: 200, code: 'unexpected_response', detail: 'The stream has data that is not an event.' };

/** The fields of a frame; a comment has none. */
type Frame = Readonly<Record<string, string | undefined>>;

/** The frames of one connection. @throws ScopegateError if the answer is not a stream of frames; any other error if the connection is lost */
export async function* framesOf(
  connect: () => Promise<Response>,
  silence: number,
  connection: AbortController,
): AsyncGenerator<Frame> {
  /** Times only the waits for the gateway: the caller may take long over an event. */
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
    throw errorOf(response, await unlessSilent(response.text()));
  const reader = response.body.getReader();
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for (let [rest, last] = ['', '']; ;) {
    const { done, value } = await unlessSilent(reader.read());
    if (done) return;
    const piece = textOf(decoder, value);
    rest += piece;
    // a frame ends in the new piece, or across its start
    if ((last + piece).includes('\n\n')) {
      const blocks = rest.split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const fields = block.matchAll(/^(\w+): ?([^\n]*)/gm);
        yield Object.fromEntries(Array.from(fields, ([, name, text]) => [name, text]));
      }
    }
    if (rest.length > LONGEST_EVENT) throw new ScopegateError(MALFORMED);
    last = piece.slice(-1);
  }
}

function textOf(decoder: TextDecoder, bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes, { stream: true });
  } catch {
    throw new ScopegateError(MALFORMED);
  }
}

/** The event of a frame, or its error. @throws ScopegateError if it has neither */
export function eventIn(data: string): StreamEvent | ScopegateError {
  const result = (parse(data) ?? {}) as { data?: { events?: StreamEvent } | null; errors?: readonly GraphQLError[] };
  const [error] = Array.isArray(result.errors) ? (result.errors as readonly GraphQLError[]) : [];
  if (typeof error?.message === 'string') return errorOfGraphQL(error);
  if (!result.data?.events?.cursor) throw new ScopegateError(MALFORMED);
  return result.data.events;
}
