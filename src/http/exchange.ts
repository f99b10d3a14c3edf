import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Refusal } from '../auth/authenticate';
import { type Caller, modeOf } from '../auth/principal';
import type { IncomingRequest, InvalidRow } from '../operations/context';
import { type AppError, findAppError, type UnavailableReason } from '../errors';
import { describeError, redact, redactPath } from '../log';
import type { Trace } from '../tracing';
import type { BodyMemory } from '../admission/bodyMemory';
import { OMITTED, setRateHeaders, warnOfExpiry } from './answer';
import { callerAddress, dropLongLists, headerOf, readTarget, soleAuthorization } from './requestHead';
import type { RequestQueue } from '../admission/requestQueue';

/** A request and its response, with the fields for its log line. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The path, and the query with its `?`, as sent. */
  readonly path: string;
  readonly search: string;
  /** The path for logs and traces, without keys and external_refs; redacted once. */
  shownPath(): string;
  readonly requestId: string;
  /** Network address of the caller. */
  readonly address: string;
  readonly log: ExchangeLog;
  /** Counts the memory of its body and answer. */
  readonly bodies: BodyMemory;
  /** Makes it wait before large work. */
  readonly queue: RequestQueue;
  /** Whether it is waiting for the caller's body. */
  isReceiving: boolean;
  /** How many of its current waits need no database, such as waits for events. */
  idleWaits: number;
  /** Aborts when the caller disconnects; undefined until the first wait that needs no database. */
  gone: AbortSignal | undefined;
  /** Whether it is waiting for its turn among large requests (requestQueue.ts). */
  isWaiting: boolean;
  /** Runs an operation in its own span; undefined if the request is not traced. */
  trace: Trace | undefined;
  /** Sends `100 Continue` if the caller expects it; not called if the request is rejected by its headers. */
  askForBody(): void;
}

interface ExchangeLog {
  /** The requested root fields. */
  operation?: string;
  /** Of GraphQL: the type of the operation, and the name that its caller gave it. */
  operationType?: string;
  operationName?: string | undefined;
  code?: string;
  principal?: Caller;
  /** The scope that its key lacks, or the alternatives joined by `or`. */
  missingScope?: string;
  /** Why the request is not authenticated. */
  refusal?: Refusal;
  /** Why the request, or one of its fields, is unavailable. */
  unavailable?: Unavailable;
  /** Stored rows that cannot be served, by collection and id; at most {@link MAX_INVALID}. */
  invalid?: Map<string, InvalidRow>;
  /** How many rows were left out of the answer, and the names of those that were read: as many as a request keeps rows, at most. */
  omitted?: number;
  omittedRows?: Set<string>;
  /** Of bulk calls and writes: how many elements they had, and how many of these failed. */
  elements?: number;
  elementsFailed?: number;
  traceId?: string;
  /** The longest of its waits that need no database, in milliseconds. */
  waited?: number;
  /** When its stream opened, by performance.now(). */
  streaming?: number;
}

/** Why a request is unavailable, for its log line. */
export interface Unavailable {
  readonly reason: UnavailableReason;
  readonly shard?: string | undefined;
  /** What its caller was told. */
  readonly detail: string;
  /** The database's error, without a stack, since there may be thousands a second. */
  readonly error?: Omit<ReturnType<typeof describeError>, 'stack'>;
}

/** Records why a request, or one of its fields, is unavailable; the first reason stays. `error` is what was thrown. */
export function noteUnavailable({ log }: Pick<Exchange, 'log'>, appError: AppError, error: unknown): void {
  const { reason = 'away', shard } = appError.extras;
  const { stack: _, ...failure } = describeError(error);
  // an AppError was thrown on purpose, so there is no failure behind it to log
  const isAppError = findAppError(error) !== undefined;
  log.unavailable ??= { reason, shard, detail: appError.detail, ...(!isAppError && { error: failure }) };
}

/** Rows of a request that are noted for the log. */
const MAX_INVALID = 100;

/**
 * Notes a row that cannot be served, which counts once however often it is met. `others` are rows that totals counted in the database beside it:
 * nothing names them, so they count each time.
 */
function noteInvalid({ log, response }: Exchange, row: InvalidRow, what: 'omitted' | 'refused', others = 0): void {
  const invalid = (log.invalid ??= new Map<string, InvalidRow>());
  const name = `${row.collection} ${row.id}`;
  if (invalid.size < MAX_INVALID && !invalid.has(name)) invalid.set(name, row);
  if (what === 'refused') return;
  const omittedRows = (log.omittedRows ??= new Set());
  const omitted = (omittedRows.has(name) ? 0 : 1) + others;
  if (omitted === 0) return;
  omittedRows.add(name);
  log.omitted = (log.omitted ?? 0) + omitted;
  if (!response.headersSent) response.setHeader(OMITTED, log.omitted);
}

/** Begins to count anew, before rows are read again for an answer in place of the one that was read. */
export function forgetOmitted({ log, response }: Exchange): void {
  delete log.omitted;
  delete log.omittedRows;
  response.removeHeader(OMITTED);
}

/** Notes the outcome of a bulk call or a write: `failed` of `of` elements. A GraphQL request may have several. */
export function noteElements({ log }: Pick<Exchange, 'log'>, failed: number, of: number): void {
  log.elements = (log.elements ?? 0) + of;
  log.elementsFailed = (log.elementsFailed ?? 0) + failed;
}

/** A caller's own request id is kept if it is short, plain and not an API key. */
const SANE_ID = /^[\w.:=+/@-]{1,128}$/;

interface ExchangeOptions extends Pick<Exchange, 'bodies' | 'queue'> {
  readonly trustedProxies: number;
  /** Called with an address in X-Forwarded-For that cannot be read. */
  readonly onUnreadable?: (written: string) => void;
}

export function openExchange(
  request: IncomingMessage,
  response: ServerResponse,
  { trustedProxies, onUnreadable, bodies, queue }: ExchangeOptions,
): Exchange {
  readTarget(request);
  dropLongLists(request);
  const target = request.url ?? '/';
  const at = target.indexOf('?');
  const path = at === -1 ? target : target.slice(0, at);
  let shownPath: string | undefined;
  const sentId = request.headers['x-request-id'];
  const requestId =
    typeof sentId === 'string' && SANE_ID.test(sentId) && redact(sentId) === sentId ? sentId : randomUUID();
  response.setHeader('X-Request-Id', requestId);
  const keepsAlive = response.shouldKeepAlive;
  const asksFirst = request.headers.expect !== undefined && request.httpVersion === '1.1';
  // if rejected, such a caller may or may not send its body, so the start of its next request is unknown
  if (asksFirst) response.shouldKeepAlive = false;
  return {
    request,
    response,
    path,
    search: at === -1 ? '' : target.slice(at),
    shownPath: () => (shownPath ??= redactPath(path)),
    requestId,
    address: callerAddress(request, trustedProxies, onUnreadable),
    log: {},
    bodies,
    queue,
    isReceiving: false,
    idleWaits: 0,
    gone: undefined,
    isWaiting: false,
    trace: undefined,
    askForBody: () => {
      if (!asksFirst) return;
      response.writeContinue();
      response.shouldKeepAlive = keepsAlive;
    },
  };
}

export function createIncomingRequest(exchange: Exchange): IncomingRequest {
  return {
    requestId: exchange.requestId,
    authorization: soleAuthorization(exchange.request),
    address: exchange.address,
    idempotencyKey: headerOf(exchange.request.headers, 'idempotency-key'),
    trace: exchange.trace,
    waitIdle: (wait) => waitIdle(exchange, wait),
    countAnswer: (bytes) => {
      exchange.bodies.holdAnswer(exchange, bytes);
    },
    holdRows: (bytes) => {
      exchange.bodies.holdRows(exchange, bytes);
    },
    isGone: () => isGone(exchange.response),
    noteInvalid: (row, what, others) => {
      noteInvalid(exchange, row, what, others);
    },
    noteElements: (failed, of) => {
      noteElements(exchange, failed, of);
    },
    omitted: () => exchange.log.omitted ?? 0,
    takeTurn: () => exchange.queue.take(exchange, 'body'),
    onReplay: () => {
      exchange.response.setHeader('Idempotent-Replayed', 'true');
    },
    onRate: (rate) => {
      setRateHeaders(exchange.response, rate);
    },
    onPrincipal: (principal) => {
      exchange.log.principal = principal;
      if (principal.kind !== 'key') return;
      if (modeOf(principal.organisation) === 'test') exchange.response.setHeader('Scopegate-Mode', 'test');
      warnOfExpiry(exchange.response, principal);
    },
    onRefused: (refusal) => {
      exchange.log.refusal = refusal;
    },
    onMissingScope: (scope) => {
      exchange.log.missingScope ??= scope;
    },
  };
}

/** Runs a wait that needs neither the database nor a turn; `gone` aborts when the caller disconnects. */
export async function waitIdle<T>(exchange: Exchange, wait: (gone: AbortSignal) => Promise<T>): Promise<T> {
  const began = performance.now();
  exchange.idleWaits += 1;
  try {
    return await wait((exchange.gone ??= whenGone(exchange.response)));
  } finally {
    exchange.idleWaits -= 1;
    exchange.log.waited = Math.max(exchange.log.waited ?? 0, performance.now() - began);
  }
}

/** A signal that aborts when the caller disconnects. A query with many aliases adds as many listeners, so their number is not limited. */
function whenGone(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  setMaxListeners(0, gone.signal);
  response.once('close', () => {
    gone.abort();
  });
  if (isGone(response)) gone.abort();
  return gone.signal;
}

function isGone({ closed, destroyed }: ServerResponse): boolean {
  return closed || destroyed;
}
