import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { IDLE_RECEIVERS } from '../limits';
import { HOUR, retryAfterOf } from '../units';
import { type AddressPolicy, dnsNames, checkedLookup, literalOf, RefusedAddress, type Resolve } from './addresses';
import { causeOf, failureText, type SystemError } from './failures';

/* A POST to an address chosen by somebody outside (docs/decisions/webhooks.md). */

/** As in schema/admin.graphql. */
export interface WebhookAttempt {
  readonly at: Date;
  readonly ok: boolean;
  /** Null if there was no answer. */
  readonly status: number | null;
  /** What went wrong; null if it was accepted. */
  readonly error: string | null;
  /** The beginning of the answer's body, as text; null if it had none. */
  readonly answer: string | null;
  readonly ms: number;
}

export function shownAttempt({ at, ok, status, error, answer, ms }: WebhookAttempt): WebhookAttempt {
  return { at, ok, status, error, answer, ms };
}

export interface Attempt extends WebhookAttempt {
  /** How long the receiver asks to wait, in milliseconds. */
  readonly retryAfter?: number;
  /** Whether no connection was made, so that nobody saw the event. */
  readonly isUnreached?: boolean;
}

type Outcome = Omit<Attempt, 'at' | 'ms'>;

/** What is posted. */
interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface PosterOptions {
  readonly policy: AddressPolicy;
  readonly resolve?: Resolve;
  /** In place of {@link ANSWER_WITHIN} and {@link BODY_WITHIN}, for tests. */
  readonly within?: number;
  readonly bodyWithin?: number;
}

/** Timeouts for the head of an answer, and then for its body, in milliseconds. */
const ANSWER_WITHIN = 15_000;
const BODY_WITHIN = 2000;
/** Maximum bytes of a body to send (contract, section 12), and of an answer to keep. */
const MAX_BODY = 20_000;
const MAX_ANSWER = 1024;
/** Of the head of an answer: Node's default, whatever the process was started with. */
const MAX_HEADER_BYTES = 16 * 1024;
/** Maximum number of 1xx answers: without a bound, reading them keeps a core busy for as long as an attempt lasts. */
const MAX_INTERIM = 10;
/** Idle connections to each host, and how long one is kept, in milliseconds. */
const MAX_FREE = 64;
const FREE_FOR = 5000;
/** Codes of errors when reading from or writing to a connection that the other side has closed. */
const CLOSED: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE']);
/** Error codes that mean that no connection was made. */
const UNREACHED = /^(ECONNREFUSED|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/;
const NO_ANSWER = 'the connection was closed without an answer';
/** Longest `Retry-After` that is honoured, in milliseconds. */
const MAX_RETRY_AFTER = HOUR;

export type Poster = ReturnType<typeof createPoster>;

export function createPoster({
  policy,
  resolve = dnsNames(),
  within = ANSWER_WITHIN,
  bodyWithin = BODY_WITHIN,
}: PosterOptions) {
  const agentOptions = { keepAlive: true, timeout: FREE_FOR, maxFreeSockets: MAX_FREE } as const;
  // its own agents, so that it uses no proxy from the environment, and no connection of other requests
  const agents = { 'http:': new http.Agent(agentOptions), 'https:': new https.Agent(agentOptions) };
  for (const agent of Object.values(agents)) boundIdle(agent);

  function request(url: URL, { headers, body }: Post, isAgain: boolean): ClientRequest {
    const protocol = url.protocol === 'https:' ? 'https:' : 'http:';
    const literal = literalOf(url);
    // no lookup happens for a literal address
    if (literal !== undefined) policy.require(literal, protocol);
    const outgoing = (protocol === 'https:' ? https : http).request(url, {
      method: 'POST',
      // not over a kept connection again: another may be dead too, and the receiver may have read the event on each before closing it
      agent: isAgain ? false : agents[protocol],
      lookup: checkedLookup(resolve, policy, protocol),
      maxHeaderSize: MAX_HEADER_BYTES,
      headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
    });
    outgoing.on('socket', (socket) => {
      if (socket.connecting) checkConnection(socket, protocol);
    });
    return outgoing.end(body);
  }

  /** Destroys a new connection to an address that is not allowed, before anything is sent: the last check, whatever the lookup said. */
  function checkConnection(socket: Socket, protocol: string): void {
    // runs before the listener that sends the request
    socket.prependOnceListener('connect', () => {
      try {
        policy.require(socket.remoteAddress ?? '', protocol);
      } catch {
        socket.destroy(new RefusedAddress('was connected to an address that is not public'));
      }
    });
  }

  /** Posts once. Resolves with `again` if the receiver had closed the kept connection that was used. @throws the error if there is no answer */
  async function postOnce(url: URL, post: Post, began: number, isAgain = false): Promise<Outcome | 'again'> {
    const outgoing = request(url, post, isAgain);
    let timer: NodeJS.Timeout | undefined;
    let interim = 0;
    try {
      const head = await new Promise<IncomingMessage>((answer, reject) => {
        const fail = (why: string): void => {
          reject(new Error(why));
          outgoing.destroy();
        };
        const timeLeft = Math.max(0, began + within - performance.now());
        timer = setTimeout(fail, timeLeft, `no answer within ${String(within / 1000)} s`);
        outgoing.on('information', () => {
          interim += 1;
          if (interim > MAX_INTERIM) fail('the answer is not HTTP: it only announces another');
        });
        outgoing.on('response', answer).on('error', reject);
        outgoing.on('close', fail.bind(undefined, NO_ANSWER));
      }).finally(() => {
        clearTimeout(timer);
      });
      return outcomeOf(head, await beginningOf(head, bodyWithin));
    } catch (error) {
      // the receiver had closed the idle connection
      if (outgoing.reusedSocket && CLOSED.has((error as SystemError).code)) return 'again';
      throw error;
    }
  }

  return {
    /** Posts once, or twice if the receiver had closed a kept connection. Never rejects: the outcome has the error. */
    async post(post: Post): Promise<Attempt> {
      const at = new Date();
      const began = performance.now();
      const done = (rest: Outcome): Attempt => ({ at, ...rest, ms: Math.round(performance.now() - began) });
      try {
        if (Buffer.byteLength(post.body) > MAX_BODY)
          throw new Error(`the event is larger than ${String(MAX_BODY)} bytes`);
        const url = new URL(post.url);
        const first = await postOnce(url, post, began);
        const outcome = first === 'again' ? await postOnce(url, post, began, true) : first;
        if (outcome === 'again') throw new Error(NO_ANSWER);
        return done(outcome);
      } catch (error) {
        const isUnreached = UNREACHED.test(causeOf(error).code ?? '');
        return done({ ok: false, status: null, error: failureText(error), answer: null, isUnreached });
      }
    },
    close(): void {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}

/** Closes connections instead of keeping more than IDLE_RECEIVERS. Those in use are bounded by POSTS: with `maxTotalSockets` idle ones would count, too, and posts wait until they close. */
function boundIdle(agent: http.Agent): void {
  const keep: (socket: Duplex) => unknown = agent.keepSocketAlive.bind(agent);
  agent.keepSocketAlive = (socket) => Object.values(agent.freeSockets).flat().length < IDLE_RECEIVERS && keep(socket);
}

/** The first bytes of an answer's body, as far as they arrive in time. */
async function beginningOf(head: IncomingMessage, within: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  const timer = setTimeout(() => head.destroy(), within);
  try {
    for await (const part of head as AsyncIterable<Buffer>) {
      parts.push(part);
      length += part.length;
      if (length >= MAX_ANSWER) break;
    }
  } catch {
    // an answer that is cut off counts by its status
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(parts).subarray(0, MAX_ANSWER);
}

function outcomeOf(head: IncomingMessage, bytes: Buffer): Outcome {
  const status = head.statusCode ?? 0;
  const ok = status >= 200 && status < 300;
  // PostgreSQL, where callers may keep it, takes no NUL in a text
  const answer = bytes.length === 0 ? null : bytes.toString('utf8').replaceAll('\0', '\uFFFD');
  const retryAfter = status === 429 || status === 503 ? retryAfterOf(head.headers['retry-after']) : undefined;
  const isRedirect = status >= 300 && status < 400;
  const advice = isRedirect ? ', a redirect, which is not followed; change the URL of the endpoint' : '';
  const error = ok ? null : `HTTP ${String(status)}${advice}`;
  return { ok, status, error, answer, ...(retryAfter && { retryAfter: Math.min(retryAfter, MAX_RETRY_AFTER) }) };
}
