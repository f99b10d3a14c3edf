import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientSession, mongo } from 'mongoose';

/* Leases on rows of a collection, by the database's clock: one gateway at a time has each. */

export interface LeaseRow {
  readonly _id: string;
  /** Id of the lease; a new one each time that it is taken. */
  readonly holder: string | null;
  /** When the lease ends; a row without one is free from then on. */
  readonly until: Date;
}

/** A row with its lease, as its holder last read it. */
export type Held<Row extends LeaseRow> = Row & { readonly holder: string };

/** What else is stored in the row. */
interface Change<Row> {
  readonly $set?: Partial<Row>;
  readonly $inc?: { readonly [Name in keyof Row]?: number };
  readonly $unset?: { readonly [Name in keyof Row]?: '' };
}

/** The members by which the holder knows its lease. It is lost once the row has others; for a member that only grows, `$gte` also notices a row restored from a backup. */
type LeaseRef<Row extends LeaseRow> = Pick<Held<Row>, '_id' | 'holder'> & {
  readonly [Name in keyof Row]?: Row[Name] | { readonly $gte: Row[Name] };
};

interface ReleaseOptions {
  /** When the row can be leased again, by the database's clock; by default at once. */
  readonly until?: Date | undefined;
  readonly session?: ClientSession;
}

const LONG_AGO = new Date(0);

/** Leases of `rows`. Each `lasts` so many milliseconds unless it is renewed; `now` is the database's time. */
export function createLeases<Row extends LeaseRow>(rows: mongo.Collection<Row>, lasts: number, now: () => number) {
  const free = () => ({ until: { $lte: new Date(now()) } });
  const end = (): Date => new Date(now() + lasts);

  /** Changes the row that `filter` matches, and its lease; undefined if there is none. */
  async function store(filter: object, change: Change<Row>, lease: Partial<LeaseRow>, options: object = {}) {
    const changed = { ...change, $set: { ...change.$set, ...lease } } as mongo.UpdateFilter<Row>;
    const after = { ...options, returnDocument: 'after' } as const;
    const row = await rows.findOneAndUpdate(filter, changed, after);
    return (row as Held<Row> | null) ?? undefined;
  }

  return {
    /** The filter of rows without a lease. */
    free,
    /** Takes the lease of a free row that `filter` matches; undefined if there is none, or another gateway was first. */
    take: (
      filter: object,
      change: Change<Row> = {},
      order: { readonly sort?: mongo.Sort } = {},
    ): Promise<Held<Row> | undefined> =>
      store({ ...filter, ...free() }, change, { holder: randomUUID(), until: end() }, order),
    /** Renews a lease. Resolves with the row as it is now; undefined if the lease was lost, and then nothing is stored. */
    renew: (lease: LeaseRef<Row>, change: Change<Row> = {}): Promise<Held<Row> | undefined> =>
      store(lease, change, { until: end() }),
    /** Gives a lease back. False if it was lost, and then nothing is stored. */
    release: async (lease: LeaseRef<Row>, change: Change<Row>, { until = LONG_AGO, session }: ReleaseOptions = {}) =>
      (await store(lease, change, { holder: null, until }, session && { session })) !== undefined,
  };
}

interface KeepOptions {
  /** Resolves with whether the lease is still held; false ends it. A rejection does not. */
  readonly renew: () => Promise<boolean>;
  /** How often to renew it, in milliseconds. */
  readonly every: number;
  /** How long to keep it, in milliseconds; then it counts as lost. */
  readonly longest?: number;
  /** Whether a renewal waits for the one before. By default it does not, since a command without an answer would let the lease lapse. Not with `longest`, which such a wait holds up. */
  readonly inOrder?: boolean;
}

/** Renews a lease regularly until it is lost or `stop` is called, which whoever has it must do. */
export function keepLease({ renew, every, longest = Infinity, inOrder = false }: KeepOptions) {
  const lost = new AbortController();
  const lostAt = performance.now() + longest;
  /** Ends the wait for the next renewal. */
  let wake = new AbortController();
  let isStopped = false;
  let renewal = Promise.resolve();
  const keeping = keep();

  async function keep(): Promise<void> {
    for (;;) {
      await sleep(every, undefined, { signal: wake.signal, ref: false }).catch(() => undefined);
      if (performance.now() > lostAt) lost.abort();
      if (isStopped || lost.signal.aborted) return;
      wake = new AbortController();
      renewal = renewOnce();
      if (inOrder) await renewal;
    }
  }

  async function renewOnce(): Promise<void> {
    // a lease outlasts several renewals, so one that fails does not lose it
    if (!(await renew().catch(() => true))) lost.abort();
  }

  return {
    /** Aborts once a renewal says so: the lease may have lapsed before, so what must not be done twice has to ask the database again. */
    lost: lost.signal,
    isLost: (): boolean => lost.signal.aborted,
    /** Renews it without waiting for the next time. */
    renewNow: (): void => {
      wake.abort();
    },
    /** No renewal begins after this. Resolves when the last one has ended; an earlier one may still have no answer, and stores nothing once another has the lease. */
    async stop(): Promise<void> {
      isStopped = true;
      wake.abort();
      await keeping;
      await renewal;
    },
  };
}
