import { isUnavailable, isWriteConflict } from './database/faults';
import { AppError, findAppError } from './errors';

/** The AppError to show for anything that was thrown: itself, `unavailable` for a database away, else `internal`. */
export function toAppError(error: unknown): AppError {
  const known = findAppError(error);
  if (known) return known;
  for (let current: unknown = error, depth = 0; current instanceof Error && depth < 8; depth += 1) {
    if (isUnavailable(current)) {
      return new AppError('unavailable', 'The database does not answer at the moment.');
    }
    if (isWriteConflict(current)) {
      return new AppError('conflict', 'Other calls kept changing the same objects; nothing was stored.');
    }
    current = (current as { originalError?: unknown }).originalError ?? current.cause;
  }
  return new AppError('internal', 'Something failed on our side; it is logged under the request id.');
}
