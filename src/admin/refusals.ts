import { nameFault } from '../auth/keys';
import { ShardRefused } from '../mongo/shards';
import { AppError, type Fault, validationFailed } from '../errors';
import { JobRefused } from '../organisations/jobs';
import { NotImported, RefTaken, SharedByOwnerError, StillErasing } from '../organisations/organisations';

/* Why operators' requests are refused. */

export function conflict(pointer: string, detail: string, code: Fault['code'] = 'conflict'): AppError {
  return new AppError('conflict', `${detail}.`, { errors: [{ pointer, code, detail }] });
}

export function notAllowed(pointer: string, detail: string): AppError {
  return validationFailed([{ pointer, code: 'not_allowed', detail }]);
}

export function erasing(): AppError {
  return conflict('', 'the organisation is being erased');
}

/** Turns a refusal into an error for the caller. */
export function explain(error: unknown, shardAt = '/shard'): never {
  if (error instanceof ShardRefused) throw notAllowed(shardAt, error.message);
  if (error instanceof NotImported) throw conflict('/state', error.message, 'not_allowed');
  if (error instanceof SharedByOwnerError) throw conflict('', error.message, 'not_allowed');
  if (error instanceof RefTaken) throw conflict('/external_ref', error.message);
  if (error instanceof JobRefused) throw conflict('', error.message);
  // no fault: the organisation will be gone in a moment, and a retry succeeds
  if (error instanceof StillErasing) throw new AppError('conflict', `${error.message}.`);
  throw error;
}

/** @throws AppError validation_failed */
export function plainName(name: string, pointer: string): string {
  const plain = name.trim();
  requireLine(plain, pointer);
  return plain;
}

/** @throws AppError validation_failed */
export function requireLine(text: string, pointer: string): void {
  const detail = nameFault(text);
  if (detail !== undefined) throw validationFailed([{ pointer, code: 'format', detail }]);
}
