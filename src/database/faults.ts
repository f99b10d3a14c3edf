import mongoose from 'mongoose';

const { MongoServerError, MongoServerSelectionError, MongoNetworkError } = mongoose.mongo;

const DUPLICATE_KEY = 11000;

/** Names of errors that mean: the database does not answer. */
const UNAVAILABLE: readonly string[] = [
  'MongoNotConnectedError',
  'MongoTopologyClosedError',
  'MongoWaitQueueTimeoutError',
  'MongooseServerSelectionError',
  'MongoPoolClearedError',
  'MongoOperationTimeoutError',
];

/**
 * Codes of a server that answers and cannot serve now: those that the driver's error.ts counts as a state change or as
 * worth another try, and those of resources that ran out.
 */
const CANNOT_SERVE: ReadonlySet<unknown> = new Set([
  6, // HostUnreachable
  7, // HostNotFound
  50, // MaxTimeMSExpired
  64, // WriteConcernTimeout
  89, // NetworkTimeout
  91, // ShutdownInProgress
  133, // FailedToSatisfyReadPreference
  134, // ReadConcernMajorityNotAvailableYet
  189, // PrimarySteppedDown
  262, // ExceededTimeLimit
  9001, // SocketException
  10058, // LegacyNotPrimary
  10107, // NotWritablePrimary
  11600, // InterruptedAtShutdown
  11602, // InterruptedDueToReplStateChange
  13435, // NotPrimaryNoSecondaryOk
  13436, // NotPrimaryOrSecondary
  14031, // OutOfDiskSpace
]);

/** The driver's and the server's own marks of an error that another try may mend, but for conflicts of transactions. */
const TRY_AGAIN: readonly string[] = ['RetryableWriteError', 'PoolRequestedRetry', 'SystemOverloadedError'];

/** Codes of a connection that was lost while the driver wrote to it: it throws what the socket said. */
const LOST: ReadonlySet<unknown> = new Set([
  'EPIPE',
  'ECONNRESET',
  'ECONNREFUSED',
  'ETIMEDOUT',
  'ERR_STREAM_DESTROYED',
]);

/** WiredTiger gave up, as it does when it cannot write: until its server is started again every command fails. */
const PANIC = /\bWT_PANIC\b/;

/** Whether an error means that the database cannot be reached, does not answer in time or cannot serve now. */
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
    // bulkWrite wraps whatever failed, a lost connection too, in an error of the server's kind
    isUnavailable(error.errorResponse)
  );
}

/** Whether a write met a unique index. */
export function isDuplicateKey(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === DUPLICATE_KEY;
}

/** Whether a transaction lost against another one too often; one whose server went away carries the same label. */
export function isWriteConflict(error: unknown): boolean {
  return error instanceof MongoServerError && error.hasErrorLabel('TransientTransactionError') && !isUnavailable(error);
}
