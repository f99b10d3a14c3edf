import mongoose from 'mongoose';

const { MongoServerError, MongoServerSelectionError, MongoNetworkError } = mongoose.mongo;

const DUPLICATE_KEY = 11000;
const MAX_TIME_EXPIRED = 50;

/** Names of errors that mean: the database does not answer. */
const UNAVAILABLE: readonly string[] = [
  'MongoNotConnectedError',
  'MongoTopologyClosedError',
  'MongoWaitQueueTimeoutError',
  'MongooseServerSelectionError',
  'MongoPoolClearedError',
  'MongoOperationTimeoutError',
];

/** Whether an error means that the database cannot be reached or does not answer in time. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (
    error instanceof MongoServerSelectionError ||
    error instanceof MongoNetworkError ||
    UNAVAILABLE.includes(error.name) ||
    (error instanceof MongoServerError &&
      (error.code === MAX_TIME_EXPIRED || error.hasErrorLabel('RetryableWriteError')))
  );
}

/** Whether a write met a unique index. */
export function isDuplicateKey(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === DUPLICATE_KEY;
}

/** Whether a transaction lost against another one too often. */
export function isWriteConflict(error: unknown): boolean {
  return error instanceof MongoServerError && error.hasErrorLabel('TransientTransactionError');
}
