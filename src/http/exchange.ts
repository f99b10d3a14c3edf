import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import { plainAddress } from '../access/addresses';
import type { KeyPrincipal, Principal } from '../access/principal';
import { type RateState, secondsUntilReset, WINDOW_SECONDS } from '../access/rateLimit';
import type { IncomingRequest } from '../context';
import { redact } from '../log';
import type { BodyMemory } from './bodyMemory';
import type { Turns } from './turns';

/** One request and its answer, with what the log will say of it. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Path without the query, and the query with its `?`, as sent. */
  readonly path: string;
  readonly search: string;
  readonly requestId: string;
  /** Network address of the caller. */
  readonly address: string;
  readonly log: ExchangeLog;
  /** Where the memory of its body is counted. */
  readonly bodies: BodyMemory;
  /** Where it waits before it does something large. */
  readonly turns: Turns;
  /** Whether the caller's body is awaited: then nothing else is. */
  isReceiving: boolean;
  /** Whether it waits for its turn among large requests (turns.ts). */
  isWaiting: boolean;
  /** Lets a caller that asked first (`Expect: 100-continue`) send its body; what is refused by its head never gets here. */
  askForBody(): void;
}

interface ExchangeLog {
  /** Root fields that were asked for. */
  operation?: string;
  code?: string;
  principal?: Principal;
}

/** How long before its end a key is said to expire, in milliseconds. */
const EXPIRY_WARNING = 7 * 24 * 60 * 60 * 1000;

const AUTHORIZATION = 'authorization';

/** A caller's own request id is kept when it is short, plain, and no key. */
const SANE_ID = /^[\w.:=+/@-]{1,128}$/;

export function openExchange(
  request: IncomingMessage,
  response: ServerResponse,
  { trustedProxies, bodies, turns }: Pick<Exchange, 'bodies' | 'turns'> & { readonly trustedProxies: number },
): Exchange {
  const target = request.url ?? '/';
  const at = target.indexOf('?');
  const given = request.headers['x-request-id'];
  const requestId = typeof given === 'string' && SANE_ID.test(given) && redact(given) === given ? given : randomUUID();
  response.setHeader('X-Request-Id', requestId);
  const keepsAlive = response.shouldKeepAlive;
  const asksFirst = request.headers.expect !== undefined && request.httpVersion === '1.1';
  // refused, such a caller may send its body or not: no telling where its next request would begin
  if (asksFirst) response.shouldKeepAlive = false;
  return {
    request,
    response,
    path: at === -1 ? target : target.slice(0, at),
    search: at === -1 ? '' : target.slice(at),
    requestId,
    address: callerAddress(request, trustedProxies),
    log: {},
    bodies,
    turns,
    isReceiving: false,
    isWaiting: false,
    askForBody: () => {
      if (!asksFirst) return;
      response.writeContinue();
      response.shouldKeepAlive = keepsAlive;
    },
  };
}

/** What the context factory takes of an exchange. */
export function incomingRequest(exchange: Exchange): IncomingRequest {
  return {
    requestId: exchange.requestId,
    authorization: soleAuthorization(exchange.request),
    address: exchange.address,
    idempotencyKey: singleHeader(exchange.request, 'idempotency-key'),
    onReplay: () => {
      exchange.response.setHeader('Idempotent-Replayed', 'true');
    },
    onRate: (rate) => {
      setRateHeaders(exchange.response, rate);
    },
    onPrincipal: (principal) => {
      exchange.log.principal = principal;
      warnOfExpiry(exchange.response, principal);
    },
  };
}

/** The Authorization header; of several Node would show the first, and a proxy may have judged another. */
function soleAuthorization({ headers, rawHeaders }: IncomingMessage): string | undefined {
  let times = 0;
  // names and values in turn
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === AUTHORIZATION.length && name.toLowerCase() === AUTHORIZATION) times += 1;
  }
  return times > 1 ? undefined : headers.authorization;
}

/** A header's value; one that came several times is all of them, which no check lets pass. */
function singleHeader({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

/** The address of the caller, seen past as many proxies as are trusted. */
function callerAddress({ headers, socket }: IncomingMessage, trustedProxies: number): string {
  const direct = socket.remoteAddress ?? '';
  if (trustedProxies === 0) return plainAddress(direct);
  const forwarded = String(headers['x-forwarded-for'] ?? '').split(',');
  const claimed = forwarded.at(-trustedProxies)?.trim() ?? '';
  return plainAddress(isIP(claimed) === 0 ? direct : claimed);
}

/** A key that ends soon says so in time to rotate it. */
function warnOfExpiry(response: ServerResponse, { key: { expiresAt } }: KeyPrincipal): void {
  if (expiresAt === null || expiresAt.getTime() - Date.now() > EXPIRY_WARNING) return;
  response.setHeader('X-Api-Key-Expires-At', expiresAt.toISOString());
}

/** RateLimit headers (draft-ietf-httpapi-ratelimit-headers-10) and the older X- ones; reset is in Unix seconds there. */
function setRateHeaders(response: ServerResponse, state: RateState): void {
  const seconds = secondsUntilReset(state);
  response.setHeader('RateLimit-Policy', `"default";q=${String(state.limit)};w=${String(WINDOW_SECONDS)}`);
  response.setHeader('RateLimit', `"default";r=${String(state.remaining)};t=${String(seconds)}`);
  response.setHeader('X-RateLimit-Limit', state.limit);
  response.setHeader('X-RateLimit-Remaining', state.remaining);
  response.setHeader('X-RateLimit-Reset', Math.ceil(state.resetAt.getTime() / 1000));
}

/** Answers with a whole body; HEAD gets its headers alone. */
export function send(exchange: Exchange, status: number, contentType: string, body: string): void {
  const { request, response } = exchange;
  if (response.headersSent) return;
  const bytes = Buffer.from(body);
  response.statusCode = status;
  response.setHeader('Content-Type', contentType);
  response.setHeader('Content-Length', bytes.length);
  response.setHeader('X-Content-Type-Options', 'nosniff');
  if (!response.hasHeader('Cache-Control')) response.setHeader('Cache-Control', 'no-store');
  // Node reads off what is left of a body after the answer; one over the limit is not worth waiting for
  if (status === 413) response.setHeader('Connection', 'close');
  response.end(request.method === 'HEAD' ? undefined : bytes);
}
