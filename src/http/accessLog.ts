import type { Logger } from 'pino';
import { redactPath } from '../log';
import type { Principal } from '../auth/principal';
import type { Face, Metrics } from '../metrics';
import type { Exchange } from './exchange';
import type { Unavailable } from './unavailable';

/** Status of a request whose caller disconnected before the answer, as in nginx. */
export const CALLER_LEFT = 499;
/** How many lines of 503s, and of requests without a valid key, are written in a second; the others share one line each. */
const MOST_LINES = 100;
const SECOND = 1000;

/** An exchange that is done. */
export interface DoneExchange {
  readonly exchange: Exchange;
  readonly face: Face;
  readonly status: number;
  readonly ms: number;
}

interface Watchers {
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, 'requestFinished' | 'requestRefused' | 'requestUnavailable'>;
  readonly done: (exchange: DoneExchange) => void;
}

/** Logs and counts each request when it is done; the log line has no key, query or body. */
export function createAccessLog({ logger, metrics, done }: Watchers) {
  const refusals = limitedLines(logger, 'requests without a valid key that have no line of their own');
  const unavailables = limitedLines(logger, 'requests answered with 503 that have no line of their own');

  function note(exchange: Exchange, face: Face, ms: number, status: number): void {
    const { request, path, requestId, address, log } = exchange;
    const { operation, code, principal, refusal, unavailable } = log;
    const isRefused = principal === undefined && (status === 401 || status === 429);
    // only users have sessions
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
      path: redactPath(path),
      ...(operation === undefined ? {} : { operation }),
      status,
      ...(code === undefined ? {} : { code }),
      ...(status === 401 && { reason }),
      ...unavailable,
      ms: Math.round(ms * 10) / 10,
      ...(principal ? callerFields(principal) : refusal?.keyId !== undefined && { key_id: refusal.keyId }),
      address,
    });
  }

  return {
    /** Watches an exchange until it is done. */
    watch(exchange: Exchange, face: Face): void {
      const { response, log } = exchange;
      const started = performance.now();
      response.once('close', () => {
        const { streaming } = log;
        const ended = performance.now();
        // callers usually end streams by leaving
        const isAnswered = response.writableFinished || streaming !== undefined;
        const status = isAnswered ? response.statusCode : CALLER_LEFT;
        done({ exchange, face, status, ms: ended - started });
        // of a stream until it was open, since how long it goes on is up to its caller
        const seconds = ((streaming ?? ended) - started) / 1000;
        metrics.requestFinished({ face, operation: log.operation, status, seconds });
        note(exchange, face, ended - started, status);
      });
    },
    /** Writes the line of what was only counted. */
    stop(): void {
      refusals.end();
      unavailables.end();
    },
  };
}

function levelOf(face: Face, unavailable: Unavailable | undefined): 'debug' | 'info' | 'warn' {
  // probes and scrapes say nothing that is not measured
  if (face === 'operation') return 'debug';
  // the operator has planned a move
  return unavailable && unavailable.reason !== 'moving' ? 'warn' : 'info';
}

/** Limits lines of a kind of which anyone can cause any number; `says` what the line about the others is about. */
function limitedLines(logger: Logger, says: string) {
  let written = 0;
  let left = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;

  function end(): void {
    clearTimeout(timer);
    timer = undefined;
    const reasons = Object.fromEntries(left);
    const count = [...left.values()].reduce((sum, one) => sum + one, 0);
    written = 0;
    left = new Map();
    if (count > 0) logger.info({ not_logged: count, reasons }, says);
  }

  return {
    /** Whether there is room for one more line in this second; if not, it is counted. */
    hasRoom(reason: string): boolean {
      timer ??= setTimeout(end, SECOND).unref();
      if (written < MOST_LINES) {
        written += 1;
        return true;
      }
      left.set(reason, (left.get(reason) ?? 0) + 1);
      return false;
    },
    end,
  };
}

function callerFields(principal: Principal): Record<string, string> {
  const who = principal.kind === 'key' ? { key_id: principal.key.id } : { user_id: principal.user.id };
  return { ...who, organisation_id: principal.organisation.id };
}
