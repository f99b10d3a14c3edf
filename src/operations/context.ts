import { LRUCache } from 'lru-cache';
import { type Authenticate, type Refusal, requireAccess } from '../auth/authenticate';
import { fingerprint } from '../auth/keys';
import type { KeyPrincipal, OperatorPrincipal, Organisation, Principal } from '../auth/principal';
import { type KeyRateLimiter, type KeyRateState, rateLimited } from '../admission/rateLimit';
import { stampedWrite } from '../database/openWrites';
import type { OrganisationDataCache, UnitOfWork } from '../database/organisationData';
import { AppError, type Fault, type FaultLimits, type Findings } from '../errors';
import { checkIdempotencyKey, idempotentWrite } from '../database/idempotency';
import type { EventSource } from '../events/source';
import type { WaitIdle, WaitingCaller } from '../events/waiting';
import type { Integrations } from '../organisations/integrations';
import type { Trace } from '../tracing/index';
import { headStart, type HeadStart, type ReadAhead, type ReadContext } from './ahead';
import type { OwnWebhooks } from '../webhooks/management';

/** A stored row that cannot be served (docs/decisions/invalid-rows.md). */
export interface InvalidRow {
  readonly collection: string;
  readonly id: string;
  readonly fault: Fault;
}

/** The context of every resolver, in all APIs: the caller, its permissions, and its organisation's data. */
export interface RequestContext extends ReadContext {
  readonly requestId: string;
  readonly principal: Principal;
  /** Keys, usage and audit log of the organisation, for a signed-in user only. */
  readonly integrations?: Integrations;
  /** The webhooks of the organisation, for a signed-in user only. */
  readonly webhooks?: OwnWebhooks;
  /** The operator's operations, for an operator only. */
  readonly operator?: object;
  /** Called by a write if the object that it would create already exists. */
  readonly noteExisting?: () => void;
  /** Whether `noteExisting` was called. */
  readonly isExisting?: boolean;
  /** The organisation's events, for a key only. */
  readonly events?: EventSource | undefined;
  /** The cursor from which to resume an interrupted stream, from the header Last-Event-ID. */
  readonly lastEventId?: string | undefined;
  /** The key's budget, and its organisation's, after the points of this request. */
  readonly rate: KeyRateState;
  /** Takes more points for this request. @throws AppError rate_limited if there are not enough. */
  charge(points: number): Promise<void>;
  /** Runs a write as one transaction. */
  readonly write: UnitOfWork;
  /** Replays the answer stored for the write's Idempotency-Key; if there is none, runs it, with a unit of work that stores its answer. */
  once(operation: string, args: unknown, run: (write?: UnitOfWork) => unknown): Promise<unknown>;
  readonly idempotencyKey: string | undefined;
  /** The header of a write on REST. GraphQL and MCP have one header for several operations, so there it means nothing. */
  readonly ifNoneMatch?: string | undefined;
  /** Faults of one element of a bulk call, by its input type. `hasObjects`: in the API that it came by, metadata is an object. */
  checkElement(type: string, value: unknown, room?: FaultLimits, hasObjects?: boolean): Findings;
  /** Counts the bytes of the answer to a read so far. @throws AppError unavailable if that is too many */
  readonly countAnswer?: ((bytes: number) => void) | undefined;
  /** Counts bytes of rows that were read and are kept in memory. @throws AppError unavailable or invalid_request if they are too many */
  readonly holdRows?: ((bytes: number) => void) | undefined;
  /** Notes a row that cannot be served: for the log, and if it (or as many as `rows`) was left out of the answer also for the caller. */
  readonly noteInvalid?: ((row: InvalidRow, what: 'omitted' | 'refused', rows?: number) => void) | undefined;
  /** How many rows were left out of the answer so far. */
  readonly omitted?: (() => number) | undefined;
  /** Whether the caller disconnected, so that nobody gets the answer. */
  readonly isGone?: (() => boolean) | undefined;
  /** Waits for a turn among the organisation's large requests. @throws AppError unavailable if too many are waiting */
  readonly takeTurn?: (() => Promise<void>) | undefined;
  /** What was read ahead; undefined if nothing was. */
  readonly ahead?: HeadStart['ahead'];
}

/** The input of the context factory, the same for all APIs. */
export interface IncomingRequest {
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
  /** Runs an operation in its own span; undefined if the request is not traced. */
  readonly trace?: Trace | undefined;
  readonly waitIdle?: WaitIdle;
  /** Counts the bytes of the answer so far. @throws AppError unavailable if that is too many */
  readonly countAnswer?: (bytes: number) => void;
  readonly holdRows?: RequestContext['holdRows'];
  readonly isGone?: RequestContext['isGone'];
  readonly noteInvalid?: RequestContext['noteInvalid'];
  readonly omitted?: RequestContext['omitted'];
  readonly takeTurn?: RequestContext['takeTurn'];
}

/** `readAhead` is called before the request's key is read, if that is worth it (docs/decisions/one-round-trip.md). */
export type OpenContext = (request: IncomingRequest, readAhead?: ReadAhead) => Promise<RequestContext>;

interface ContextOptions {
  readonly authenticate: Authenticate;
  readonly limiter: KeyRateLimiter;
  readonly organisationData: OrganisationDataCache;
  readonly checkElement: RequestContext['checkElement'];
  /** Checks whether an organisation may have one more request in progress. @throws AppError unavailable */
  readonly admit?: (organisation: Organisation) => void;
  /** Whether requests may read ahead now. */
  readonly isCalm?: () => boolean;
  readonly eventSource?: (caller: WaitingCaller) => EventSource;
  /** Called if a key over its limit is rejected without a lookup. */
  readonly onOverLimit?: () => void;
}

/** Size and TTL (ms) of the cache of callers over their limit. */
const OVER_LIMIT_KEPT = { max: 5000, ttl: 1000 };

/**
 * The context factory of all APIs. Checks in the order of contract, section 2: key, rate, state, plan; scopes are checked per operation.
 */
export function contextFactory(options: ContextOptions): OpenContext {
  const { authenticate, limiter, organisationData, checkElement, admit, isCalm, eventSource, onOverLimit } = options;
  // callers over their limit a moment ago: rejected again without a lookup of the key, but never admitted without one
  const overLimit = new LRUCache<string, KeyPrincipal>(OVER_LIMIT_KEPT);

  /** @throws AppError if a request would be refused */
  function contextOf(expected: KeyPrincipal): ReadContext {
    const { organisation } = expected;
    requireAccess(organisation);
    admit?.(organisation);
    return { data: organisationData(organisation), authorise: authoriserOf(expected) };
  }

  return async (request, readAhead) => {
    const { requestId, authorization, address, onRate, onReplay, onPrincipal, onRefused } = request;
    const caller = (): string => fingerprint(`${address} ${authorization ?? ''}`);
    const paid = await payIfOverLimit();
    // a dropped read would leave spans in the trace
    const isAhead = readAhead && !request.trace && (isCalm?.() ?? true);
    const early = isAhead ? headStart({ limiter, paid, readAhead, contextOf }) : undefined;
    const principal = await authenticate(authorization, address, onRefused, early?.onExpected).catch(early?.giveUp);
    onPrincipal(principal);
    const start = await early?.take();
    if (paid) onRate(paid);
    let rate = paid ?? (await take(1, start?.rate));
    requireAccess(principal.organisation);
    admit?.(principal.organisation);
    const data = organisationData(principal.organisation);
    const by = `key:${principal.key.id}` as const;

    /** Takes the point of a caller that was over its limit; undefined for other callers. */
    async function payIfOverLimit(): Promise<KeyRateState | undefined> {
      // the hash that this takes costs a hundredth of a request
      const known = overLimit.size === 0 ? undefined : overLimit.get(caller());
      if (!known) return undefined;
      const state = await limiter.consume(known);
      if (state.allowed) return state;
      onPrincipal(known);
      onOverLimit?.();
      onRate(state);
      throw rateLimited(state);
    }

    async function take(points: number, taken?: KeyRateState): Promise<KeyRateState> {
      const state = taken ?? (await limiter.consume(principal, points));
      onRate(state);
      if (state.allowed) return state;
      overLimit.set(caller(), principal);
      throw rateLimited(state);
    }

    return {
      requestId,
      trace: request.trace,
      principal,
      data,
      // created on demand, since few requests are about events
      get events() {
        const { key, organisation } = principal;
        return eventSource?.({
          organisationId: organisation.id,
          holder: { key: key.id, owner: organisation.sandbox_of ?? organisation.id },
          recheck: async () => {
            requireAccess((await authenticate(authorization, address)).organisation);
          },
          charge: async (points) => {
            await take(points);
          },
          waitIdle: request.waitIdle ?? ((wait) => wait(new AbortController().signal)),
        });
      },
      get rate() {
        return rate;
      },
      authorise: authoriserOf(principal, request.onMissingScope),
      async charge(points) {
        rate = await take(points);
      },
      write: (work, how) => stampedWrite(data, work, { ...how, by }),
      get idempotencyKey() {
        return request.idempotencyKey;
      },
      async once(operation, args, run) {
        const { idempotencyKey } = request;
        if (idempotencyKey === undefined) return run();
        const key = checkIdempotencyKey(idempotencyKey);
        const call = { keyId: principal.key.id, by, idempotencyKey: key, operation, args, onReplay };
        const { replay, write } = await idempotentWrite(data, call);
        const first = await replay();
        return first ? first.answer : run(write);
      },
      checkElement,
      countAnswer: request.countAnswer,
      holdRows: request.holdRows,
      isGone: request.isGone,
      noteInvalid: request.noteInvalid,
      omitted: request.omitted,
      takeTurn: request.takeTurn,
      ahead: start?.ahead,
    };
  };
}

function authoriserOf(
  { scopes }: KeyPrincipal,
  onMissing?: IncomingRequest['onMissingScope'],
): RequestContext['authorise'] {
  return ({ scope, anyOf, role }, what = 'This') => {
    if (role !== undefined)
      throw new AppError('forbidden', 'This operation is for signed-in users; API keys cannot use it.');
    if (anyOf && !anyOf.some((one) => scopes.has(one))) {
      onMissing?.(anyOf.join(' or '));
      throw new AppError('insufficient_scope', `${what} needs a key with one of the scopes ${anyOf.join(', ')}.`);
    }
    if (scope === undefined || scopes.has(scope)) return;
    onMissing?.(scope);
    throw new AppError('insufficient_scope', `${what} needs a key with the scope ${scope}.`, { requiredScope: scope });
  };
}
