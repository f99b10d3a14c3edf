import type { KeyRateLimiter, KeyRateState } from '../admission/rateLimit';
import type { OnExpected } from '../auth/authenticate';
import type { KeyPrincipal } from '../auth/principal';
import type { OrganisationData } from '../database/organisationData';
import type { Access } from '../schema/declaredOperations';
import type { Trace } from '../tracing/index';

/*
 * Reads that start while the request's key is being looked up, so that both take one round trip to the database. The key still decides:
 * no result is used before the key is accepted (docs/decisions/one-round-trip.md).
 */

/** The part of a request's context that reads need. */
export interface ReadContext {
  /** The data of the caller's organisation only. */
  readonly data: OrganisationData;
  /** Runs an operation in its own span; undefined if the request is not traced. */
  readonly trace?: Trace | undefined;
  /** @throws AppError insufficient_scope for a missing scope, forbidden for a missing role. */
  authorise(access: Access, what?: string): void;
}

/** An answer as JSON, with its next cursor if it is a page. */
export interface Written {
  readonly text: Buffer;
  readonly next?: string | null;
}

/** Why a read fell back to resolvers: unexpected arguments or data, or unexpected data a moment ago. */
export type FallbackReason = 'arguments' | 'data' | 'recently';

/** The answer of a fast read, or the reason why it fell back. */
export interface ReadOutcome {
  readonly written?: Written;
  readonly reason?: FallbackReason;
}

/** The arguments of a request, and the read that was started with them. */
export interface Ahead {
  readonly args: Record<string, unknown>;
  readonly pending: Promise<ReadOutcome> | undefined;
}

/** Starts the read of a request. Errors are ignored here: the request itself runs into them again. */
export type ReadAhead = (context: ReadContext) => Promise<Ahead>;

/** What was done for a request while its key was being looked up. */
export interface HeadStart {
  /** The budget after the point of this request. */
  readonly rate: KeyRateState;
  readonly ahead?: Promise<Ahead | undefined>;
}

interface Options {
  readonly limiter: KeyRateLimiter;
  /** The budget after the point of this request, if that point was already taken. */
  readonly paid: KeyRateState | undefined;
  readonly readAhead: ReadAhead;
  /** @throws AppError if the request would be refused */
  readonly contextOf: (caller: KeyPrincipal) => ReadContext;
}

export function headStart({ limiter, paid, readAhead, contextOf }: Options) {
  let start: Promise<HeadStart> | undefined;
  let taken: KeyPrincipal | undefined;

  async function begin(caller: KeyPrincipal): Promise<HeadStart> {
    const rate = paid ?? (await limiter.consume(caller));
    if (!rate.allowed) return { rate };
    if (!paid) taken = caller;
    try {
      const ahead = readAhead(contextOf(caller)).catch(() => undefined);
      return { rate, ahead };
    } catch {
      return { rate };
    }
  }

  return {
    onExpected: ((caller) => {
      start = begin(caller);
      // the error is reported to whoever takes the start
      start.catch(() => undefined);
    }) satisfies OnExpected,
    /** Returns what was started; undefined if nothing was. */
    take: (): Promise<HeadStart> | undefined => start,
    /** Gives back the point of a request whose key was rejected. @throws the given error */
    giveUp: (error: unknown): never => {
      start?.then(() => taken && limiter.consume(taken, -1)).catch(() => undefined);
      throw error;
    },
  };
}
