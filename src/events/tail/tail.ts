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
  whyNoLog,
} from '../../database/changeCursor';
import { describeError } from '../../log';
import { timeDigits } from '../position';
import { type Change, momentOf, stagesFor, TAILS } from './changes';
import { type Lease, leaseOf, type Progress, tailRows } from './lease';
import type { Found, Recorder } from './recorder';

/** In milliseconds: how often the lease is renewed, or tried, and how long to wait after a failure. */
const BEAT_EVERY = 2000;
/** How often the length of the log is read, in milliseconds. */
const MEASURE_EVERY = 60_000;

/** How far a tail is; for metrics. */
export interface TailState {
  readonly cluster: string;
  /** Whether this gateway tails the cluster. */
  readonly isTailing: boolean;
  /** How far behind it is, in milliseconds. */
  readonly lag: number;
  /** How far the log goes back, in milliseconds; undefined if it cannot be read. */
  readonly log: number | undefined;
}

export interface TailOptions {
  readonly cluster: string;
  /** Name of the control database, which the row of the tail is beside. */
  readonly control: string;
  /** Id of this gateway. */
  readonly holder: string;
  /** The client of the cluster. @throws if it does not respond */
  readonly client: () => Promise<mongo.MongoClient>;
  /** The cluster's time, in milliseconds since 1970. */
  readonly now: () => number;
  readonly recorder: Recorder;
  readonly logger: Logger;
}

/** Follows the log of one cluster while this gateway has the lease, and stores what it says as events. */
export function createTail(options: TailOptions) {
  const { cluster, control, holder, now, recorder, logger } = options;
  const stages = stagesFor(control);
  const ending = new AbortController();
  let [isTailing, lag, log, toldNoLog] = [false, 0, undefined as number | undefined, false];
  let running: Promise<void> | undefined;

  const pause = (): Promise<unknown> =>
    sleep(BEAT_EVERY, undefined, { signal: ending.signal, ref: false }).catch(() => undefined);

  // a function, since it changes while something else is awaited
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
    let opened: Opened;
    try {
      opened = await open(client, row);
    } catch (error) {
      const reason = whyNoLog(error);
      if (reason === undefined) throw error;
      if (!toldNoLog)
        logger.warn({ cluster, reason }, 'events are not recorded: the log of the database cannot be read');
      toldNoLog = true;
      await lease.fail(reason);
      return;
    }
    const { cursor, lostFrom } = opened;
    let progress = opened.progress;
    let [isOurs, pendingGap] = [true, lostFrom];
    let [time, ordinal, last] = ['', 0, undefined as Change | undefined];
    recorder.begin();
    isTailing = true;
    const stop = new AbortController();
    const beating = beat();

    /** Renews the lease, whatever the tail is doing; the change comes back in the stream as a mark. */
    async function beat(): Promise<void> {
      let measured = -Infinity;
      while (isOurs && !stop.signal.aborted) {
        // without what was lost, or a crash would lose the gap as well
        const kept = pendingGap === undefined ? progress : {};
        // until it ends nobody else takes it, so a failure is met by the work itself
        isOurs = await lease.renew(kept).catch(() => true);
        if (performance.now() - measured > MEASURE_EVERY) {
          measured = performance.now();
          const oldest = await oldestInLog(client);
          log = oldest && now() - oldest.t * 1000;
        }
        await sleep(BEAT_EVERY, undefined, { signal: stop.signal, ref: false }).catch(() => undefined);
      }
    }

    async function take(batch: readonly Change[]): Promise<void> {
      const found: Found[] = [];
      let ended: Progress | undefined;
      let mark: Change | undefined;
      for (const change of batch) {
        const its = timeDigits(change.clusterTime);
        if (its !== time) {
          if (last) ended = { token: last._id, at: last.clusterTime };
          [time, ordinal] = [its, 0];
        }
        ordinal += 1;
        last = change;
        if (change.ns.coll === TAILS) {
          mark ??= change;
          ended = { token: change._id, at: change.clusterTime };
        } else found.push({ change, ordinal });
      }
      if (pendingGap !== undefined && mark) {
        await recorder.tellGap(pendingGap, mark);
        pendingGap = undefined;
      }
      await recorder.write(found);
      // not before the events are stored
      if (ended) progress = ended;
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
      stop.abort();
      await beating;
      await cursor.close();
      if (isStillOurs() && pendingGap === undefined) await lease.release(progress).catch(() => undefined);
    }

    function isStillOurs(): boolean {
      return isOurs;
    }
  }

  interface Opened {
    readonly cursor: ChangeCursor<Change>;
    readonly progress: Progress;
    /** Since when history was lost. */
    readonly lostFrom: Date | undefined;
  }

  async function open(client: mongo.MongoClient, { token, at }: Progress): Promise<Opened> {
    if (token) {
      const cursor = await resume(client, token, at);
      if (cursor) return { cursor, progress: { token, ...(at && { at }) }, lostFrom: undefined };
    }
    const operationTime = await clusterTimeOf(client);
    const cursor = await openChanges<Change>(client, stages);
    const lostFrom = token && new Date(at ? at.t * 1000 : now());
    if (lostFrom) {
      const lost = { cluster, from: lostFrom };
      logger.error(lost, 'the log of the database no longer has all changes; organisations are told');
    }
    return {
      cursor,
      progress: { ...(cursor.token && { token: cursor.token }), ...(operationTime && { at: operationTime }) },
      lostFrom,
    };
  }

  /** Goes on after a token; undefined if the log no longer has it. */
  async function resume(
    client: mongo.MongoClient,
    token: Token,
    at: mongo.Timestamp | undefined,
  ): Promise<ChangeCursor<Change> | undefined> {
    const oldest = await oldestInLog(client);
    // some servers go on with what they have
    if (at && oldest && timeDigits(at) < timeDigits(oldest)) return undefined;
    try {
      return await openChanges<Change>(client, stages, token);
    } catch (error) {
      if (isLostHistory(error)) return undefined;
      throw error;
    }
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
