import { LRUCache } from 'lru-cache';
import type { Authenticate } from './access/authenticate';
import { rateLimited, requirePlan } from './access/authenticate';
import type { KeyPrincipal, Organisation, Principal } from './access/principal';
import type { RateLimiter, RateState } from './access/rateLimit';
import type { Role } from './access/roles';
import type { Scope } from './access/scopes';
import { stampedWrite } from './database/openWrites';
import type { OrganisationData, OrganisationDataCache, UnitOfWork } from './database/organisationData';
import { AppError, type Findings } from './errors';
import { checkIdempotencyKey, idempotentWrite } from './database/idempotency';
import type { Integrations } from './organisations/integrations';

/** What a field asks of whoever calls it: a scope of a key, or a role of a user; neither: any key. */
export interface Access {
  readonly scope: Scope | undefined;
  readonly role: Role | undefined;
}

/** What every resolver of both faces gets: who asks, what that may do, and its organisation's data. */
export interface RequestContext {
  readonly requestId: string;
  readonly principal: Principal;
  /** The data of the principal's organisation, and of no other. */
  readonly data: OrganisationData;
  /** Keys, usage and audit log of the organisation, for a signed-in user; a key has none. */
  readonly integrations?: Integrations;
  /** The key's budget after this request took its points. */
  readonly rate: RateState;
  /** @throws AppError insufficient_scope for a scope, forbidden for a role, that the principal does not have. */
  authorise(access: Access): void;
  /** Takes further points for this request. @throws AppError rate_limited when they are not there. */
  charge(points: number): Promise<void>;
  /** Runs a write as one transaction, its idempotency record in it where the request has a key for that. */
  readonly write: UnitOfWork;
  /** Answers a write again with its first answer where its Idempotency-Key has one, else runs it. */
  once(operation: string, args: unknown, run: () => unknown): Promise<unknown>;
  readonly idempotencyKey: string | undefined;
  /** Faults of one element of a bulk call, by its input type. */
  checkElement(type: string, element: unknown): Findings;
}

/** What a context is made from: the same for both faces. */
export interface IncomingRequest {
  readonly requestId: string;
  readonly authorization: string | undefined;
  readonly idempotencyKey: string | undefined;
  /** Network address of the caller. */
  readonly address: string;
  /** Told of the budget as soon as it is known, and again when it changes. */
  readonly onRate: (rate: RateState) => void;
  /** Told when a write was answered with its first answer. */
  readonly onReplay: () => void;
  /** Told who asks as soon as that is known, for the log. */
  readonly onPrincipal: (principal: KeyPrincipal) => void;
}

export type OpenContext = (request: IncomingRequest) => Promise<RequestContext>;

export interface ContextOptions {
  readonly authenticate: Authenticate;
  readonly limiter: RateLimiter;
  readonly organisationData: OrganisationDataCache;
  readonly checkElement: RequestContext['checkElement'];
  /** Judges whether one more request of an organisation may go on. @throws AppError unavailable */
  readonly admit?: (organisation: Organisation) => void;
  /** Told of a key that is refused for its limit without being looked up. */
  readonly onSpentKey?: () => void;
}

/** Callers over their limit that are remembered, and how long, in milliseconds. */
const SPENT_KEPT = { max: 5000, ttl: 1000 };

/**
 * The one context factory of both faces. Judges in the order of contract, section 2: key, rate, plan; scopes follow with
 * each operation.
 */
export function contextFactory(options: ContextOptions): OpenContext {
  const { authenticate, limiter, organisationData, checkElement, admit, onSpentKey } = options;
  // who was over its limit a moment ago: refused again without a look at its key, and let in never without one
  const spent = new LRUCache<string, KeyPrincipal>(SPENT_KEPT);

  return async ({ requestId, authorization, idempotencyKey, address, onRate, onReplay, onPrincipal }) => {
    const caller = `${address} ${authorization ?? ''}`;
    const paid = await payIfSpent();
    const principal = await authenticate(authorization, address);
    onPrincipal(principal);
    if (paid) onRate(paid);
    let rate = paid ?? (await take(1));
    requirePlan(principal.organisation);
    admit?.(principal.organisation);
    const data = organisationData(principal.organisation);

    /** Takes the point of a caller that was over its limit; undefined for any other. */
    async function payIfSpent(): Promise<RateState | undefined> {
      const known = spent.get(caller);
      if (!known) return undefined;
      const state = await limiter.consume(known.key.id);
      if (state.allowed) return state;
      onPrincipal(known);
      onSpentKey?.();
      onRate(state);
      throw rateLimited(state);
    }

    let unit: UnitOfWork = (work, how) => stampedWrite(data, work, how);

    async function take(points: number): Promise<RateState> {
      const state = await limiter.consume(principal.key.id, points);
      onRate(state);
      if (state.allowed) return state;
      spent.set(caller, principal);
      throw rateLimited(state);
    }

    return {
      requestId,
      principal,
      data,
      get rate() {
        return rate;
      },
      authorise({ scope, role }) {
        if (role !== undefined) throw new AppError('forbidden', 'This is for signed-in users; no API key may do it.');
        if (scope === undefined || principal.scopes.has(scope)) return;
        throw new AppError('insufficient_scope', `This needs a key with the scope ${scope}.`, { requiredScope: scope });
      },
      async charge(points) {
        rate = await take(points);
      },
      write: (work, how) => unit(work, how),
      idempotencyKey,
      async once(operation, args, run) {
        if (idempotencyKey === undefined) return run();
        const key = checkIdempotencyKey(idempotencyKey);
        const call = { keyId: principal.key.id, idempotencyKey: key, operation, args, onReplay };
        const { replay, write } = idempotentWrite(data, call);
        unit = write;
        const first = await replay();
        return first ? first.answer : run();
      },
      checkElement,
    };
  };
}
