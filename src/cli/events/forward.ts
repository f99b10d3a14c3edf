import { signedHeaders } from '../../webhooks/signing';
import { retryAfterOf } from '../../units';
import { version } from '../../package';
import { type FeedEvent, reasonOf, textWithin } from './feedClient';

/** How long a receiver may take to answer, in milliseconds, as for webhooks that a gateway delivers. */
const ANSWERED_WITHIN = 15_000;
/** Bytes of an answer that are read. */
const MOST_KEPT = 1024;
/** Characters of it that are shown. */
const MOST_SHOWN = 200;

/** Nothing received it: there was no connection. */
const NO_CONNECTION: ReadonlySet<string> = new Set([
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'],
]);

export interface Attempt {
  /** Of the answer; undefined without one. */
  readonly status: number | undefined;
  /** How long it took, in milliseconds. */
  readonly ms: number;
  /** Why it failed; undefined if it did not. */
  readonly error: string | undefined;
  /** Whether nothing listens there. */
  readonly isDown: boolean;
  /** How long the receiver asks to wait, in milliseconds. */
  readonly retryAfter: number | undefined;
}

export interface Receiver {
  readonly url: string;
  readonly secret: Buffer;
  readonly signal: AbortSignal;
}

/** Posts an event once, signed as a webhook. @throws AbortError if it was interrupted */
export async function attempt(event: FeedEvent, { url, secret, signal }: Receiver): Promise<Attempt> {
  const body = JSON.stringify(event);
  const timestamp = Math.floor(Date.now() / 1000);
  const started = performance.now();
  const ended = (rest: Omit<Attempt, 'ms'>): Attempt => ({ ...rest, ms: Math.round(performance.now() - started) });
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': `Scopegate/${version}`,
        ...signedHeaders({ id: event.id, timestamp, body }, [secret]),
      },
      body,
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWERED_WITHIN)]),
    });
    const { status, headers, ok } = response;
    const text = (await textWithin(response, MOST_KEPT)).trim().slice(0, MOST_SHOWN);
    const retryAfter = retryAfterOf(headers.get('retry-after'));
    return ended({ status, error: ok ? undefined : text, isDown: false, retryAfter });
  } catch (error) {
    signal.throwIfAborted();
    const reason = reasonOf(error);
    return ended({ status: undefined, error: reason, isDown: NO_CONNECTION.has(reason), retryAfter: undefined });
  }
}
