import { nameFault } from '../auth/keys';
import { ShardRefused } from '../mongo/shards';
import { AppError, type Fault, validationFailed } from '../errors';
import { JobRefused } from '../organisations/jobs';
import {
  NotImportedError,
  RefTakenError,
  SharedByOwnerError,
  StillErasingError,
} from '../organisations/organisationErrors';

/* Why requests of operators and people are refused. */

/** An error 409 with one fault. `pointer` is to a member of the body, or empty; `detail` is a clause. */
export function conflict(pointer: string, detail: string, code: Fault['code'] = 'conflict'): AppError {
  return new AppError('conflict', `${detail}.`, { errors: [{ pointer, code, detail }] });
}

/** An error 422 for a value that is never possible. */
export function notAllowed(pointer: string, detail: string): AppError {
  return validationFailed([{ pointer, code: 'not_allowed', detail }]);
}

export function beingErased(): AppError {
  return conflict('', 'the organisation is being erased');
}

/**
 * Throws a refusal as an error for the caller, and any other error unchanged. A value that is never possible is a 422, one that only the
 * state of an organisation forbids a 409 (contract, "Operator API"). A 409's fault has the code `not_allowed` if the organisation must change first,
 * and `conflict` if another organisation has the external_ref, or another job is open. `shardPointer` is where the request names the shard.
 */
export function rethrowForCaller(error: unknown, shardPointer = '/shard'): never {
  if (error instanceof ShardRefused) throw notAllowed(shardPointer, error.message);
  if (error instanceof NotImportedError) throw conflict('/state', error.message, 'not_allowed');
  if (error instanceof SharedByOwnerError) throw conflict('', error.message, 'not_allowed');
  if (error instanceof RefTakenError) throw conflict('/external_ref', error.message);
  if (error instanceof JobRefused) throw conflict('', error.message);
  // without faults, as clients retry no other 409 (clients/typescript/src/error.ts): the organisation will be gone in a moment
  if (error instanceof StillErasingError) throw new AppError('conflict', `${error.message}.`);
  throw error;
}

/** A name without white space around it. @throws AppError validation_failed if the rest cannot be a name */
export function plainName(name: string, pointer: string): string {
  const plain = name.trim();
  requireLine(plain, pointer);
  return plain;
}

/** Requires one line of printable text (nameFault). @throws AppError validation_failed */
export function requireLine(text: string, pointer: string): void {
  const detail = nameFault(text);
  if (detail !== undefined) throw validationFailed([{ pointer, code: 'format', detail }]);
}
