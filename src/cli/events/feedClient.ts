import type { ReadableStream } from 'node:stream/web';
import { retryAfterOf } from '../../units';
import { CommandFailure, usageFailure } from '../ending';
import { jsonOf } from '../values';

/* The feed as any caller reads it, by REST (contract, section 12). */

/** An event, of which nothing but this is looked at: it is passed on as it came. */
export interface FeedEvent {
  readonly id: string;
  readonly type: string;
  readonly object: { readonly type: string; readonly id: string } | null;
}

export interface FeedPage {
  readonly data: readonly FeedEvent[];
  readonly has_more: boolean;
  readonly next_cursor: string;
}

export interface FeedClient {
  /** The gateway. */
  readonly url: string;
  readonly key: string;
  readonly types: readonly string[] | undefined;
  readonly signal: AbortSignal;
}

export interface FeedQuery {
  /** A cursor, or undefined for the oldest event on. */
  readonly after: string | undefined;
  /** Seconds to wait for an event. */
  readonly wait: number;
}

/** Why there is no page, and when to ask again. */
export class NotNow extends Error {
  override readonly name = 'NotNow';

  constructor(
    message: string,
    /** Whether a gateway answered. */
    readonly isAnswer: boolean,
    /** What the gateway asks for, in milliseconds. */
    readonly retryAfter: number | undefined,
  ) {
    super(message);
  }
}

/** Longer than a request may wait for an event, in milliseconds. */
const ANSWERED_WITHIN = 60_000;
/** The longest answer that is read, in bytes: 100 events have less than a tenth of it. */
const MOST_BYTES = 1024 * 1024;

/**
 * Asks for the events after a cursor; undefined means from the oldest on.
 * @throws NotNow if it is worth asking again; CommandFailure if it is not; AbortError
 */
export async function askFeed(
  { url, key, types = [], signal }: FeedClient,
  { after, wait }: FeedQuery,
): Promise<FeedPage> {
  const query = new URLSearchParams({ limit: '100', wait: String(wait) });
  if (after !== undefined) query.set('after', after);
  for (const type of types) query.append('types', type);
  const { status, headers, body } = await answerOf(`${url}/api/v1/events?${query.toString()}`, key, signal);
  if (status === 200 && isPage(body)) return body;
  const problem = isProblem(body) ? body : undefined;
  const said = problem ? `${problem.code}: ${problem.detail ?? problem.title}` : 'which is no answer of Scopegate';
  const message = `the gateway at ${url} answered ${String(status)}, ${said}`;
  if (status === 429 || status >= 500) throw new NotNow(message, true, retryAfterOf(headers.get('retry-after')));
  if (status === 400 && problem) throw usageFailure(message);
  throw new CommandFailure(`${message}${remedyOf(problem)}`);
}

async function answerOf(url: string, key: string, signal: AbortSignal) {
  try {
    const response = await fetch(url, {
      headers: { authorization: `Bearer ${key}`, accept: 'application/json' },
      // a key goes to no other address than the one that was given
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWERED_WITHIN)]),
    });
    const text = await textWithin(response, MOST_BYTES);
    return { status: response.status, headers: response.headers, body: jsonOf(text) };
  } catch (error) {
    signal.throwIfAborted();
    throw new NotNow(`cannot reach the gateway at ${new URL(url).origin}: ${reasonOf(error)}`, false, undefined);
  }
}

/** The beginning of an answer; what is beyond `most` bytes is not read. */
export async function textWithin(response: Response, most: number): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  const body = response.body as ReadableStream<Uint8Array> | null;
  if (!body) return '';
  for await (const piece of body) {
    pieces.push(piece);
    size += piece.length;
    // leaving the loop closes the connection
    if (size > most) break;
  }
  return Buffer.concat(pieces).subarray(0, most).toString();
}

function isPage(body: unknown): body is FeedPage {
  const { data, next_cursor: next } = (body ?? {}) as Partial<FeedPage>;
  return Array.isArray(data) && typeof next === 'string';
}

interface Problem {
  readonly code: string;
  readonly title: string;
  readonly detail?: string;
  readonly required_scope?: string;
}

function isProblem(body: unknown): body is Problem {
  return typeof (body as Partial<Problem> | null | undefined)?.code === 'string';
}

function remedyOf(problem: Problem | undefined): string {
  if (!problem) return '; is --url the address of a gateway?';
  if (problem.required_scope !== undefined) return ` Required scope: ${problem.required_scope}.`;
  return REMEDIES[problem.code] ?? '';
}

const REMEDIES: Readonly<Record<string, string>> = {
  unauthenticated: ' Check the key in SCOPEGATE_KEY or --key.',
  cursor_expired: ' Begin with --after beginning, or --after now.',
};

/** Why there was no answer: the cause that fetch hides. */
export function reasonOf(error: unknown): string {
  const { cause, message, name } = error as Error & { cause?: { code?: string; message?: string } };
  if (name === 'TimeoutError') return 'no answer in time';
  return cause?.code ?? (cause?.message === undefined || cause.message === '' ? message : cause.message);
}
