import pino, { type Logger } from 'pino';
import { KEY_TEXT } from './access/keys';
import type { Config } from './config';

/** JSON lines on stderr, since stdout is for a command's result; without `to`, written in the background. */
export function createLogger(level: Config['LOG_LEVEL'], to?: NodeJS.WritableStream): Logger {
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    to ? { write: (line) => void to.write(line) } : pino.destination({ fd: 2, sync: false }),
  );
}

/** Switches between LOG_LEVEL and debug, or info if LOG_LEVEL is that talkative already; says so at the more talkative level. */
export function toggleDebug(logger: Logger, usual: Config['LOG_LEVEL']): void {
  const other = usual === 'debug' || usual === 'trace' ? 'info' : 'debug';
  const next = logger.level === usual ? other : usual;
  if (next === 'debug') logger.level = next;
  logger.info({ log_level: next }, `the log level is now ${next}${next === usual ? '' : ', until the next SIGUSR2'}`);
  logger.level = next;
}

/** A text safe to log: keys are redacted, and it is truncated. */
export function redact(text: string): string {
  return text.replaceAll(KEY_TEXT, '[key]').slice(0, 300);
}

/** A path safe to log: as it was sent, unless it has a key, which may be percent-encoded. */
export function redactPath(path: string): string {
  let plain = path.slice(0, 2000);
  // repeatedly, since a proxy may have encoded it again
  for (let round = 0; round < 3; round += 1) {
    plain = plain.replaceAll(/%[0-7][0-9a-f]/gi, (code) => decodeURIComponent(code));
  }
  return redact(plain.search(KEY_TEXT) === -1 ? path : plain);
}

/** The log fields of a masked error, without GraphQL's wrapper and with keys redacted. */
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
    stack: (error.stack ?? '').replaceAll(KEY_TEXT, '[key]'),
  };
}

function unwrapped(error: unknown): unknown {
  const { originalError } = (error ?? {}) as { originalError?: unknown };
  return error instanceof Error && originalError instanceof Error ? originalError : error;
}
