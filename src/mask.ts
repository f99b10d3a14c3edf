import { isUnavailable, isWriteConflict } from './database/faults';
import { AppError, findAppError } from './errors';

/** The AppError to show for any error: itself, `unavailable` if the database is down, otherwise `internal`. */
export function toAppError(error: unknown): AppError {
  const known = findAppError(error);
  if (known) return known;
  for (let current: unknown = error, depth = 0; current instanceof Error && depth < 8; depth += 1) {
    if (isUnavailable(current)) {
      return new AppError('unavailable', 'The database is not responding.');
    }
    if (isWriteConflict(current)) {
      return new AppError('conflict', 'Other requests kept changing the same objects; nothing was stored.');
    }
    current = (current as { originalError?: unknown }).originalError ?? current.cause;
  }
  return new AppError('internal', 'Something went wrong on our side. The error is logged under the request id.');
}
