import pino, { type Logger } from 'pino';
import { createRepeats } from './async/repeats';
import { KEY_TEXT, KEY_TEXT_SEEN } from './auth/keys';
import type { Config } from './config';

/** Logs JSON lines with process id to `to`, or asynchronously to stderr, since stdout is for a command's result. */
export function createLogger(level: Config['LOG_LEVEL'], to?: NodeJS.WritableStream): Logger {
  const { pid } = process;
  return pino(
    { level, base: { pid }, timestamp: pino.stdTimeFunctions.isoTime },
    to ? { write: (line) => void to.write(line) } : pino.destination({ fd: 2, sync: false }),
  );
}

/** Toggles between LOG_LEVEL and debug (info if LOG_LEVEL is debug or trace), and logs that at the more verbose of the two. */
export function toggleDebug(logger: Logger, usual: Config['LOG_LEVEL']): void {
  const other = usual === 'debug' || usual === 'trace' ? 'info' : 'debug';
  const next = logger.level === usual ? other : usual;
  if (next === 'debug') logger.level = next;
  logger.info({ log_level: next }, `the log level is now ${next}${next === usual ? '' : ', until the next SIGUSR2'}`);
  logger.level = next;
}

/** Maximum characters of a string in the log, and of a stack. */
const MAX = 300;
const MAX_STACK = 4000;
/** How much of a path is decoded: enough to find a key that begins within {@link MAX}, even if it is encoded three times. */
const MAX_DECODED = 2000;

/** Text safe to log: its first `most` characters, with API keys redacted. Little more than these is scanned, so that long text costs no time. */
export function redact(text: string, most = MAX): string {
  const seen = text.slice(0, most + KEY_TEXT_SEEN);
  const redacted = seen.replaceAll(KEY_TEXT, '[key]');
  // redacting earlier keys shortens the text, which could bring a key that was cut in two back into view
  const whole = seen.length < text.length ? redacted.length - KEY_TEXT_SEEN : redacted.length;
  return redacted.slice(0, Math.min(most, Math.max(0, whole)));
}

/** A path safe to log: as sent, unless it contains a key, or `ref:` and an external_ref, percent-encoded or not. */
export function redactPath(path: string): string {
  const shown = REF.test(decoded(path.slice(0, MAX_DECODED))) ? withoutRefs(path) : path;
  const plain = decoded(shown.slice(0, MAX_DECODED));
  const hasKey = plain.slice(0, MAX + KEY_TEXT_SEEN).search(KEY_TEXT) !== -1;
  return redact(hasKey ? plain : shown);
}

const REF = /ref:/i;

/** A path without the external_refs in it: one may be a secret that was typed in the wrong place. */
function withoutRefs(path: string): string {
  const segments = path.slice(0, MAX_DECODED).split('/');
  // the last segment is cut off there, and half a key would not be recognised
  if (path.length > MAX_DECODED) segments.splice(-1, 1, '…');
  return segments.map((segment) => (REF.test(decoded(segment)) ? 'ref:…' : segment)).join('/');
}

/** A path in which percent-encoded ASCII characters are decoded; keys have no others. */
function decoded(path: string): string {
  let plain = path;
  // repeatedly, since a proxy may have encoded the path again
  for (let round = 0; round < 3; round += 1) {
    plain = plain.replaceAll(/%[0-7][0-9a-f]/gi, (code) => decodeURIComponent(code));
  }
  return plain;
}

/** The log fields of an error that the caller is not told, without GraphQL's wrapper and with keys redacted. */
export function describeError(thrown: unknown): {
  type: string;
  message: string;
  code?: string | number;
  stack?: string;
} {
  const error = unwrapped(thrown);
  if (!(error instanceof Error)) return { type: typeof error, message: redact(String(error)) };
  const { code } = error as { code?: unknown };
  return {
    type: error.name,
    message: redact(error.message),
    ...(typeof code === 'number' && { code }),
    ...(typeof code === 'string' && { code: redact(code) }),
    stack: redact(error.stack ?? '', MAX_STACK),
  };
}

/** Names of errors whose message says the cause, so that a stack would add nothing: those of the driver, and what we throw because of them. */
const SELF_EXPLANATORY = /^(Mongo|PoolCleared)|^(AppError|NoAnswerError)$/;

/** The log fields of a failure of the database or of background work: with a stack only if that adds something. */
export function describeFailure(thrown: unknown): object {
  const { stack, ...cause } = describeError(thrown);
  return SELF_EXPLANATORY.test(cause.type) ? cause : { ...cause, stack };
}

/**
 * Logs failures of work that is tried again: a message at once, and then once a minute with the newest cause and how many `failures` there were, since
 * every attempt fails while the database is away. Each message is remembered, so it must be one of a few: what varies belongs into `fields`. The level
 * is `error` for what no later attempt mends.
 */
export function createFailureLog(logger: Logger, level: 'warn' | 'error' = 'warn') {
  const countFailure = createRepeats();
  return (message: string, error: unknown, fields: Readonly<Record<string, unknown>> = {}): void => {
    const failures = countFailure(message);
    if (failures === undefined) return;
    logger[level]({ ...fields, error: describeFailure(error), ...(failures > 1 && { failures }) }, message);
  };
}

function unwrapped(error: unknown): unknown {
  const { originalError } = (error ?? {}) as { originalError?: unknown };
  return error instanceof Error && originalError instanceof Error ? originalError : error;
}
