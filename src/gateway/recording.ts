import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { KnownKey } from '../auth/authenticate';
import type { Caller } from '../auth/principal';
import type { Exchange, Unavailable } from '../http/exchange';
import { soleAuthorization } from '../http/requestHead';
import { createFailureLog, describeError } from '../log';
import type { Face, Metrics } from '../metrics';
import type { Control } from '../organisations/control';
import { organisationUsageId } from '../organisations/usageUnits';
import { createRequestRecorder } from '../organisations/requestRecorder';
import { KEY_FACES } from '../organisations/requestFilters';
import { KEY_REFUSALS, LOGGED_PATH_LENGTH, OPERATION_TYPES } from '../organisations/requestRows';
import { createUsageCounter } from '../organisations/usageCounter';
import type { Tracing } from '../tracing';
import { HOUR, SECOND } from '../units';
import { within } from '../async/timeout';

/* Records each finished request: writes its log line and metrics and, if it had a key, its usage and an entry in the request log. */

interface RecordingOptions {
  readonly control: Pick<Control, 'usage' | 'requests' | 'now'>;
  readonly logger: Logger;
  readonly metrics: Pick<
    Metrics,
    | 'operationLabel'
    | 'requestFinished'
    | 'requestRefused'
    | 'rowInvalid'
    | 'requestUnavailable'
    | 'usageUncounted'
    | 'requestsNotLogged'
  >;
  /** What is known of the key in an Authorization header without reading it. */
  readonly knownKey: (authorization: string | undefined) => KnownKey | undefined;
  /** Whether requests are logged (REQUEST_LOG). */
  readonly logs: boolean;
}

/** Of a request, in milliseconds. */
interface Durations {
  /** Until the connection or the answer ended. */
  readonly ms: number;
  /** The same, but of a stream until it opened: its caller decides how long it lasts. */
  readonly untilOpened: number;
}

/** Status of a request whose caller disconnected before the answer, as in nginx. */
const CALLER_LEFT = 499;
/** Log lines per second for 503s, and for requests without a valid key; one more line counts the rest. */
const MAX_LINES = 100;
/** How long a stopping gateway waits for its last writes, in milliseconds: of the 6 s that orchestrators leave after a drain (TIMEOUTS in ports.ts). */
const LAST_WRITES_WITHIN = 3000;
/** How many invalid rows are remembered, so that each is logged once an hour; chosen. */
const MAX_NAMED = 10_000;
/** The header by which our own pages mark what they ask by themselves, with the value below. */
const PURPOSE = 'scopegate-purpose';
const OF_PAGE = 'page';
/** What they ask so: what a key may do, and the schema. */
const PAGE_OPERATIONS: readonly (string | undefined)[] = ['me', 'introspection'];

export function createRecording({ control, logger, metrics, knownKey, logs }: RecordingOptions) {
  const refusals = createLimitedLines(logger, 'requests without a valid key that have no line of their own');
  const unavailables = createLimitedLines(logger, 'requests answered with 503 that have no line of their own');
  const logFailure = createFailureLog(logger);
  const usage = createUsageCounter({
    usage: control.usage,
    now: control.now,
    onError: (error) => {
      logFailure('writing usage failed; will retry', error);
    },
    onUncounted: (requests) => {
      metrics.usageUncounted(requests);
      logger.warn({ requests }, 'the usage of keys lacks requests: more keys are in use than can be written');
    },
  });
  const recorder = logs
    ? createRequestRecorder({
        log: control.requests,
        now: control.now,
        onError: (error) => {
          logFailure('writing the request log failed; will retry', error);
        },
        onLeftOut: metrics.requestsNotLogged,
      })
    : undefined;

  const namedRows = new LRUCache<string, true>({ max: MAX_NAMED, ttl: HOUR });

  /** Counts a request in the usage of its key and organisation, and adds it to the request log. */
  function recordUsage(exchange: Exchange, face: Face, { ms, untilOpened }: Durations, status: number): void {
    const {
      principal,
      refusal,
      operation,
      operationType,
      operationName,
      code,
      missingScope,
      elements,
      elementsFailed = 0,
      waited = 0,
    } = exchange.log;
    const isKey = principal?.kind === 'key';
    const owner = isKey ? { key: principal.key.id, organisation: principal.organisation.id } : refusal?.owner;
    if (!owner) return;
    // a caller who leaves has reasons of their own, so that is no error, here and in the request log
    const failed = code !== undefined || (status >= 400 && status !== CALLER_LEFT);
    // only of these operations, so that nobody hides others; compared first, since Node makes the object of headers once it is asked for
    const isOfPage = PAGE_OPERATIONS.includes(operation) && exchange.request.headers[PURPOSE] === OF_PAGE;
    if (isOfPage && !failed) return;
    if (isKey) {
      usage.count([owner.key, organisationUsageId(owner.organisation)], {
        outcome: status === 429 ? 'rate_limited' : failed ? 'error' : 'ok',
        isMcp: face === 'mcp',
        operation: metrics.operationLabel(operation),
        // a resolver's code may be any text (graphql/errors.ts); here it names a member of a row
        code: code !== undefined && /^\w{1,40}$/.test(code) ? code : undefined,
        // how long a caller lets it wait for events says nothing about the gateway
        ms: Math.max(0, untilOpened - waited),
      });
    }
    const keyFace = KEY_FACES.find((name) => name === face);
    if (!recorder || !keyFace) return;
    // who searches for failures wants to find a call whose elements failed, too
    const head = { organisation_id: owner.organisation, key_id: owner.key, failed: failed || elementsFailed > 0 };
    recorder.add(head, () => ({
      operation: operation ?? null,
      status,
      code: code ?? null,
      request_id: exchange.requestId,
      face: keyFace,
      method: exchange.request.method ?? '',
      path: exchange.shownPath().slice(0, LOGGED_PATH_LENGTH),
      ms: Math.round(ms * 10) / 10,
      address: exchange.address,
      missing_scope: code === 'insufficient_scope' ? (missingScope ?? null) : null,
      operation_type: OPERATION_TYPES.find((type) => type === operationType) ?? null,
      operation_name: operationName ?? null,
      reason: KEY_REFUSALS.find((reason) => reason === refusal?.reason) ?? null,
      ...(elements !== undefined && { elements, elements_failed: elementsFailed }),
    }));
  }

  /** Logs the rows that could not be served because they are invalid: each once an hour. */
  function noteInvalid({ requestId, log: { invalid, principal } }: Exchange): void {
    if (!invalid) return;
    for (const [
      name,
      { organisationId: organisation = principal?.organisation?.id, collection, id, fault },
    ] of invalid) {
      metrics.rowInvalid(collection);
      const place = `${String(organisation)} ${name}`;
      if (namedRows.has(place)) continue;
      namedRows.set(place, true);
      const where = { request_id: requestId, organisation_id: organisation, collection, id, pointer: fault.pointer };
      logger.warn({ ...where, detail: fault.detail }, 'a stored row cannot be served; correct it in the database');
    }
  }

  /** Writes the log line, which never contains a key, query or body. */
  function writeLogLine(exchange: Exchange, face: Face, ms: number, status: number): void {
    const { request, requestId, address, log } = exchange;
    const { operation, code, principal, refusal, unavailable } = log;
    const isRefused = principal === undefined && (status === 401 || status === 429);
    // a 401 without a refused key is a user's, whose session it is about
    const reason = refusal?.reason ?? 'session';
    if (isRefused && status === 401) metrics.requestRefused(reason);
    const isUnavailable = status === 503 && face !== 'operation';
    if (isUnavailable && unavailable) metrics.requestUnavailable(unavailable.reason);
    const level = levelOf(face, isUnavailable ? unavailable : undefined);
    if (!logger.isLevelEnabled(level)) return;
    if (isRefused && !refusals.hasRoom(status === 401 ? reason : 'rate_limited')) return;
    if (isUnavailable && !unavailables.hasRoom(unavailable?.reason ?? 'unknown')) return;
    logger[level]({
      request_id: requestId,
      ...(log.traceId !== undefined && { trace_id: log.traceId }),
      method: request.method,
      path: exchange.shownPath(),
      ...(operation === undefined ? {} : { operation }),
      status,
      ...(code === undefined ? {} : { code }),
      ...(status === 401 && { reason }),
      ...(log.elements !== undefined && { elements: log.elements, elements_failed: log.elementsFailed }),
      ...unavailable,
      ms: Math.round(ms * 10) / 10,
      ...callerOf(exchange, isUnavailable),
      address,
    });
  }

  /** Who called, as far as is known: while the database is away, the key cannot be read. */
  function callerOf({ request, log: { principal, refusal } }: Exchange, isUnavailable: boolean): object {
    if (principal) return callerFields(principal);
    const key = isUnavailable ? knownKey(soleAuthorization(request)) : undefined;
    return key ? keyFields(key) : refusal?.keyId === undefined ? {} : { key_id: refusal.keyId };
  }

  return {
    /** Records an exchange once its answer is sent, or its caller has left. */
    watch(exchange: Exchange, face: Face): void {
      const { response, log } = exchange;
      const started = performance.now();
      response.once('close', () => {
        const ended = performance.now();
        const status = statusOf(exchange);
        const untilOpened = (log.streaming ?? ended) - started;
        recordUsage(exchange, face, { ms: ended - started, untilOpened }, status);
        metrics.requestFinished({ face, operation: log.operation, status, seconds: untilOpened / 1000 });
        writeLogLine(exchange, face, ended - started, status);
        noteInvalid(exchange);
      });
    },
    /** Writes what is pending, which is lost if the database does not respond. */
    async stop(): Promise<void> {
      refusals.end();
      unavailables.end();
      try {
        await within(LAST_WRITES_WITHIN, Promise.all([usage.stop(), recorder?.stop()]));
      } catch (error) {
        logger.warn({ error: describeError(error) }, 'the last usage and requests of keys were not written');
      }
    },
  };
}

/** The status that the caller got; of a stream that of its head, since callers usually end streams by leaving. */
function statusOf({ response, log }: Pick<Exchange, 'response' | 'log'>): number {
  return response.writableFinished || log.streaming !== undefined ? response.statusCode : CALLER_LEFT;
}

function levelOf(face: Face, unavailable: Unavailable | undefined): 'debug' | 'info' | 'warn' {
  // metrics already count probes and scrapes
  if (face === 'operation') return 'debug';
  // the operator planned the move
  return unavailable && unavailable.reason !== 'moving' ? 'warn' : 'info';
}

/** Limits log lines that any caller can cause in any number. `summary` is the message of the line that counts the rest. */
function createLimitedLines(logger: Logger, summary: string) {
  let written = 0;
  let countByReason = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;

  function end(): void {
    clearTimeout(timer);
    timer = undefined;
    const reasons = Object.fromEntries(countByReason);
    const count = [...countByReason.values()].reduce((sum, reasonCount) => sum + reasonCount, 0);
    written = 0;
    countByReason = new Map();
    if (count > 0) logger.info({ not_logged: count, reasons }, summary);
  }

  return {
    /** Whether there is room for one more line in this second; if not, it is counted. */
    hasRoom(reason: string): boolean {
      timer ??= setTimeout(end, SECOND).unref();
      if (written < MAX_LINES) {
        written += 1;
        return true;
      }
      countByReason.set(reason, (countByReason.get(reason) ?? 0) + 1);
      return false;
    },
    end,
  };
}

function keyFields({ keyId: key_id, organisationId }: KnownKey): Record<string, string> {
  return { key_id, ...(organisationId !== undefined && { organisation_id: organisationId }) };
}

function callerFields(principal: Caller): Record<string, string> {
  if (principal.kind === 'operator') return { operator: principal.name };
  const who = principal.kind === 'key' ? { key_id: principal.key.id } : { user_id: principal.user.id };
  return { ...who, organisation_id: principal.organisation.id };
}

/** Begins a span that ends with the exchange. Returns a function that runs work inside it. */
export function beginSpan(
  tracing: Tracing,
  exchange: Exchange,
  face: string,
): (work: () => Promise<void>) => Promise<void> {
  const { request, response, requestId, address, log } = exchange;
  const span = tracing.begin({ request, requestId, address, path: exchange.shownPath(), face });
  response.setHeader('Traceparent', span.traceparent);
  log.traceId = span.traceId;
  exchange.trace = span.step;
  response.once('close', () => {
    const { operation, principal, elements, elementsFailed } = log;
    const status = statusOf(exchange);
    const keyId = principal?.kind === 'key' ? principal.key.id : undefined;
    span.end({ status, operation, keyId, organisationId: principal?.organisation?.id, elements, elementsFailed });
  });
  return span.run;
}
