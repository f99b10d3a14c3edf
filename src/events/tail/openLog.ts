import type { mongo } from 'mongoose';
import type { Logger } from 'pino';
import { type ChangeCursor, clusterTimeOf, openChanges, resumeChanges } from '../../mongo/changeCursor';
import type { Change } from './changes';
import type { Progress } from './lease';

/* Where the tail begins to read the log of the database. */

/** The log, open. */
export interface OpenLog {
  readonly cursor: ChangeCursor<Change>;
  /** Where it begins. */
  readonly progress: Progress;
  /** Since when history was lost; undefined if none was. */
  readonly lostFrom: Date | undefined;
}

interface OpenOptions {
  readonly stages: readonly object[];
  /** The database's time, in milliseconds since 1970. */
  readonly now: () => number;
  readonly logger: Logger;
  /** As that of the cursor. */
  readonly signal: AbortSignal;
}

/** Opens the log where reading stopped last, or at its end if it does not go that far back. @throws the driver's error */
export async function openLog(client: mongo.MongoClient, progress: Progress, options: OpenOptions): Promise<OpenLog> {
  const { token, at } = progress;
  const stopped = token && { token, ...(at && { at }) };
  const resumed = stopped && (await resumeChanges<Change>(client, options.stages, stopped, options));
  return resumed ? { cursor: resumed, progress: stopped, lostFrom: undefined } : openLogAnew(client, progress, options);
}

/** Opens the log at its end. @throws the driver's error */
export async function openLogAnew(
  client: mongo.MongoClient,
  { token, at }: Progress,
  { stages, now, logger, signal }: OpenOptions,
): Promise<OpenLog> {
  const operationTime = await clusterTimeOf(client);
  const cursor = await openChanges<Change>(client, stages, { signal });
  const lostFrom = token && new Date(at ? at.t * 1000 : now());
  if (lostFrom) {
    logger.error(
      { from: lostFrom },
      'the log of the database no longer has all changes; organisations get a gap event',
    );
  }
  const progress = { ...(cursor.token && { token: cursor.token }), ...(operationTime && { at: operationTime }) };
  return { cursor, progress, lostFrom };
}
