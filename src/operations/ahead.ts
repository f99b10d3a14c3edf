import type { KeyRateLimiter, KeyRateState } from '../admission/rateLimit';
import type { OnLikely } from '../auth/authenticate';
import type { KeyPrincipal } from '../auth/principal';
import type { OrganisationData } from '../database/organisationData';
import type { Access } from '../schema/declaredOperations';
import type { Trace } from '../tracing/index';

/*
 * Reads that begin while the key of their request is being read, so that both take one round trip to the database. The key decides as
 * ever, once it is read; until then nothing of them is looked at (docs/decisions/one-round-trip.md).
 */

/** What a read needs of the context of a request. */
export interface ReadContext {
  /** The data of the caller's organisation only. */
  readonly data: OrganisationData;
  /** Runs an operation in a span of its own; undefined if the request is not traced. */
  readonly trace?: Trace | undefined;
  /** @throws AppError insufficient_scope for a missing scope, forbidden for a missing role. */
  authorise(access: Access): void;
}

/** A JSON text, and the cursor in it if it is a page. */
export interface Written {
  readonly text: Buffer;
  readonly next?: string | null;
}

/** Why an answer is not read fast: its arguments or data are not what was expected, or its data were not a moment ago. */
export type FallbackReason = 'arguments' | 'data' | 'recently';

/** A read in progress: what it gives, or why nothing. */
export type Begun = Promise<{ readonly written?: Written | undefined; readonly reason?: FallbackReason | undefined }>;

/** The arguments of a request, and a read that has begun with them. */
export interface Ahead {
  readonly args: Record<string, unknown>;
  readonly begun: Begun | undefined;
}

/** Begins what a request reads. What it throws, the request throws again when it gets there. */
export type ReadAhead = (likely: ReadContext) => Promise<Ahead>;

/** What was done for a request while its key was being read. */
export interface HeadStart {
  /** The budget after its point. */
  readonly rate: KeyRateState;
  /** Where it reads. */
  readonly cluster?: string;
  readonly ahead?: Promise<Ahead | undefined>;
}

interface Options {
  readonly limiter: KeyRateLimiter;
  /** The budget after the point of this request, if it is taken already. */
  readonly paid: KeyRateState | undefined;
  readonly readAhead: ReadAhead;
  /** @throws AppError if the request would be refused */
  readonly contextOf: (likely: KeyPrincipal) => ReadContext;
}

export function headStart({ limiter, paid, readAhead, contextOf }: Options) {
  let start: Promise<HeadStart> | undefined;
  let taken: KeyPrincipal | undefined;

  async function begin(likely: KeyPrincipal): Promise<HeadStart> {
    const rate = paid ?? (await limiter.consume(likely));
    if (!rate.allowed) return { rate };
    if (!paid) taken = likely;
    try {
      const ahead = readAhead(contextOf(likely)).catch(() => undefined);
      return { rate, ahead, cluster: likely.organisation.cluster };
    } catch {
      return { rate };
    }
  }

  return {
    onLikely: ((likely) => {
      start = begin(likely);
      // whoever takes it gets its error
      start.catch(() => undefined);
    }) satisfies OnLikely,
    /** Undefined if the caller was not likely to be accepted. */
    take: (): Promise<HeadStart> | undefined => start,
    /** Gives back the point of a request whose key is not accepted. @throws error */
    giveUp: (error: unknown): never => {
      start?.then(() => taken && limiter.consume(taken, -1)).catch(() => undefined);
      throw error;
    },
  };
}
