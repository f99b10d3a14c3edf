import { NOT_RESPONDING } from './deployment';
import { isOutOfTime, isTooLarge, isUnavailable, isWriteConflict } from './faults';
import { AppError, chainOf, findAppError } from '../errors';

/** The AppError to show for any error: the one in it, one for what the database could not do, otherwise `internal`. */
export function toAppError(error: unknown): AppError {
  const appError = findAppError(error);
  if (appError) return appError;
  for (const current of chainOf(error)) {
    // before isUnavailable, which it is as well
    if (isOutOfTime(current)) {
      const detail = 'The database took too long for this, and was stopped; ask for less, or narrow the search.';
      return new AppError('unavailable', detail, { reason: 'slow' });
    }
    if (isTooLarge(current)) {
      const detail =
        'This call changes more than the database takes in one transaction; nothing was stored. Send fewer elements, or shorter texts, in a call.';
      return new AppError('payload_too_large', detail);
    }
    if (isUnavailable(current)) {
      return new AppError('unavailable', NOT_RESPONDING, { reason: 'away' });
    }
    if (isWriteConflict(current)) {
      return new AppError('conflict', 'Other requests kept changing the same objects; nothing was stored.');
    }
  }
  return new AppError('internal', 'Something went wrong on our side. The error is logged under the request id.');
}
