import type { mongo } from 'mongoose';
import type { EventSource, WaitingCaller, WantedEvents } from '../context';
import { type ChangeCursor, openChanges } from '../database/changeCursor';
import { databaseName } from '../database/organisationData';
import { AppError } from '../errors';
import { events } from './collection';

/*
 * Requests that wait for events. One stream a cluster tells all of them, and one timer ends them and reads their keys again, so a request
 * that waits costs its connection and little else.
 */

/** Most waiting requests of a key, of an organisation, and of a gateway. */
const MOST = { key: 20, organisation: 200, gateway: 1000 };
/** How often waits are ended that are over, in milliseconds, and the least time between two looks of one. */
const TICK = 200;
/** How often the keys of waiting requests are read again, in milliseconds. */
const RECHECK_EVERY = 2000;
/** How long a stream stays open that nobody waits for, in milliseconds: a caller usually asks again at once. */
const LINGER = 5000;

interface Waiter {
  readonly caller: WaitingCaller;
  readonly wanted: WantedEvents;
  readonly until: number;
  /** Ends the wait: with true it looks once more. */
  wake: (again: boolean) => void;
  fail: (error: unknown) => void;
}

/** An event as the stream tells of it. */
interface Notice {
  readonly ns: { readonly db: string };
  readonly fullDocument?: { readonly type?: string; readonly object?: { readonly id?: string } | null };
}

export interface WaitingOptions {
  /** The client of a cluster for change streams. @throws if it does not respond */
  readonly streams: (cluster: string) => Promise<mongo.MongoClient>;
  /** Called if a stream fails; it is opened again. */
  readonly onError: (cluster: string, error: unknown) => void;
}

export type Waiting = ReturnType<typeof createWaiting>;

export function createWaiting({ streams, onError }: WaitingOptions) {
  const waiters = new Set<Waiter>();
  const notices = new Map<string, Promise<void>>();
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  // a function, since it changes while something else is awaited
  const isOver = (): boolean => isStopped;
  let checkedAt = 0;

  const ofCluster = (cluster: string): Waiter[] =>
    [...waiters].filter(({ caller }) => caller.principal.organisation.cluster === cluster);

  /** @throws AppError if too many wait already */
  function admit({ key, organisation }: WaitingCaller['principal']): void {
    let [ofKey, ofOrganisation] = [0, 0];
    for (const { caller } of waiters) {
      if (caller.principal.organisation.id === organisation.id) ofOrganisation += 1;
      if (caller.principal.key.id === key.id) ofKey += 1;
    }
    if (ofKey >= MOST.key) {
      const detail = `${String(MOST.key)} requests of this key are waiting for events already; use their answers, or ask without wait.`;
      throw new AppError('rate_limited', detail, { retryAfter: 1 });
    }
    if (ofOrganisation >= MOST.organisation)
      throw new AppError(
        'unavailable',
        'Too many requests of this organisation are waiting for events; ask without wait.',
      );
    if (waiters.size >= MOST.gateway)
      throw new AppError('unavailable', 'Too many requests are waiting for events; ask without wait.');
  }

  /** Opens the stream of a cluster unless it is open. Resolves when no later event can be missed. */
  function listen(cluster: string): Promise<void> {
    let opening = notices.get(cluster);
    if (!opening) {
      opening = open(cluster);
      notices.set(cluster, opening);
      opening.catch(() => notices.delete(cluster));
    }
    return opening;
  }

  async function open(cluster: string): Promise<void> {
    const cursor = await openChanges<Notice>(await streams(cluster), [
      { $match: { 'ns.coll': events.name, operationType: 'insert' } },
      { $project: { ns: 1, 'fullDocument.type': 1, 'fullDocument.object.id': 1 } },
    ]);
    void follow(cluster, cursor);
  }

  async function follow(cluster: string, cursor: ChangeCursor<Notice>): Promise<void> {
    let usedAt = performance.now();
    try {
      while (!isStopped && performance.now() - usedAt < LINGER) {
        const found = await cursor.next();
        const here = ofCluster(cluster);
        if (here.length > 0) usedAt = performance.now();
        for (const notice of found) tell(here, notice);
      }
    } catch (error) {
      onError(cluster, error);
    } finally {
      notices.delete(cluster);
      // those that came meanwhile look, and open another
      for (const waiter of ofCluster(cluster)) waiter.wake(true);
      await cursor.close();
    }
  }

  function tell(here: readonly Waiter[], { ns, fullDocument }: Notice): void {
    for (const { caller, wanted, wake } of here) {
      const isOther = databaseName(caller.principal.organisation.id) !== ns.db;
      if (isOther || (wanted.types && !wanted.types.has(fullDocument?.type ?? ''))) continue;
      if (wanted.objectId === undefined || wanted.objectId === fullDocument?.object?.id) wake(true);
    }
  }

  function tick(): void {
    const now = performance.now();
    for (const { until, wake } of waiters) if (now >= until) wake(false);
    if (waiters.size === 0) {
      clearInterval(timer);
      timer = undefined;
    } else if (now - checkedAt > RECHECK_EVERY) {
      checkedAt = now;
      const callers = new Map([...waiters].map(({ caller }) => [caller.principal.key.id, caller]));
      for (const caller of callers.values()) recheck(caller);
    }
  }

  function recheck({ principal, recheck: again }: WaitingCaller): void {
    again().catch((error: unknown) => {
      // while the database is away nothing is known of the key
      if (!(error instanceof AppError) || error.status >= 500) return;
      for (const { caller, fail } of waiters) if (caller.principal.key.id === principal.key.id) fail(error);
    });
  }

  /** Waits once. Resolves with whether to look again. */
  function once(caller: WaitingCaller, wanted: WantedEvents, until: number, gone: AbortSignal) {
    let end: (() => void) | undefined;
    const woken = new Promise<boolean>((resolve, reject) => {
      const waiter: Waiter = { caller, wanted, until, wake: resolve, fail: reject };
      const leave = (): void => {
        resolve(false);
      };
      waiters.add(waiter);
      gone.addEventListener('abort', leave);
      end = () => {
        waiters.delete(waiter);
        gone.removeEventListener('abort', leave);
      };
    });
    // it may fail while the first look goes on
    woken.catch(() => undefined);
    return { woken, end: () => end?.() };
  }

  async function wait(
    caller: WaitingCaller,
    { longest, wanted, gone }: { readonly longest: number; readonly wanted: WantedEvents; readonly gone: AbortSignal },
    look: () => Promise<boolean>,
  ): Promise<void> {
    admit(caller.principal);
    timer ??= setInterval(tick, TICK).unref();
    const until = performance.now() + longest;
    const { cluster } = caller.principal.organisation;
    for (;;) {
      // before it looks, so that nothing is missed in between
      const { woken, end } = once(caller, wanted, until, gone);
      try {
        await listen(cluster).catch((error: unknown) => {
          onError(cluster, error);
        });
        if (isOver() || gone.aborted) return;
        if ((await look()) || !(await woken) || isOver()) return;
      } finally {
        end();
      }
    }
  }

  return {
    /** How many requests wait. */
    count: (): number => waiters.size,
    /** The waits of one caller. */
    of:
      (caller: WaitingCaller): EventSource['wait'] =>
      (longest, wanted, look) =>
        isStopped ? Promise.resolve() : caller.hold((gone) => wait(caller, { longest, wanted, gone }, look)),
    /** Ends all waits at once; their answers are empty pages. */
    stop(): void {
      isStopped = true;
      clearInterval(timer);
      for (const { wake } of waiters) wake(false);
    },
  };
}
