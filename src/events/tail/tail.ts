import type { mongo } from 'mongoose';
import type { Logger } from 'pino';
import { isLostHistory, oldestInLog, whyLogUnreadable } from '../../mongo/changeCursor';
import type { Databases } from '../../tenant/databases';
import { keepLease } from '../../mongo/lease';
import { createFailureLog } from '../../log';
import { createLoop } from '../../async/loop';
import { SECOND } from '../../units';
import { timeDigits } from '../position';
import { createAuditLines } from './audited';
import { type Change, END, EVER, type LoggedChange, stagesFor, TAILS } from './changes';
import { type Corrections, type Corrector, createCorrections } from './corrections';
import { type Progress, type Restored, type TailLease, type TailRow, tailRows, takeTailLease } from './lease';
import { type Recorder, createRecorder, type RecorderOptions } from './recorder';
import { type OpenLog, openLog, openLogAnew } from './openLog';
import { createRestoreWatch } from './restoreWatch';
import { createTransactionWriters, isOpenWriteChange } from './writers';

/** How often to renew the lease, and how long to wait after a failure, in milliseconds. */
export const BEAT_EVERY = 2000;
/** How often to look whether the lease is free, in milliseconds: until somebody takes it, changes wait for their events. */
const LOOK_EVERY = 500;
/** After this many changes the lease is renewed at once: writers wait for the progress that a renewal stores. */
const CHANGES_PER_BEAT = 1000;
/** How often to measure how far the log goes back, in milliseconds. */
const MEASURE_EVERY = 60_000;
/** A renewal of the lease that is not in the log after this long (ms) is held back, by a shard that does not respond. */
const HELD_AFTER = 3 * BEAT_EVERY;

export interface TailState {
  /** Whether this gateway records the events, or fails to. */
  readonly isTailing: boolean;
  /** How far behind the log it is, in milliseconds. */
  readonly lag: number;
  /** How far the log goes back, in milliseconds; undefined if it cannot be read, and on a sharded cluster, where each shard has its own. */
  readonly log: number | undefined;
}

interface FollowOptions {
  readonly databases: Pick<Databases, 'streams' | 'now' | 'control' | 'shards'>;
  readonly recorder: Recorder;
  readonly corrections: Corrections;
  /** Called when this gateway begins to record events; recording waits for it. */
  readonly onBegun: () => Promise<void>;
  /** Called if the database was restored from a backup. */
  readonly onRestored: () => void;
  readonly logger: Logger;
}

/** Follows the log of the database while this gateway holds the lease, and stores its changes as events. */
function createFollower(options: FollowOptions) {
  const { databases, recorder, corrections, onBegun, onRestored, logger } = options;
  const { now } = databases;
  const control = databases.control.name;
  const restores = createRestoreWatch({ now, onRestored, logger });
  const auditLines = createAuditLines({ control, logger });
  let isTailing = false;
  let lag = 0;
  let log: number | undefined;
  let toldNoLog = false;
  /** When the tail last read a change of its row, while it holds the lease. */
  let renewalReadAt: number | undefined;
  const logFailure = createFailureLog(logger);

  async function round(): Promise<boolean> {
    try {
      const client = await databases.streams();
      const lease = await takeTailLease(tailRows(client, control), now, restores.note);
      if (!lease) renewalReadAt = undefined;
      else await follow(client, lease, await restores.check(lease));
    } finally {
      isTailing = false;
    }
    return false;
  }

  const onError = (error: unknown): void => {
    if (!loop.isEnding()) logFailure('recording events failed; will retry', error);
  };
  const loop = createLoop({ round, every: LOOK_EVERY, afterFailure: BEAT_EVERY, onError });

  async function follow(client: mongo.MongoClient, lease: TailLease, row: TailRow): Promise<void> {
    /** The log, once it is open. */
    let cursor: OpenLog['cursor'] | undefined;
    /** None until the log is open. */
    let progress: Progress = {};
    /** Since when changes may be missing, until every organisation has the gap event that says so. */
    let pendingGap: Date | undefined;
    /** Changes whose events are stored since the last renewal. */
    let unsaved = 0;
    let measured = -Infinity;
    /** A restore whose gap events are not stored yet, and the last one whose gap events are: a renewal may have read that as not told. */
    let untold: Restored | undefined;
    let told: Restored | undefined;
    const writers = createTransactionWriters();
    /** The last change, its cluster time and its ordinal at that time. */
    let last: Change | undefined;
    let time = '';
    let ordinal = 0;
    // in order, or a late renewal would store less progress than the one after it; before the log is open, which takes longer than the lease lasts if it
    // has much that no event is of
    const keptLease = keepLease({ renew, every: BEAT_EVERY, inOrder: true });
    const signal = AbortSignal.any([loop.ending, keptLease.lost]);
    const opening = { stages: stagesFor(control), now, logger, signal };
    let isUnreadable = false;

    /** Has the next mark bring the gap events of a restore, unless they are stored. */
    function tellRestore({ restored }: TailRow): void {
      if (!restored || restored.told || restored.at.getTime() === told?.at.getTime()) return;
      untold = restored;
      pendingGap = EVER;
    }

    /** The progress that may be stored: none past lost history before its gap event, or a crash would lose the gap as well. */
    const safeProgress = (): Progress => (pendingGap === undefined ? progress : {});

    /** Renews the lease, whatever the tail is doing; the renewal comes back in the change stream as a mark. */
    async function renew(): Promise<boolean> {
      unsaved = 0;
      const renewed = await lease.renew(safeProgress());
      if (renewed) {
        restores.note(renewed);
        tellRestore(renewed);
      }
      if (performance.now() - measured > MEASURE_EVERY) {
        measured = performance.now();
        const oldest = databases.shards ? undefined : await oldestInLog(client);
        log = oldest && now() - oldest.t * 1000;
      }
      return renewed !== undefined;
    }

    async function next(from: OpenLog['cursor']): Promise<Change[]> {
      try {
        return await from.next();
      } catch (error) {
        if (!isLostHistory(error)) throw error;
        await from.close();
        const anew = await openLogAnew(client, progress, opening);
        pendingGap ??= anew.lostFrom;
        ({ cursor, progress } = anew);
        return [];
      }
    }

    /** Stores the events of a batch. @throws if that fails; the tail then begins anew at the progress that is stored */
    async function take(batch: readonly Change[]): Promise<void> {
      const changes: Omit<LoggedChange, 'by'>[] = [];
      const audited: Change[] = [];
      let ended: Progress | undefined;
      let mark: Change | undefined;
      for (const change of batch) {
        const changeTime = timeDigits(change.clusterTime);
        if (changeTime !== time) {
          // all changes of one time are read, so that reading may begin after them, with the ordinal 1 again
          if (last) ended = { token: last._id, at: last.clusterTime };
          time = changeTime;
          ordinal = 0;
        }
        last = change;
        if (isOpenWriteChange(change)) {
          writers.note(change);
          continue;
        }
        // before it counts: the ordinals of earlier versions are without these
        if (auditLines.isAuditEvent(change)) {
          audited.push(change);
          continue;
        }
        ordinal += 1;
        if (change.operationType === END) ended = { token: change._id, at: change.clusterTime };
        else if (change.ns.db === control && change.ns.coll === TAILS) {
          // the log may still have marks from before the restore
          if (untold === undefined || change.clusterTime.t * SECOND > untold.at.getTime()) mark ??= change;
          renewalReadAt = performance.now();
          // no other change of a replica set has this time; on a sharded cluster one of another shard may
          if (!databases.shards) ended = { token: change._id, at: change.clusterTime };
        } else changes.push({ change, time, ordinal });
      }
      // the gap event takes the place of a mark in the log: that is after all that was lost
      if (pendingGap !== undefined && mark) {
        const restore = untold;
        await recorder.recordGap(pendingGap, mark);
        if (restore) await lease.settle(restore);
        // unless another one was declared meanwhile
        if (untold?.at.getTime() === restore?.at.getTime()) {
          untold = undefined;
          told = restore ?? told;
          pendingGap = undefined;
        }
      }
      await auditLines.write(client, audited);
      await recorder.write(writers.named(changes));
      // progress moves only once the events are stored
      if (ended) progress = ended;
      unsaved += changes.length;
      if (unsaved >= CHANGES_PER_BEAT) keptLease.renewNow();
      lag = last ? Math.max(0, now() - last.wallTime.getTime()) : 0;
    }

    try {
      const opened = await openLog(client, row, opening).catch(async (error: unknown) => {
        const reason = whyLogUnreadable(error);
        if (reason === undefined) throw error;
        if (!toldNoLog) logger.warn({ reason }, 'events are not recorded: the log of the database cannot be read');
        toldNoLog = true;
        await lease.fail(reason);
      });
      isUnreadable = opened === undefined;
      if (!opened) return;
      toldNoLog = false;
      ({ cursor, progress } = opened);
      pendingGap ??= opened.lostFrom;
      tellRestore(row);
      recorder.begin();
      await onBegun();
      isTailing = true;
      renewalReadAt ??= performance.now();
      keptLease.renewNow();
      while (!keptLease.isLost() && !loop.isEnding()) {
        const batch = await next(cursor);
        if (keptLease.isLost()) break;
        if (batch.length > 0) await take(batch);
        else lag = 0;
      }
    } catch (error) {
      if (error !== signal.reason) throw error;
    } finally {
      await keptLease.stop();
      await cursor?.close();
      // the next attempt waits until the lease ends
      if (!isUnreadable && !keptLease.isLost()) await lease.release(safeProgress()).catch(() => undefined);
    }
  }

  return {
    start: loop.start,
    /** Resolves when nothing more is read or stored; another gateway can go on at once. */
    async stop(): Promise<void> {
      await loop.stop();
      // notes what the last round has stored
      await corrections.stop();
    },
    state(): TailState {
      const heldFor = renewalReadAt === undefined ? 0 : performance.now() - renewalReadAt;
      const isHeld = heldFor > HELD_AFTER;
      return {
        isTailing: isTailing || isHeld,
        lag: isHeld ? Math.max(lag, heldFor) : isTailing ? lag : 0,
        log: isTailing ? log : undefined,
      };
    },
  };
}

export interface TailOptions
  extends Omit<RecorderOptions, 'databases' | 'onRecorded'>, Pick<FollowOptions, 'onBegun' | 'onRestored'> {
  readonly databases: Databases;
  readonly corrector: Corrector;
}

export type Tail = ReturnType<typeof createTail>;

export function createTail(options: TailOptions) {
  const corrections = createCorrections(options);
  const onRecorded: RecorderOptions['onRecorded'] = (organisation, changes) => {
    corrections.note(organisation, changes);
  };
  return createFollower({ ...options, corrections, recorder: createRecorder({ ...options, onRecorded }) });
}
