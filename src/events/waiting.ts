import { once } from 'node:events';
import type { mongo } from 'mongoose';
import type { Logger } from 'pino';
import { databaseName } from '../mongo/databaseNames';
import { AppError } from '../errors';
import { inBackground } from '../async/background';
import { createFailureLog } from '../log';
import { SECOND } from '../units';
import { type EventRow, isOfCustomers } from './collection';
import { createInserts, type EventInsert, pause } from './inserts';
import type { WantedEvents } from './page';
import { createPlaces, type Holder } from './waits';
import { createReadLimit, createStream, type EventStream, type ReadEvents } from './stream';

/*
 * Requests that wait for events, and streams of events. One change stream notifies all of them, and one timer ends them and
 * checks their keys, so each costs little beyond its connection.
 */

/** Interval at which expired waits are ended, in milliseconds. */
const TICK_EVERY = 200;
/** Interval at which keys are checked, in milliseconds; all are checked together, which takes few commands. */
const CHECK_EVERY = 2000;
/** How long a stream goes on while its key cannot be read, in milliseconds: the key may have been revoked. */
const UNKNOWN_FOR = 30_000;

const DRAINING = 'This gateway is being stopped; others go on.';
const CROWDED = 'Another organisation needs the place of this stream, and none has more of them than yours.';
const UNKNOWN = `The key of this stream could not be checked for ${String(UNKNOWN_FOR / SECOND)} s.`;

/** Runs a wait with a signal that aborts when the caller disconnects. While it waits, the request does not count as in progress. */
export type WaitIdle = <T>(wait: (gone: AbortSignal) => Promise<T>) => Promise<T>;

export interface WaitingCaller {
  /** Whose events it gets; undefined for those of all organisations. */
  readonly organisationId: string | undefined;
  /** The customers that it is restricted to, if it is. */
  readonly customerIds?: readonly string[] | undefined;
  readonly holder: Holder;
  /** Authenticates the caller again. @throws AppError if it may no longer call, or get what it waits for */
  readonly recheck: (wanted: WantedEvents) => Promise<unknown>;
  /** Takes points of the caller's rate limit. @throws AppError rate_limited if there are not enough */
  readonly charge: (points: number) => Promise<void>;
  readonly waitIdle: WaitIdle;
}

/** A request that waits, or a stream; times are by performance.now(). */
interface Waiter {
  readonly caller: WaitingCaller;
  readonly wanted: WantedEvents;
  readonly until: number;
  /** When a stream next costs a point; undefined for a request, which has already paid. */
  payAt?: number;
  /** When its key was last read, and valid. */
  knownAt: number;
  isChecking?: boolean;
  notify: (row: EventRow, bytes: number) => void;
  /** Has the waiter look once more, or with false ends the wait. */
  wake: (again: boolean) => void;
  fail: (error: unknown) => void;
}

/** Looks for events. Resolves with true when there is nothing left to wait for. */
type Look = () => Promise<boolean>;

interface WaitOptions {
  /** In milliseconds. */
  readonly longest: number;
  readonly wanted: WantedEvents;
  readonly look: Look;
}

interface WaitingOptions {
  /** The client for change streams. @throws if the database does not respond */
  readonly streams: () => Promise<mongo.MongoClient>;
  readonly logger: Logger;
  /** Interval at which a stream costs a point, in milliseconds. */
  readonly payEvery: number;
}

export type Waiting = ReturnType<typeof createWaiting>;

export function createWaiting({ streams, logger, payEvery }: WaitingOptions) {
  const reads = createReadLimit();
  const places = createPlaces();
  const waiters = new Set<Waiter>();
  const logFailure = createFailureLog(logger);
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  let checkedAt = 0;
  // a function, since TypeScript assumes that a variable does not change during an await
  const hasStopped = (): boolean => isStopped;

  function onError(error: unknown): void {
    logFailure('requests that wait for events are not notified of them; will retry', error);
  }

  const inserts = createInserts({
    streams,
    isAwaited: () => waiters.size > 0,
    onInsert: notifyAll,
    // each waiter looks again, in case it missed an event, and the first opens another change stream
    onEnd: () => {
      for (const waiter of waiters) waiter.wake(true);
    },
    onError,
  });

  function notifyAll({ ns, fullDocument }: EventInsert): void {
    let bytes: number | undefined;
    for (const { caller, wanted, notify } of waiters) {
      const { organisationId, customerIds } = caller;
      const isOther =
        (organisationId !== undefined && databaseName(organisationId) !== ns.db) ||
        (customerIds !== undefined && !isOfCustomers(fullDocument, customerIds));
      if (isOther || (wanted.types && !wanted.types.has(fullDocument.type))) continue;
      if (wanted.objectId === undefined || wanted.objectId === fullDocument.object?.id)
        notify(fullDocument, (bytes ??= Buffer.byteLength(JSON.stringify(fullDocument))));
    }
  }

  function tick(): void {
    const now = performance.now();
    const isCheck = now - checkedAt > CHECK_EVERY;
    if (isCheck) checkedAt = now;
    for (const waiter of waiters) {
      if (now >= waiter.until) waiter.wake(false);
      if (isCheck && !waiter.isChecking) void check(waiter);
      if (waiter.payAt === undefined) continue;
      if (now - waiter.knownAt > UNKNOWN_FOR) waiter.fail(new AppError('unavailable', UNKNOWN, { reason: 'away' }));
      else if (now >= waiter.payAt) {
        waiter.payAt += payEvery;
        waiter.caller.charge(1).catch(waiter.fail);
      }
    }
    if (waiters.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  /** Reads the key of a waiter again, and ends the wait if it may no longer call, or lacks a scope by now. */
  async function check(waiter: Waiter): Promise<void> {
    const { caller, wanted, fail } = waiter;
    waiter.isChecking = true;
    try {
      await caller.recheck(wanted);
      waiter.knownAt = performance.now();
    } catch (error) {
      // the key may still be valid: only the database could say
      if (!(error instanceof AppError)) logFailure('keys of waiting requests could not be checked; will retry', error);
      else if (error.status < 500) fail(error);
      // it was read: its organisation is being moved
      else if (error.extras.reason === 'moving') waiter.knownAt = performance.now();
    } finally {
      waiter.isChecking = false;
    }
  }

  /** Has a waiter notified, woken and checked until `ended`. */
  function add(waiter: Omit<Waiter, 'knownAt'>, ended: AbortSignal): void {
    const added = { ...waiter, knownAt: performance.now() };
    waiters.add(added);
    // for all waiters, so in the trace of none
    timer ??= inBackground(() => setInterval(tick, TICK_EVERY)).unref();
    ended.addEventListener('abort', () => waiters.delete(added));
  }

  async function wait(caller: WaitingCaller, gone: AbortSignal, how: WaitOptions): Promise<void> {
    const displaced = new AbortController();
    const leave = places.take(caller.holder, 'use their answers, or ask without wait', () => {
      displaced.abort();
    });
    try {
      await waitUntil(caller, AbortSignal.any([gone, displaced.signal]), how);
    } finally {
      leave();
    }
  }

  async function waitUntil(
    caller: WaitingCaller,
    over: AbortSignal,
    { longest, wanted, look }: WaitOptions,
  ): Promise<void> {
    const until = performance.now() + longest;
    for (;;) {
      const ended = new AbortController();
      let wake = (_again: boolean): void => undefined;
      const woken = new Promise<boolean>((resolve, reject) => {
        wake = resolve;
        const end = resolve.bind(undefined, false);
        add(
          { caller, wanted, until, notify: resolve.bind(undefined, true), wake: resolve, fail: reject },
          ended.signal,
        );
        over.addEventListener('abort', end, { signal: ended.signal });
      });
      // `woken` may reject during the first look
      woken.catch(() => undefined);
      try {
        // listens before it looks, so that no event is missed in between
        const isListening = await inserts.listen().then(() => true, onError);
        if (hasStopped() || over.aborted) return;
        if (await look()) return;
        // no change stream notifies it
        if (!isListening)
          void pause().then(() => {
            wake(true);
          });
        if (!(await woken) || hasStopped()) return;
      } finally {
        ended.abort();
      }
    }
  }

  function follow(caller: WaitingCaller, wanted: WantedEvents, after: string, read: ReadEvents): EventStream {
    if (isStopped) throw new AppError('unavailable', DRAINING, { reason: 'draining' });
    const leave = places.take(caller.holder, 'end some of them', () => {
      end(new AppError('unavailable', CROWDED, { reason: 'shed' }));
    });
    const { stream, notify, catchUp, end } = createStream({
      after,
      read: (from, since) => reads(caller.organisationId ?? '', () => read(from, since)),
      listen: inserts.listen,
      pay: () => caller.charge(1),
    });
    const waiter = {
      caller,
      wanted,
      notify,
      until: Infinity,
      payAt: performance.now() + payEvery,
      wake: (again: boolean) => {
        if (again) catchUp();
        else end(new AppError('unavailable', DRAINING, { reason: 'draining' }));
      },
      fail: end,
    };
    add(waiter, stream.ended);
    stream.ended.addEventListener('abort', leave);
    // the caller may also disconnect before it reads the stream, or end the stream without disconnecting
    void caller.waitIdle(async (gone) => {
      if (gone.aborted) end();
      gone.addEventListener('abort', end.bind(undefined, undefined), { signal: stream.ended });
      if (!stream.ended.aborted) await once(stream.ended, 'abort');
    });
    return stream;
  }

  return {
    counts: () => {
      const streams = [...waiters].filter(({ payAt }) => payAt !== undefined).length;
      return { requests: waiters.size - streams, streams };
    },
    /**
     * Looks again at each wanted event, until there is nothing left to wait for, `longest` milliseconds have passed, the gateway drains, or
     * the caller disconnects or loses its place to another organisation.
     * @throws what `look` does; AppError rate_limited or unavailable if too many wait, unauthenticated if the key is revoked meanwhile
     */
    wait: (caller: WaitingCaller, longest: number, wanted: WantedEvents, look: Look): Promise<void> =>
      isStopped ? Promise.resolve() : caller.waitIdle((gone) => wait(caller, gone, { longest, wanted, look })),
    /**
     * Follows events after a position: those that `read` finds, and then each as it is stored.
     * @throws AppError rate_limited or unavailable if there are too many streams, or the gateway drains
     */
    follow,
    /** Ends all waits, whose answers are then empty pages, and all streams. */
    stop(): void {
      isStopped = true;
      inserts.stop();
      clearInterval(timer);
      for (const { wake } of waiters) wake(false);
    },
  };
}
