import { isDeepStrictEqual } from 'node:util';
import { LRUCache } from 'lru-cache';
import { type KeyRateLimiter, type KeyRateState, rateLimited } from '../admission/rateLimit';
import { type Authenticate, requirePlan, requireState } from '../auth/authenticate';
import { digestOf } from '../auth/digest';
import type { Plans } from '../auth/plans';
import type { KeyPrincipal, Organisation } from '../auth/principal';
import { createIdempotentWrite } from '../tenant/idempotency';
import { stampedWrite } from '../tenant/openWrites';
import type { OrganisationDataCache } from '../tenant/organisationDataCache';
import { AppError } from '../errors';
import { checkIdempotencyKey } from '../errors/idempotencyKey';
import type { EventSource } from '../events/source';
import type { WaitingCaller } from '../events/waiting';
import { published } from '../schema/model';
import type { DataContext, OpenContext } from './context';

interface ContextOptions {
  readonly authenticate: Authenticate;
  readonly plans: Plans;
  /** Called if an organisation is refused because the configuration lacks its plan. */
  readonly onUnknownPlan?: (organisation: Organisation) => void;
  readonly limiter: KeyRateLimiter;
  readonly organisationData: OrganisationDataCache;
  readonly checkElement: DataContext['checkElement'];
  /** Checks whether an organisation may have one more request in progress. @throws AppError unavailable */
  readonly admit?: (organisation: Organisation) => void;
  /** Whether few enough requests are in progress that new ones may begin before their keys are read; always by default. */
  readonly isCalm?: () => boolean;
  readonly eventSource: (caller: WaitingCaller) => EventSource;
  /** Called if a key over its limit is rejected without a lookup. */
  readonly onOverLimit?: () => void;
}

/** Size and TTL (ms) of the cache of callers over their limit. */
const OVER_LIMIT_KEPT = { max: 5000, ttl: 1000 };

/**
 * Opens the contexts of requests with a key, for all APIs. Checks in the order of contract, section 2: key, rate, state, plan; scopes are checked per operation.
 *
 * A read of an object or a list may run before its key is read, if the key was accepted before (docs/decisions/one-round-trip.md). In order:
 * 1. `authenticate` remembers whose the key was, calls `onExpected` with that, and reads the key all the same.
 * 2. `beginAs` takes the point and makes a context with an `accepted` that is pending. Its `start` has both.
 * 3. `begin`, which the API gave (rest/index.ts), runs the operation with that context and keeps what comes of it, `passed`. A read that is
 *    one command is sent now; whatever does more, and the answer, waits for `accepted` (operations/run.ts).
 * 4. The key has been read. If its caller is the expected one, `accept` resolves `accepted`, and the result is the same context: by that
 *    the API knows that `passed` is the answer.
 * 5. Otherwise `drop` rejects `accepted` and gives the point back, and the request begins again with a context of its own, or has its 401.
 */
export function createOpenContext(options: ContextOptions): OpenContext<DataContext> {
  const { plans, onUnknownPlan } = options;
  const { authenticate, limiter, organisationData, checkElement, admit, isCalm, eventSource, onOverLimit } = options;
  /** @throws AppError organisation_suspended; plan_required */
  function requireAccess(organisation: Organisation): void {
    requireState(organisation);
    if (plans.hasApi(organisation)) return;
    if (!plans.has(organisation.plan)) onUnknownPlan?.(organisation);
    requirePlan(plans, organisation);
  }

  // callers over their limit a moment ago: rejected again without a lookup of the key, but never admitted without one
  const overLimit = new LRUCache<string, KeyPrincipal>(OVER_LIMIT_KEPT);

  return async (request, begin) => {
    const { requestId, authorization, address, onRate, onReplay, onPrincipal, onRefused, onMissingScope } = request;
    // a digest, so that no key stays in memory
    const caller = (): string => digestOf(`${address} ${authorization ?? ''}`);
    const paid = await payIfOverLimit();
    // a request that begins early and is dropped would leave spans in the trace
    const mayBegin = begin && !request.trace && (isCalm?.() ?? true);
    let early: EarlyRequest | undefined;
    const onExpected = (expected: KeyPrincipal): void => {
      early = beginAs(expected);
    };
    const principal = await authenticate(authorization, address, onRefused, mayBegin ? onExpected : undefined).catch(
      (error: unknown) => {
        early?.drop();
        throw error;
      },
    );
    onPrincipal(principal);
    if (early && isDeepStrictEqual(early.caller, principal)) {
      const { rate, context } = await early.start;
      requirePoints(principal, rate);
      early.accept();
      return context ?? contextOf(principal, rate);
    }
    early?.drop();
    const rate = paid ?? (await limiter.consume(principal));
    requirePoints(principal, rate);
    return contextOf(principal, rate);

    /** Takes the point of a caller that was over its limit a moment ago; undefined for other callers. @throws AppError rate_limited */
    async function payIfOverLimit(): Promise<KeyRateState | undefined> {
      // the hash that this takes costs a hundredth of a request
      const knownCaller = overLimit.size === 0 ? undefined : overLimit.get(caller());
      if (!knownCaller) return undefined;
      const state = await limiter.consume(knownCaller);
      if (state.allowed) return state;
      onPrincipal(knownCaller);
      onOverLimit?.();
      onRate(state);
      throw rateLimited(state);
    }

    /** Begins the request of a caller whose key is being read. */
    function beginAs(expected: KeyPrincipal): EarlyRequest {
      const { accepted, accept, reject } = createAcceptance();
      const start = (async () => {
        const state = paid ?? (await limiter.consume(expected));
        try {
          if (!state.allowed) return { rate: state };
          const context = contextOf(expected, state, accepted);
          begin?.(context);
          return { rate: state, context };
        } catch {
          // the request runs into the same error once its key is read
          return { rate: state };
        }
      })();
      // an accepted request awaits it, and gets its error
      start.catch(() => undefined);
      return {
        caller: expected,
        start,
        accept,
        drop() {
          reject(new Error('the key is not as expected'));
          const giveBack = ({ rate }: { rate: KeyRateState }) =>
            rate.allowed && !paid ? limiter.consume(expected, -1) : undefined;
          start.then(giveBack).catch(() => undefined);
        },
      };
    }

    /** Tells the caller its budget, and remembers a caller over it. @throws AppError rate_limited for that one */
    function requirePoints(principal: KeyPrincipal, state: KeyRateState): void {
      onRate(state);
      if (state.allowed) return;
      overLimit.set(caller(), principal);
      throw rateLimited(state);
    }

    /** @throws AppError if the organisation may not use the API now */
    function contextOf(principal: KeyPrincipal, first: KeyRateState, accepted?: Promise<void>): DataContext {
      requireAccess(principal.organisation);
      admit?.(principal.organisation);
      const whole = organisationData(principal.organisation);
      const { customerIds } = principal.key;
      const data = customerIds ? whole.restrictedTo(customerIds) : whole;
      const by = `key:${principal.key.id}` as const;
      let rate = first;
      const charge = async (points: number): Promise<void> => {
        rate = await limiter.consume(principal, points);
        requirePoints(principal, rate);
      };
      // a request that begins early may be dropped, and is noted only if it is not
      const noteMissing = (scope: string): void => {
        if (accepted) accepted.then(() => onMissingScope?.(scope)).catch(() => undefined);
        else onMissingScope?.(scope);
      };
      // no spread: beside accessors, it takes V8 half a microsecond a member
      return {
        requestId,
        trace: request.trace,
        accepted,
        principal,
        data,
        pauses: data,
        // created on demand, since few requests are about events
        get events() {
          const { key, organisation } = principal;
          return eventSource({
            organisationId: organisation.id,
            customerIds,
            // a sandbox's waits count as its organisation's
            holder: { caller: key.id, organisation: organisation.sandbox_of ?? organisation.id },
            recheck: async ({ types }) => {
              const current = await authenticate(authorization, address);
              requireAccess(current.organisation);
              const authorise = authoriserOf(current, noteMissing);
              for (const { name, scope } of published.eventTypes) {
                if (types?.has(name) ?? true) authorise({ scope, role: undefined }, `The event type ${name}`);
              }
            },
            charge,
            waitIdle: request.waitIdle ?? ((wait) => wait(new AbortController().signal)),
          });
        },
        get rate() {
          return rate;
        },
        get plan() {
          return plans.of(principal.organisation);
        },
        authorise: authoriserOf(principal, noteMissing),
        charge,
        write: (work, how) => stampedWrite(data, work, { ...how, by }),
        get idempotencyKey() {
          return request.idempotencyKey;
        },
        async once(operation, args, run) {
          const { idempotencyKey } = request;
          if (idempotencyKey === undefined) return run();
          const key = checkIdempotencyKey(idempotencyKey);
          const call = { keyId: principal.key.id, by, idempotencyKey: key, operation, args, onReplay };
          const { replay, write } = await createIdempotentWrite(data, call);
          const first = await replay();
          return first ? first.answer : run(write);
        },
        checkElement,
        countAnswer: request.countAnswer,
        holdRows: request.holdRows,
        isGone: request.isGone,
        noteInvalid: request.noteInvalid,
        noteElements: request.noteElements,
        omitted: request.omitted,
        takeTurn: request.takeTurn,
      };
    }
  };
}

/** A request that began before its key was read. */
interface EarlyRequest {
  readonly caller: KeyPrincipal;
  /** The budget after its point, and the context that it began with. */
  readonly start: Promise<{ readonly rate: KeyRateState; readonly context?: DataContext }>;
  readonly accept: () => void;
  /** Rejects what waits for its key, and gives its point back. */
  readonly drop: () => void;
}

/** A promise with the functions that resolve and reject it; a rejection that nothing waits for is no error. */
function createAcceptance() {
  let accept: () => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  const accepted = new Promise<void>((resolve, refuse) => {
    [accept, reject] = [resolve, refuse];
  });
  accepted.catch(() => undefined);
  return { accepted, accept, reject };
}

function authoriserOf({ scopes }: KeyPrincipal, onMissing: (scope: string) => void): DataContext['authorise'] {
  return ({ scope, anyOf, role }, what = 'This') => {
    if (role !== undefined)
      throw new AppError('forbidden', 'This operation is for signed-in users; API keys cannot use it.');
    if (anyOf && !anyOf.some((alternative) => scopes.has(alternative))) {
      onMissing(anyOf.join(' or '));
      throw new AppError('insufficient_scope', `${what} needs a key with one of the scopes ${anyOf.join(', ')}.`);
    }
    if (scope === undefined || scopes.has(scope)) return;
    onMissing(scope);
    throw new AppError('insufficient_scope', `${what} needs a key with the scope ${scope}.`, { requiredScope: scope });
  };
}
