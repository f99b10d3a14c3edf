import { once } from 'node:events';
import { LRUCache } from 'lru-cache';
import type { mongo } from 'mongoose';
import type { Logger } from 'pino';
import { type ChangeCursor, openChanges } from '../database/changeCursor';
import { createGate, type Gate } from '../database/gate';
import { databaseName } from '../database/organisationData';
import { AppError } from '../errors';
import { describeError } from '../log';
import type { WaitingCaller } from './callers';
import { type EventRow, events } from './collection';
import type { WantedEvents } from './page';
import { type Checked, createRechecks } from './rechecks';
import { createFollowing, type EventStream, type ReadEvents } from './stream';

/*
 * Requests that wait for events, and streams of them. One change stream a cluster tells all of them, and one timer ends them and reads
 * their keys again, so each costs its connection and little else.
 */

/** Most waiting requests and streams together of a key, of an organisation, and of a gateway. */
const MOST = { key: 20, organisation: 200, gateway: 1000 };
/** How often waits are ended that are over, in milliseconds, and the least time between two looks of one. */
const TICK = 200;
/** How long a change stream stays open that nobody waits for, in milliseconds: a caller usually asks again at once. */
const LINGER = 5000;

const DRAINING = 'This gateway is being stopped; others go on.';

type Timestamp = mongo.Timestamp;

interface Waiter {
  readonly caller: WaitingCaller;
  readonly wanted: WantedEvents;
  readonly until: number;
  /** When a stream next costs a point; undefined for a request, which has paid. */
  payAt?: number;
  /** Tells it of an event that it wants. */
  hear: (row: EventRow, bytes: number) => void;
  /** Ends the wait: with true it looks once more. */
  wake: (again: boolean) => void;
  fail: (error: unknown) => void;
}

/** An event as the change stream tells of it. */
interface Notice {
  readonly ns: { readonly db: string };
  readonly fullDocument: EventRow;
}

export interface WaitingOptions {
  /** The client of a cluster for change streams. @throws if it does not respond */
  readonly streams: (cluster: string) => Promise<mongo.MongoClient>;
  readonly logger: Logger;
  /** How often a stream costs a point, in milliseconds. */
  readonly payEvery: number;
}

export type Waiting = ReturnType<typeof createWaiting>;

export function createWaiting({ streams, logger, payEvery }: WaitingOptions) {
  const reads = createReads();
  const waiters = new Set<Waiter>();
  const notices = new Map<string, Promise<Timestamp | undefined>>();
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  // a function, since it changes while something else is awaited
  const isOver = (): boolean => isStopped;
  const rechecks = createRechecks();

  const ofCluster = (cluster: string): Waiter[] =>
    [...waiters].filter(({ caller }) => caller.principal.organisation.cluster === cluster);

  function onError(cluster: string, error: unknown): void {
    const failure = { cluster, error: describeError(error) };
    logger.warn(failure, 'requests that wait for events are not told of them; will retry');
  }

  /** @throws AppError if too many wait already, with what to do instead */
  function admit({ key, organisation }: WaitingCaller['principal'], advice: string): void {
    let [ofKey, ofOrganisation] = [0, 0];
    for (const { caller } of waiters) {
      if (caller.principal.organisation.id === organisation.id) ofOrganisation += 1;
      if (caller.principal.key.id === key.id) ofKey += 1;
    }
    if (ofKey >= MOST.key) {
      const detail = `${String(MOST.key)} requests of this key are waiting for events already, open streams included; ${advice}.`;
      throw new AppError('rate_limited', detail, { retryAfter: 1 });
    }
    const whose = ofOrganisation >= MOST.organisation ? ' of this organisation' : '';
    if (whose === '' && waiters.size < MOST.gateway) return;
    const detail = `Too many requests${whose} are waiting for events; ${advice}.`;
    throw new AppError('unavailable', detail, { reason: 'shed' });
  }

  /** Opens the change stream of a cluster unless it is open. Resolves with the time after which no event can be missed. */
  function listen(cluster: string): Promise<Timestamp | undefined> {
    let opening = notices.get(cluster);
    if (!opening) {
      opening = open(cluster);
      notices.set(cluster, opening);
      opening.catch(() => notices.delete(cluster));
    }
    return opening;
  }

  async function open(cluster: string): Promise<Timestamp | undefined> {
    const cursor = await openChanges<Notice>(await streams(cluster), [
      { $match: { 'ns.coll': events.name, operationType: 'insert' } },
      { $project: { ns: 1, fullDocument: 1 } },
    ]);
    void relay(cluster, cursor);
    return cursor.openedAt;
  }

  async function relay(cluster: string, cursor: ChangeCursor<Notice>): Promise<void> {
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
    let bytes: number | undefined;
    for (const { caller, wanted, hear } of here) {
      const isOther = databaseName(caller.principal.organisation.id) !== ns.db;
      if (isOther || (wanted.types && !wanted.types.has(fullDocument.type))) continue;
      if (wanted.objectId === undefined || wanted.objectId === fullDocument.object?.id)
        hear(fullDocument, (bytes ??= JSON.stringify(fullDocument).length));
    }
  }

  function tick(): void {
    const now = performance.now();
    for (const waiter of waiters) {
      if (now >= waiter.until) waiter.wake(false);
      if (waiter.payAt === undefined || now < waiter.payAt) continue;
      waiter.payAt += payEvery;
      waiter.caller.charge(1).catch(waiter.fail);
    }
    rechecks.look(checked);
    if (waiters.size > 0) return;
    rechecks.forget();
    clearInterval(timer);
    timer = undefined;
  }

  const checked = (): Checked[] =>
    [...waiters].map(({ caller, payAt, fail }) => ({ caller, isStream: payAt !== undefined, fail }));

  /** Waits once. Resolves with whether to look again. */
  function waitOnce(caller: WaitingCaller, wanted: WantedEvents, until: number, gone: AbortSignal) {
    let end: (() => void) | undefined;
    const woken = new Promise<boolean>((resolve, reject) => {
      const hear = (): void => {
        resolve(true);
      };
      const waiter: Waiter = { caller, wanted, until, hear, wake: resolve, fail: reject };
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

  type Look = () => Promise<boolean>;
  async function wait(
    caller: WaitingCaller,
    gone: AbortSignal,
    { longest, wanted, look }: { readonly longest: number; readonly wanted: WantedEvents; readonly look: Look },
  ): Promise<void> {
    admit(caller.principal, 'use their answers, or ask without wait');
    timer ??= setInterval(tick, TICK).unref();
    const until = performance.now() + longest;
    const { cluster } = caller.principal.organisation;
    for (;;) {
      // before it looks, so that nothing is missed in between
      const { woken, end } = waitOnce(caller, wanted, until, gone);
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

  function follow(caller: WaitingCaller, wanted: WantedEvents, after: string, read: ReadEvents): EventStream {
    if (isStopped) throw new AppError('unavailable', DRAINING, { reason: 'draining' });
    const { organisation } = caller.principal;
    admit(caller.principal, 'end some of them');
    timer ??= setInterval(tick, TICK).unref();
    const following = createFollowing({
      after,
      read: (from, since) => reads(organisation.id, () => read(from, since)),
      listen: () => listen(organisation.cluster),
      pay: () => caller.charge(1),
    });
    const { stream, hear, catchUp, end } = following;
    const waiter: Waiter = {
      ...{ caller, wanted, hear, until: Infinity, payAt: performance.now() + payEvery },
      wake: (again) => {
        if (again) catchUp();
        else end(new AppError('unavailable', DRAINING, { reason: 'draining' }));
      },
      fail: end,
    };
    waiters.add(waiter);
    stream.ended.addEventListener('abort', () => waiters.delete(waiter));
    // the caller may also leave before the stream is read, or end it without leaving
    void caller.hold(async (gone) => {
      const leave = (): void => {
        end();
      };
      gone.addEventListener('abort', leave);
      if (gone.aborted) end();
      if (!stream.ended.aborted) await once(stream.ended, 'abort');
      gone.removeEventListener('abort', leave);
    });
    return stream;
  }

  return {
    /** How many requests wait, and how many streams are open. */
    counts: () => {
      const streams = [...waiters].filter(({ payAt }) => payAt !== undefined).length;
      return { requests: waiters.size - streams, streams };
    },
    wait: (caller: WaitingCaller, longest: number, wanted: WantedEvents, look: Look): Promise<void> =>
      isStopped ? Promise.resolve() : caller.hold((gone) => wait(caller, gone, { longest, wanted, look })),
    follow,
    /** Ends all waits at once, whose answers are empty pages, and all streams. */
    stop(): void {
      isStopped = true;
      clearInterval(timer);
      for (const { wake } of waiters) wake(false);
    },
  };
}

/** How many streams of an organisation, and of a gateway, read what they have missed at once. */
const AT_ONCE = { organisation: 4, gateway: 8 };
/** Organisations whose gates are kept. */
const MOST_KEPT = 1000;

/** Lets streams read a few at a time, since all of them do when their change stream fails, or a gateway begins. */
export function createReads(): <T>(organisation: string, read: () => Promise<T>) => Promise<T> {
  const ofGateway = createGate(AT_ONCE.gateway);
  const ofOrganisations = new LRUCache<string, Gate>({ max: MOST_KEPT });
  return (organisation, read) => {
    let gate = ofOrganisations.get(organisation);
    if (!gate) ofOrganisations.set(organisation, (gate = createGate(AT_ONCE.organisation)));
    return gate(() => ofGateway(read));
  };
}
