import mongoose, { type mongo } from 'mongoose';
import { isUnauthorised } from './faults';

/*
 * A change stream of a whole cluster. The driver's own change stream resumes by itself, which hides where a batch ends and that
 * history was lost.
 */

/** Where a stream resumes; opaque to everyone but the server. */
export type Token = Readonly<Record<string, unknown>>;

export type ChangeCursor<T> = Awaited<ReturnType<typeof openChanges<T>>>;

/** How long the server waits for a change, in milliseconds. */
const AWAIT = 1000;
/** The most changes in one reply. */
const BATCH = 500;

interface Reply<T> {
  readonly operationTime?: mongo.Timestamp;
  readonly cursor: {
    readonly id: number | mongo.Long;
    readonly firstBatch?: T[];
    readonly nextBatch?: T[];
    readonly postBatchResumeToken?: Token;
  };
}

/** Opens a stream of all databases, from now or after a token. @throws the driver's error; see {@link isLostHistory} */
export async function openChanges<T>(client: mongo.MongoClient, stages: readonly object[], resumeAfter?: Token) {
  const admin = client.db('admin');
  const session = client.startSession({ causalConsistency: false });
  try {
    const stream = { $changeStream: { allChangesForCluster: true, ...(resumeAfter && { resumeAfter }) } };
    const command = { aggregate: 1, pipeline: [stream, ...stages], cursor: { batchSize: BATCH } };
    const opened = (await admin.command({ ...command, readConcern: { level: 'majority' } }, { session })) as Reply<T>;
    const { id, firstBatch = [], postBatchResumeToken: token } = opened.cursor;
    const collection = '$cmd.aggregate';
    const cursor = mongoose.mongo.Long.fromValue(id);
    let first = firstBatch;
    return {
      /** Where the stream began. */
      token,
      /** The cluster's time when the stream was opened; the stream has all later changes. */
      openedAt: opened.operationTime,
      /** The next changes; empty if none came within {@link AWAIT} ms. @throws the driver's error, after which the stream is closed */
      async next(): Promise<T[]> {
        const found = first;
        first = [];
        if (found.length > 0) return found;
        const more = { getMore: cursor, collection, batchSize: BATCH, maxTimeMS: AWAIT };
        return ((await admin.command(more, { session })) as Reply<T>).cursor.nextBatch ?? [];
      },
      async close(): Promise<void> {
        await admin.command({ killCursors: collection, cursors: [cursor] }, { session }).catch(() => undefined);
        await session.endSession();
      },
    };
  } catch (error) {
    await session.endSession();
    throw error;
  }
}

/** ChangeStreamHistoryLost, ChangeStreamFatalError, InvalidResumeToken, and the codes of other servers for an unknown token. */
const LOST: ReadonlySet<unknown> = new Set([286, 280, 260, 40647, 50811]);

/** Whether an error means that a token is no longer in the server's log. */
export function isLostHistory(error: unknown): boolean {
  return error instanceof mongoose.mongo.MongoServerError && LOST.has(error.code);
}

/** The codes for `$changeStream` on a server outside a replica set, and CommandNotSupported on servers that have no log at all. */
const NO_LOG: ReadonlySet<unknown> = new Set([40573, 115]);

/** Why a cluster's log cannot be read, in a clause; undefined if an error means something else. */
export function whyLogUnreadable(error: unknown): string | undefined {
  if (isUnauthorised(error))
    return 'the database user lacks the privileges find and changeStream on all databases (role readAnyDatabase)';
  const hasNone = error instanceof mongoose.mongo.MongoServerError && NO_LOG.has(error.code);
  return hasNone ? 'the server is not in a replica set' : undefined;
}

/** A cluster's time according to its log: no write so far is later. Undefined if the server has no log. */
export async function clusterTimeOf(client: mongo.MongoClient): Promise<mongo.Timestamp | undefined> {
  return ((await client.db('admin').command({ hello: 1 })) as { operationTime?: mongo.Timestamp }).operationTime;
}

/** The time of the oldest entry of a cluster's log; undefined if this user may not read it. */
export async function oldestInLog(client: mongo.MongoClient): Promise<mongo.Timestamp | undefined> {
  const log = client.db('local').collection('oplog.rs');
  const first = await log
    .findOne({}, { sort: { $natural: 1 }, projection: { ts: 1 } })
    // only a metric and an early warning: MongoDB reports a lost token by itself
    .catch(() => null);
  return (first as { ts?: mongo.Timestamp } | null)?.ts;
}
