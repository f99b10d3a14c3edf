import mongoose from 'mongoose';

const { MongoBulkWriteError, MongoServerError, MongoServerSelectionError, MongoNetworkError } = mongoose.mongo;

const DUPLICATE_KEY = 11000;
const UNAUTHORISED = 13;
const OUT_OF_TIME = 50;
const NO_SUCH_COLLECTION = 26;
const NO_SUCH_INDEX = 27;
const NAMESPACE_EXISTS = 48;
/** IndexOptionsConflict, IndexKeySpecsConflict. */
const INDEX_CONFLICTS: ReadonlySet<unknown> = new Set([85, 86]);
/** DocumentValidationFailure. */
const INVALID_ROW = 121;
const DROP_PENDING = 215;
/** TransactionTooLarge, TransactionTooLargeForCache. */
const TOO_LARGE: ReadonlySet<unknown> = new Set([257, 388]);

/** Names of errors that mean that the database is not responding. */
const UNAVAILABLE: readonly string[] = [
  'MongoNotConnectedError',
  'MongoTopologyClosedError',
  'MongoWaitQueueTimeoutError',
  'MongooseServerSelectionError',
  'MongoPoolClearedError',
  'MongoOperationTimeoutError',
];

/**
 * Error codes of a server that responds but cannot serve now: state changes and retryable errors as listed in the driver's
 * error.ts, and exhausted resources.
 */
const CANNOT_SERVE: ReadonlySet<unknown> = new Set([
  6, // HostUnreachable
  7, // HostNotFound
  43, // CursorNotFound, also after an election in the middle of a list
  OUT_OF_TIME, // MaxTimeMSExpired
  64, // WriteConcernTimeout
  89, // NetworkTimeout
  91, // ShutdownInProgress
  133, // FailedToSatisfyReadPreference
  134, // ReadConcernMajorityNotAvailableYet
  189, // PrimarySteppedDown
  DROP_PENDING, // DatabaseDropPending
  234, // RetryChangeStream
  237, // CursorKilled
  262, // ExceededTimeLimit
  9001, // SocketException
  319, // MovePrimaryInProgress
  10058, // LegacyNotPrimary
  10107, // NotWritablePrimary
  11600, // InterruptedAtShutdown
  11602, // InterruptedDueToReplStateChange
  13435, // NotPrimaryNoSecondaryOk
  13436, // NotPrimaryOrSecondary
  14031, // OutOfDiskSpace
]);

/** Labels of retryable errors, from the driver and the server, except that of transaction conflicts, which say nothing about the server. */
const TRY_AGAIN: readonly string[] = ['RetryableWriteError', 'PoolRequestedRetry', 'SystemOverloadedError'];

/** Codes of the socket errors that the driver throws if a connection is lost during a write. */
const LOST = new Set<unknown>(['EPIPE', 'ECONNRESET', 'ECONNREFUSED', 'ETIMEDOUT', 'ERR_STREAM_DESTROYED']);

/** WiredTiger panics if it cannot write, and then every command fails until the server is restarted. */
const PANIC = /\bWT_PANIC\b/;

/** Whether an error means that the database is unreachable, too slow or unable to serve now; callers get 503. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (
    error instanceof MongoServerSelectionError ||
    error instanceof MongoNetworkError ||
    UNAVAILABLE.includes(error.name) ||
    LOST.has((error as { code?: unknown }).code) ||
    (error instanceof MongoServerError && cannotServe(error))
  );
}

function cannotServe(error: mongoose.mongo.MongoServerError): boolean {
  return (
    CANNOT_SERVE.has(error.code) ||
    TRY_AGAIN.some((label) => error.hasErrorLabel(label)) ||
    PANIC.test(error.message) ||
    // bulkWrite wraps every error, even a lost connection, in a server error
    isUnavailable(error.errorResponse)
  );
}

/** Codes of errors after which the driver retries a read once: RETRYABLE_READ_ERROR_CODES in its error.ts. */
const READ_AGAIN = new Set<unknown>([6, 7, 89, 91, 134, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436]);

/** Whether the driver would retry a read after this error. */
export function isWorthReadingAgain(error: unknown): boolean {
  return error instanceof MongoNetworkError || (error instanceof MongoServerError && READ_AGAIN.has(error.code));
}

/** Recognises a server error by its code. */
const withCode =
  (code: number) =>
  (error: unknown): boolean =>
    error instanceof MongoServerError && error.code === code;

/** Whether a write violated a unique index. */
export const isDuplicateKey = withCode(DUPLICATE_KEY);

/** Whether the validator of a collection refused a row. */
export const isRefusedRow = withCode(INVALID_ROW);

/** Whether the database user lacks a privilege. */
export const isUnauthorised = withCode(UNAUTHORISED);

/** Whether a command needs a collection that does not exist. */
export const isNoSuchCollection = withCode(NO_SUCH_COLLECTION);

/** Whether an index cannot be created because of other indexes, or of rows with the same values. */
export const isIndexRefused = (error: unknown): boolean =>
  isDuplicateKey(error) || (error instanceof MongoServerError && INDEX_CONFLICTS.has(error.code));

/** Whether a collection that should be created exists, or a database is on another shard. */
export const isExistingNamespace = withCode(NAMESPACE_EXISTS);

/** Whether a command needs an index that does not exist. */
export const isNoSuchIndex = withCode(NO_SUCH_INDEX);

/** Whether a command met a database that another command is dropping. */
export const isDropPending = withCode(DROP_PENDING);

/** Whether a command exceeded its time limit (`maxTimeMS`). */
export const isOutOfTime = withCode(OUT_OF_TIME);

/** Whether a bulk write failed only because rows with the same keys exist. */
export function areDuplicateKeys(error: unknown): boolean {
  const faults = error instanceof MongoBulkWriteError ? [error.writeErrors].flat() : [];
  return faults.length > 0 && faults.every(({ code }) => code === DUPLICATE_KEY);
}

/** The positions in a bulk write of the writes that failed; undefined if the error does not say which, so that all may have. */
export function failedWrites(error: unknown): ReadonlySet<number> | undefined {
  if (!(error instanceof MongoBulkWriteError)) return undefined;
  const faults = [error.writeErrors].flat();
  // if only the write concern failed, all were stored, though not on enough servers
  if (faults.length === 0 && !error.result.getWriteConcernError()) return undefined;
  return new Set(faults.map(({ index }) => index));
}

/** Whether a transaction changed more than the server takes in one. */
export function isTooLarge(error: unknown): boolean {
  return error instanceof MongoServerError && TOO_LARGE.has(error.code);
}

/** Whether a transaction failed because of conflicts with others. Errors of a server that is lost have the same label, so these are excluded. */
export function isWriteConflict(error: unknown): boolean {
  if (!(error instanceof MongoServerError) || !error.hasErrorLabel('TransientTransactionError')) return false;
  // a retry would be too large again
  return !isUnavailable(error) && !isTooLarge(error);
}
