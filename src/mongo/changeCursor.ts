import mongoose, { type mongo } from 'mongoose';
import { isUnauthorised } from './faults';

/*
 * A change stream of all databases, through the cursor inside the driver's: that asks the server (of several mongos) that opened the stream for more, as
 * commands of our own would not. The driver's stream itself resumes on its own, which hides where a batch ends and that history was lost.
 */

/** A resume token: the place of a change in the log; opaque to everyone but the server. */
export type Token = Readonly<Record<string, unknown>>;

export type ChangeCursor<T> = Awaited<ReturnType<typeof openChanges<T>>>;

/** The defaults of {@link Reading}. */
const AWAIT = 1000;
const BATCH = 500;

export interface Reading {
  readonly startAfter?: Token;
  /** The most changes in one reply. */
  readonly batch?: number;
  /** How long the server waits for a change before it replies with none, in milliseconds. */
  readonly wait?: number;
  /** Rejects what waits for the server, which may look for the next change for minutes. */
  readonly signal?: AbortSignal;
}

/** The driver's cursor of a change stream; its types leave out all but the last three members. */
interface DriverCursor<T> {
  once(event: 'init', listener: (reply: { readonly operationTime?: mongo.Timestamp }) => void): unknown;
  cursorInit(): Promise<void>;
  readonly postBatchResumeToken?: Token;
  /** Whether the server has ended it, and nothing of it is left. */
  readonly closed: boolean;
  tryNext(): Promise<T | null>;
  readBufferedDocuments(): T[];
}

/** Opens a stream of all databases, from now or after a token; the caller closes it. @throws the driver's error; see {@link isLostHistory} */
export async function openChanges<T>(
  client: mongo.MongoClient,
  stages: readonly object[],
  { startAfter, batch = BATCH, wait = AWAIT, signal }: Reading = {},
) {
  const stream = client.watch([...stages], {
    ...(startAfter && { startAfter }),
    batchSize: batch,
    maxAwaitTimeMS: wait,
    readConcern: { level: 'majority' },
  });
  const { cursor } = stream as unknown as { readonly cursor: DriverCursor<T> };
  const close = (): Promise<void> => stream.close().catch(() => undefined);
  let openedAt: mongo.Timestamp | undefined;
  cursor.once('init', (reply) => (openedAt = reply.operationTime));
  try {
    await unlessAborted(cursor.cursorInit(), signal);
  } catch (error) {
    void close();
    throw error;
  }
  return {
    /** Where the stream began; undefined if the server does not say. */
    token: cursor.postBatchResumeToken,
    /** The cluster's time when the stream was opened; the stream has all later changes. */
    openedAt,
    /** The place in the log up to which the changes of the last batch go; undefined if the server does not say. */
    reached: () => cursor.postBatchResumeToken,
    /** The next changes; empty if none came in time. @throws the driver's error, after which the stream can only be closed */
    async next(): Promise<T[]> {
      // the driver would answer for ever, and at once, that there are none
      if (cursor.closed) throw new Error('the server ended the change stream');
      const first = await unlessAborted(cursor.tryNext(), signal);
      return first === null ? [] : [first, ...cursor.readBufferedDocuments()];
    },
    close,
  };
}

/** The answer; it is no longer waited for once the signal aborts. @throws the signal's reason */
function unlessAborted<T>(answer: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return answer;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      reject(signal.reason as Error);
    };
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort);
    answer.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', onAbort);
    });
  });
}

/** Where reading stopped: a token, and its time. */
export interface LogPosition {
  readonly token: Token;
  readonly at?: mongo.Timestamp;
}

/** Resumes a stream; undefined if the log no longer goes back that far (which may be known only at `next`: {@link isLostHistory}), or is another's. */
export async function resumeChanges<T>(
  client: mongo.MongoClient,
  stages: readonly object[],
  { token }: LogPosition,
  reading: Omit<Reading, 'startAfter'> = {},
): Promise<ChangeCursor<T> | undefined> {
  return openChanges<T>(client, stages, { ...reading, startAfter: token }).catch((error: unknown) => {
    if (!isLostHistory(error) && !isForeignToken(error)) throw error;
    return undefined;
  });
}

const withCodeOf =
  (codes: ReadonlySet<unknown>) =>
  (error: unknown): boolean =>
    error instanceof mongoose.mongo.MongoServerError && codes.has(error.code);

/**
 * Whether changes are no longer in the log: ChangeStreamHistoryLost, ChangeStreamFatalError. The server looks for a token when the stream is first
 * read, and for the start of a long transaction when it meets its end, so `next` may throw it as well.
 */
export const isLostHistory = withCodeOf(new Set([286, 280]));

/** Whether a server cannot read a token, since another one made it. */
const isForeignToken = withCodeOf(
  new Set([
    260, // InvalidResumeToken
    9, // FailedToParse, which here means: not hexadecimal
    40647, // without a text in `_data`
    50811, // its bytes are no KeyString, of which a token is made
  ]),
);

/** The codes for `$changeStream` on a server outside a replica set, and CommandNotSupported on servers that have no log at all. */
const NO_LOG: ReadonlySet<unknown> = new Set([40573, 115]);

/** Why the log cannot be read, in a clause; undefined if an error means something else. */
export function whyLogUnreadable(error: unknown): string | undefined {
  if (isUnauthorised(error))
    return 'the database user lacks the privileges find and changeStream on all databases (role readAnyDatabase)';
  const hasNone = error instanceof mongoose.mongo.MongoServerError && NO_LOG.has(error.code);
  return hasNone ? 'the server is not in a replica set' : undefined;
}

/**
 * The database's time according to its log; undefined if the server has no log. No write that this client knows of is later: mongos answers with
 * the latest time that it has seen, and the driver tells it of those that other mongos have answered with.
 */
export async function clusterTimeOf(client: mongo.MongoClient): Promise<mongo.Timestamp | undefined> {
  return ((await client.db('admin').command({ hello: 1 })) as { operationTime?: mongo.Timestamp }).operationTime;
}

/** The time of the oldest entry of the log; undefined if it cannot be read, most often since this user may not. */
export async function oldestInLog(client: mongo.MongoClient): Promise<mongo.Timestamp | undefined> {
  const log = client.db('local').collection('oplog.rs');
  const first = await log
    .findOne({}, { sort: { $natural: 1 }, projection: { ts: 1 } })
    // its callers, a metric and doctor, do without
    .catch(() => null);
  return (first as { ts?: mongo.Timestamp } | null)?.ts;
}
