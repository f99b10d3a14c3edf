import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { shorten } from '../errors';
import { HOUR, retryAfterOf } from '../units';
import { type AddressPolicy, dnsNames, checkedLookup, literalOf, RefusedAddress, type Resolve } from './addresses';

/* One POST to an address that somebody else chose (docs/decisions/webhooks.md). */

/** As in schema/webhooks.graphql. */
export interface WebhookAttempt {
  readonly at: Date;
  readonly ok: boolean;
  readonly status: number | null;
  /** What went wrong; null if it was accepted. */
  readonly error: string | null;
  /** The beginning of the answer's body, as text; null if it had none. */
  readonly answer: string | null;
  readonly ms: number;
}

export interface Attempt extends WebhookAttempt {
  /** For how long the receiver asks to be left alone, in milliseconds. */
  readonly retryAfter?: number;
  /** Whether no connection was made, so that nobody has seen the event. */
  readonly isUnreached?: boolean;
}

type Outcome = Omit<Attempt, 'at' | 'ms'>;

export interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface PosterOptions {
  readonly policy: AddressPolicy;
  readonly resolve?: Resolve;
  /** How long an attempt may take to its answer's head, and then to the end of its body, in milliseconds; for tests. */
  readonly within?: number;
  readonly bodyWithin?: number;
}

const WITHIN = 15_000;
const BODY_WITHIN = 2000;
/** Bytes of a body that is sent, and of an answer that is kept. */
const MOST_BODY = 20_000;
const MOST_ANSWER = 1024;
const MOST_HEADER_BYTES = 16 * 1024;
/** Most 1xx answers before the answer: without a bound, reading them takes a core for as long as an attempt lasts. */
const MOST_INFORMED = 10;
/** Connections in all, and those that are kept for the next event, for a few seconds. */
const MOST_SOCKETS = 128;
const MOST_FREE = 64;
const FREE_FOR = 5000;
/** Errors of a connection that the other side has closed: of reading, and of writing. */
const CLOSED: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE']);
/** What says that there is no connection. */
const UNREACHED = /^(ECONNREFUSED|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/;
const NO_ANSWER = 'the connection was closed without an answer';
/** Most that a `Retry-After` can ask for, in milliseconds. */
const MOST_RETRY_AFTER = HOUR;

export type Poster = ReturnType<typeof createPoster>;

export function createPoster({
  policy,
  resolve = dnsNames(),
  within = WITHIN,
  bodyWithin = BODY_WITHIN,
}: PosterOptions) {
  const most = { maxTotalSockets: MOST_SOCKETS, maxFreeSockets: MOST_FREE } as const;
  const kept = { keepAlive: true, timeout: FREE_FOR, ...most } as const;
  // their own, so that no proxy of the environment and no connection of other requests is used
  const agents = { 'http:': new http.Agent(kept), 'https:': new https.Agent(kept) };

  function request(url: URL, { headers, body }: Post, isAgain: boolean): ClientRequest {
    const protocol = url.protocol === 'https:' ? 'https:' : 'http:';
    const literal = literalOf(url);
    // a lookup is not called for it
    if (literal !== undefined) policy.require(literal, protocol);
    const sent = (protocol === 'https:' ? https : http).request(url, {
      method: 'POST',
      // another kept connection may be as dead, and each could have been read before it was closed
      agent: isAgain ? false : agents[protocol],
      lookup: checkedLookup(resolve, policy, protocol),
      maxHeaderSize: MOST_HEADER_BYTES,
      headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
    });
    sent.on('socket', (socket) => {
      if (socket.connecting) checkConnection(socket, protocol);
    });
    return sent.end(body);
  }

  function checkConnection(socket: Socket, protocol: string): void {
    // before the listener that sends what waits for the connection
    socket.prependOnceListener('connect', () => {
      try {
        policy.require(socket.remoteAddress ?? '', protocol);
      } catch {
        socket.destroy(new RefusedAddress('was connected to an address that is not public'));
      }
    });
  }

  async function once(url: URL, post: Post, began: number, isAgain = false): Promise<Outcome | 'again'> {
    const sent = request(url, post, isAgain);
    let [timer, informed]: [NodeJS.Timeout | undefined, number] = [undefined, 0];
    try {
      const head = await new Promise<IncomingMessage>((resolve, reject) => {
        const fail = (why: string): void => {
          reject(new Error(why));
          sent.destroy();
        };
        const left = Math.max(0, began + within - performance.now());
        timer = setTimeout(fail, left, `no answer within ${String(within / 1000)} s`);
        sent.on('information', () => {
          informed += 1;
          if (informed > MOST_INFORMED) fail('the answer is not HTTP: it only announces another');
        });
        sent.on('response', resolve).on('error', reject);
        sent.on('close', fail.bind(undefined, NO_ANSWER));
      }).finally(() => {
        clearTimeout(timer);
      });
      return outcomeOf(head, await beginningOf(head, bodyWithin));
    } catch (error) {
      // the receiver closed it while it was idle
      if (sent.reusedSocket && CLOSED.has((error as SystemError).code)) return 'again';
      throw error;
    }
  }

  return {
    /** Posts once, or twice if a connection was kept too long. Never fails: what went wrong is in the outcome. */
    async post(post: Post): Promise<Attempt> {
      const at = new Date();
      const began = performance.now();
      const done = (rest: Outcome): Attempt => ({ ...{ at, ...rest }, ms: Math.round(performance.now() - began) });
      try {
        if (Buffer.byteLength(post.body) > MOST_BODY)
          throw new Error(`the event is larger than ${String(MOST_BODY)} bytes`);
        const url = new URL(post.url);
        const first = await once(url, post, began);
        const outcome = first === 'again' ? await once(url, post, began, true) : first;
        if (outcome === 'again') throw new Error(NO_ANSWER);
        return done(outcome);
      } catch (error) {
        const isUnreached = UNREACHED.test(causeOf(error).code ?? '');
        return done({ ok: false, status: null, error: explain(error), answer: null, isUnreached });
      }
    },
    close(): void {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}

/** The first bytes of an answer's body, as far as they come in time. */
async function beginningOf(head: IncomingMessage, within: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  const timer = setTimeout(() => head.destroy(), within);
  try {
    for await (const part of head as AsyncIterable<Buffer>) {
      parts.push(part);
      length += part.length;
      if (length >= MOST_ANSWER) break;
    }
  } catch {
    // cut off, it counts by its status
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(parts).subarray(0, MOST_ANSWER);
}

function outcomeOf(head: IncomingMessage, bytes: Buffer): Outcome {
  const status = head.statusCode ?? 0;
  const ok = status >= 200 && status < 300;
  const answer = bytes.length === 0 ? null : bytes.toString('utf8').replaceAll('\0', '\uFFFD');
  const retryAfter = status === 429 || status === 503 ? retryAfterOf(head.headers['retry-after']) : undefined;
  const isRedirect = status >= 300 && status < 400;
  const advice = isRedirect ? ', a redirect, which is not followed; change the URL of the endpoint' : '';
  const error = ok ? null : `the answer was ${String(status)}${advice}`;
  return { ok, status, error, answer, ...(retryAfter && { retryAfter: Math.min(retryAfter, MOST_RETRY_AFTER) }) };
}

/** System errors in words, by code. */
const EXPLAINED: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the host cannot be reached',
  ETIMEDOUT: 'the connection was not made in time',
  HPE_HEADER_OVERFLOW: 'the head of the answer is too large',
};

/** An error of the system, or of several addresses that were tried. */
interface SystemError {
  readonly code?: string;
  readonly message?: string;
  readonly errors?: readonly unknown[];
}

/** The error itself, or of several addresses the first one's. */
function causeOf(error: unknown): SystemError {
  const { errors: [first] = [] } = error as SystemError;
  return first === undefined ? (error as SystemError) : causeOf(first);
}

function explain(error: unknown): string {
  const cause = causeOf(error);
  if (cause instanceof RefusedAddress) return `the URL ${cause.message}`;
  const { code = '', message = '' } = cause;
  if (/CERT|SELF_SIGNED|TLS|SSL|EPROTO/.test(code)) return `TLS failed: ${shorten(message, 200)}`;
  return EXPLAINED[code] ?? (code.startsWith('HPE_') ? 'the answer is not HTTP' : shorten(message, 200));
}
