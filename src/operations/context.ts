import type { KeyRateState } from '../admission/rateLimit';
import type { Refusal } from '../auth/authenticate';
import type { Plan } from '../auth/plans';
import type { Caller, KeyPrincipal, OperatorPrincipal } from '../auth/principal';
import type { OrganisationData } from '../tenant/organisationData';
import type { UnitOfWork } from '../tenant/unitOfWork';
import type { Pauses } from '../async/yield';
import type { Fault, FaultLimits, Findings } from '../errors';
import type { EventSource } from '../events/source';
import type { WaitIdle } from '../events/waiting';
import type { Access } from '../schema/declaredOperations';
import type { Trace } from '../tracing/index';

/** A stored row that cannot be served (docs/decisions/invalid-rows.md). */
export interface InvalidRow {
  /** Whose it is, if the caller acts for no organisation. */
  readonly organisationId?: string;
  readonly collection: string;
  readonly id: string;
  readonly fault: Fault;
}

/** What the context asks of the HTTP exchange that it is for; all that is left out does nothing. */
export interface ExchangeHooks {
  /** Runs an operation in its own span; undefined if the request is not traced. */
  readonly trace?: Trace | undefined;
  /** Counts the bytes of the answer to a read so far. @throws AppError unavailable if that is too many */
  readonly countAnswer?: ((bytes: number) => void) | undefined;
  /** Counts bytes of rows that were read and are kept in memory. @throws AppError unavailable or invalid_request if they are too many */
  readonly holdRows?: ((bytes: number) => void) | undefined;
  /** Notes a row that cannot be served: for the log, and if it (and `others` beside it) was left out of the answer also for the caller. */
  readonly noteInvalid?: ((row: InvalidRow, what: 'omitted' | 'refused', others?: number) => void) | undefined;
  /** Notes for the log how many elements of a bulk call failed, and how many (`of`) it had. */
  readonly noteElements?: ((failed: number, of: number) => void) | undefined;
  /** How many rows were left out of the answer so far. */
  readonly omitted?: (() => number) | undefined;
  /** Whether the caller disconnected, so that nobody gets the answer. */
  readonly isGone?: (() => boolean) | undefined;
  /** Waits for a turn among the organisation's large requests. @throws AppError unavailable if too many are waiting */
  readonly takeTurn?: (() => Promise<void>) | undefined;
}

/** What every caller's context has, in all APIs: who calls, what that may cost, and what its answer may hold. */
export interface CallContext extends ExchangeHooks {
  readonly requestId: string;
  readonly principal: Caller;
  /**
   * Resolves once the caller's key has been read and is as expected, and rejects if it is not; undefined if it was read before. Whatever
   * does more than read must wait for it (docs/decisions/one-round-trip.md).
   */
  readonly accepted?: Promise<void> | undefined;
  /** Set by a write of operators that found the object that it would have created: it is answered with 200, not 201. Keys have no such write. */
  readonly isExisting?: boolean;
  /** The caller's budget of points, and for a key its organisation's, as this request has left them. */
  readonly rate: KeyRateState;
  /** How long work for this caller yields the event loop. */
  readonly pauses: Pauses;
  readonly idempotencyKey?: string | undefined;
  /** `what` begins the error's sentence. @throws AppError insufficient_scope for a missing scope, forbidden for a missing role */
  authorise(access: Access, what?: string): void;
  /** Takes more points for this request. @throws AppError rate_limited if there are not enough. */
  charge(points: number): Promise<void>;
  /**
   * Replays the answer stored for the write's Idempotency-Key; if there is none, runs it, with a unit of work that stores its answer.
   * Undefined for callers whose answers may contain secrets, of which none is stored.
   */
  once?(operation: string, args: unknown, run: (write?: UnitOfWork) => unknown): Promise<unknown>;
}

/** The context of a caller who reads data: a key, or a signed-in user, who reads figures alone. */
export interface FiguresContext extends CallContext {
  /** The data of the caller's organisation only. */
  readonly data: OrganisationData;
}

/** The context of a key: its organisation's data, for the resolvers of the public schema. */
export interface DataContext extends FiguresContext {
  readonly principal: KeyPrincipal;
  /** The organisation's. */
  readonly plan: Plan;
  /** The organisation's stored events, and waiting for more; exists also if this deployment records none. */
  readonly events: EventSource;
  /** The cursor from which to resume an interrupted stream, from the header Last-Event-ID. */
  readonly lastEventId?: string | undefined;
  /** Runs a write as one transaction, which inside `once` also stores its answer. */
  readonly write: UnitOfWork;
  /** The header If-None-Match of a write on REST. GraphQL and MCP have one header for several operations, so there it means nothing. */
  readonly ifNoneMatch?: string | undefined;
  once(...call: Parameters<NonNullable<CallContext['once']>>): Promise<unknown>;
  /** Faults of one element of a bulk call, by its input type. `hasObjects`: in the API that it came by, metadata is an object. */
  checkElement(type: string, value: unknown, room?: FaultLimits, hasObjects?: boolean): Findings;
}

/** The part of a key's context that fast reads need. */
export type ReadContext = Pick<DataContext, 'data' | 'trace' | 'accepted' | 'authorise'>;

/** The input of the context factory, the same for all APIs. */
export interface IncomingRequest extends ExchangeHooks {
  readonly requestId: string;
  readonly authorization: string | undefined;
  /** Read when an operation runs, since an MCP message carries it in its body. */
  readonly idempotencyKey: string | undefined;
  readonly address: string;
  /** Called with the budget as soon as it is known, and again when it changes. */
  readonly onRate: (rate: KeyRateState) => void;
  /** Called if the answer to a write is replayed. */
  readonly onReplay: () => void;
  /** Called with the caller as soon as it is known, for the log. */
  readonly onPrincipal: (principal: KeyPrincipal | OperatorPrincipal) => void;
  /** Called with the reason if authentication fails, for the log. */
  readonly onRefused?: (refusal: Refusal) => void;
  /** Called with the scope that the key lacks, or the alternatives joined by `or`, for the request log. */
  readonly onMissingScope?: (scope: string) => void;
  /** Runs a wait that needs neither the database nor a turn, such as that for events. */
  readonly waitIdle?: WaitIdle;
}

/**
 * `begin` is called while the key is being read, if it will probably be accepted, with the context that the request will have then. If the
 * key is as expected, that context is also the result; otherwise its `accepted` rejects, and the result is another.
 */
export type OpenContext<Context extends CallContext = CallContext> = (
  request: IncomingRequest,
  begin?: (expected: Context) => void,
) => Promise<Context>;
