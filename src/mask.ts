import { isUnavailable, isWriteConflict } from './database/faults';
import { AppError, chainOf, findAppError } from './errors';

/** The AppError to show for any error: itself, `unavailable` if the database is down, otherwise `internal`. */
export function toAppError(error: unknown): AppError {
  const known = findAppError(error);
  if (known) return known;
  for (const current of chainOf(error)) {
    if (isUnavailable(current)) {
      return new AppError('unavailable', 'The database is not responding.');
    }
    if (isWriteConflict(current)) {
      return new AppError('conflict', 'Other requests kept changing the same objects; nothing was stored.');
    }
  }
  return new AppError('internal', 'Something went wrong on our side. The error is logged under the request id.');
}
