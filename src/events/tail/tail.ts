import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { mongo } from 'mongoose';
import type { Logger } from 'pino';
import {
  type ChangeCursor,
  clusterTimeOf,
  isLostHistory,
  oldestInLog,
  openChanges,
  type Token,
  whyLogUnreadable,
} from '../../database/changeCursor';
import type { Databases } from '../../database/connect';
import { describeError } from '../../log';
import { timeDigits } from '../position';
import { type Change, momentOf, stagesFor, TAILS } from './changes';
import { type Lease, leaseOf, type Progress, tailRows } from './lease';
import { type Found, type Recorder, recorderOf, type RecorderOptions } from './recorder';

/** How often to renew the lease or try to take it, and how long to wait after a failure, in milliseconds. */
const BEAT_EVERY = 2000;
/** After this many changes the lease is renewed at once: writers wait for the progress that a renewal stores. */
const CHANGES_PER_BEAT = 1000;
const MEASURE_EVERY = 60_000;

export interface TailState {
  readonly cluster: string;
  readonly isTailing: boolean;
  /** How far behind the log it is, in milliseconds. */
  readonly lag: number;
  /** How far the log goes back, in milliseconds; undefined if it cannot be read. */
  readonly log: number | undefined;
}

interface TailOptions {
  readonly cluster: string;
  /** Name of the control database; the database with the tail's row has the same name. */
  readonly control: string;
  readonly holder: string;
  /** The client of the cluster. @throws if it does not respond */
  readonly client: () => Promise<mongo.MongoClient>;
  /** The cluster's time, in milliseconds since 1970. */
  readonly now: () => number;
  readonly recorder: Recorder;
  readonly logger: Logger;
}

/** Follows the log of one cluster while this gateway holds the lease, and stores its changes as events. */
function createTail(options: TailOptions) {
  const { cluster, control, holder, now, recorder, logger } = options;
  const stages = stagesFor(control);
  const ending = new AbortController();
  let [isTailing, lag, log, toldNoLog] = [false, 0, undefined as number | undefined, false];
  let running: Promise<void> | undefined;

  const pause = (): Promise<unknown> =>
    sleep(BEAT_EVERY, undefined, { signal: ending.signal, ref: false }).catch(() => undefined);

  // a function, since TypeScript assumes that a variable does not change during an await
  const isEnding = (): boolean => ending.signal.aborted;

  async function run(): Promise<void> {
    while (!isEnding()) {
      try {
        const client = await options.client();
        const lease = leaseOf(tailRows(client, control), holder, now);
        const row = await lease.take();
        if (row) await follow(client, lease, row);
      } catch (error) {
        if (!isEnding()) logger.warn({ cluster, error: describeError(error) }, 'recording events failed; will retry');
      } finally {
        isTailing = false;
      }
      await pause();
    }
  }

  async function follow(client: mongo.MongoClient, lease: Lease, row: Progress): Promise<void> {
    const opened = await open(client, row).catch(async (error: unknown) => {
      const reason = whyLogUnreadable(error);
      if (reason === undefined) throw error;
      if (!toldNoLog)
        logger.warn({ cluster, reason }, 'events are not recorded: the log of the database cannot be read');
      toldNoLog = true;
      await lease.fail(reason);
    });
    if (!opened) return;
    const { cursor, lostFrom } = opened;
    let progress: Progress = opened.progress;
    let [isOurs, pendingGap] = [true, lostFrom];
    let [time, ordinal, last] = ['', 0, undefined as Change | undefined];
    recorder.begin();
    isTailing = true;
    let [isStopped, unsaved, due] = [false, 0, new AbortController()];
    const beating = beat();

    /** Renews the lease, whatever the tail is doing; the renewal comes back in the change stream as a mark. */
    async function beat(): Promise<void> {
      let measured = -Infinity;
      while (isOurs && !isStopped) {
        // no progress past lost history is stored before its gap event, or a crash would lose the gap as well
        const kept = pendingGap === undefined ? progress : {};
        [unsaved, due] = [0, new AbortController()];
        // if that fails, nobody else takes the lease before it expires, and the work itself fails too
        isOurs = await lease.renew(kept).catch(() => true);
        if (performance.now() - measured > MEASURE_EVERY) {
          measured = performance.now();
          const oldest = await oldestInLog(client);
          log = oldest && now() - oldest.t * 1000;
        }
        await sleep(BEAT_EVERY, undefined, { signal: due.signal, ref: false }).catch(() => undefined);
      }
    }

    async function take(batch: readonly Change[]): Promise<void> {
      const found: Found[] = [];
      let ended: Progress | undefined;
      let mark: Change | undefined;
      for (const change of batch) {
        const changeTime = timeDigits(change.clusterTime);
        if (changeTime !== time) {
          if (last) ended = { token: last._id, at: last.clusterTime };
          [time, ordinal] = [changeTime, 0];
        }
        ordinal += 1;
        last = change;
        if (change.ns.coll === TAILS) {
          mark ??= change;
          ended = { token: change._id, at: change.clusterTime };
        } else found.push({ change, time, ordinal });
      }
      if (pendingGap !== undefined && mark) {
        await recorder.recordGap(pendingGap, mark);
        pendingGap = undefined;
      }
      await recorder.write(found);
      // progress moves only once the events are stored
      if (ended) progress = ended;
      unsaved += found.length;
      if (unsaved >= CHANGES_PER_BEAT) due.abort();
      lag = last ? Math.max(0, now() - momentOf(last).getTime()) : 0;
    }

    try {
      while (isStillOurs() && !isEnding()) {
        const batch = await cursor.next();
        if (!isStillOurs()) break;
        if (batch.length > 0) await take(batch);
        else lag = 0;
      }
    } finally {
      isStopped = true;
      due.abort();
      await beating;
      await cursor.close();
      if (isStillOurs() && pendingGap === undefined) await lease.release(progress).catch(() => undefined);
    }

    function isStillOurs(): boolean {
      return isOurs;
    }
  }

  /** Opens the log where reading stopped last, if it goes that far back. `lostFrom`: since when history was lost, if it does not. */
  async function open(client: mongo.MongoClient, { token, at }: Progress) {
    const resumed = token && (await resume(client, token, at));
    if (resumed) return { cursor: resumed, progress: { token, ...(at && { at }) }, lostFrom: undefined };
    const operationTime = await clusterTimeOf(client);
    const cursor = await openChanges<Change>(client, stages);
    const lostFrom = token && new Date(at ? at.t * 1000 : now());
    if (lostFrom) {
      const lost = { cluster, from: lostFrom };
      logger.error(lost, 'the log of the database no longer has all changes; organisations get a gap event');
    }
    const progress = { ...(cursor.token && { token: cursor.token }), ...(operationTime && { at: operationTime }) };
    return { cursor, progress, lostFrom };
  }

  /** Resumes after a token; undefined if the log no longer has it. */
  async function resume(
    client: mongo.MongoClient,
    token: Token,
    at: mongo.Timestamp | undefined,
  ): Promise<ChangeCursor<Change> | undefined> {
    const oldest = await oldestInLog(client);
    // some servers resume with what they still have, instead of failing
    if (at && oldest && timeDigits(at) < timeDigits(oldest)) return undefined;
    return openChanges<Change>(client, stages, token).catch((error: unknown) => {
      if (!isLostHistory(error)) throw error;
      return undefined;
    });
  }

  return {
    start(): void {
      running ??= run();
    },
    /** Resolves when nothing more is read or stored; another gateway can go on at once. */
    async stop(): Promise<void> {
      ending.abort();
      await running;
    },
    state: (): TailState => ({ cluster, isTailing, lag: isTailing ? lag : 0, log: isTailing ? log : undefined }),
  };
}

export interface TailsOptions extends Omit<RecorderOptions, 'cluster' | 'databases'> {
  readonly databases: Databases;
}

export type Tails = ReturnType<typeof createTails>;

/** The tails of all clusters; one that fails does not affect the others. */
export function createTails({ databases, ...options }: TailsOptions) {
  const holder = randomUUID();
  const tails = databases.clusters.map((cluster) =>
    createTail({
      ...{ cluster, holder, control: databases.control.name, logger: options.logger },
      recorder: recorderOf({ ...options, cluster, databases }),
      client: () => databases.streams(cluster),
      now: () => databases.timeOf(cluster),
    }),
  );
  return {
    start(): void {
      for (const tail of tails) tail.start();
    },
    stop: async (): Promise<void> => {
      await Promise.all(tails.map((tail) => tail.stop()));
    },
    states: (): TailState[] => tails.map((tail) => tail.state()),
  };
}
