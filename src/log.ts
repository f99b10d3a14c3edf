import pino, { type Logger } from 'pino';
import type { Config } from './config';

/** What a key looks like, whatever its prefix and however much of it there is. */
const KEY_TEXT = /(?:[0-9A-Za-z]{1,40}_){1,5}?[0-9A-Za-z]{22}_[0-9A-Za-z_]{8,}/g;

/** JSON lines on stderr: stdout belongs to what a command answers. */
export function createLogger(level: Config['LOG_LEVEL']): Logger {
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ fd: 2, sync: false }),
  );
}

/** A text fit for a log: keys in it are struck out, and it is cut short. */
export function redact(text: string): string {
  return text.replaceAll(KEY_TEXT, '[key]').slice(0, 300);
}

/** A path fit for a log; ASCII in it is decoded first, since a key may come percent-encoded. */
export function redactPath(path: string): string {
  let plain = path.slice(0, 2000);
  // twice, as a proxy may have encoded it again
  for (let round = 0; round < 3; round += 1) {
    plain = plain.replaceAll(/%[0-7][0-9a-f]/gi, (code) => decodeURIComponent(code));
  }
  return redact(plain);
}

/** What is logged of an error that was masked, as it was before GraphQL wrapped it: keys struck out. */
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
