import { rateLimited, type RateLimiter } from '../admission/rateLimit';
import { OPERATOR } from '../auth/roles';
import type { Pauses } from '../async/yield';
import { AppError } from '../errors';
import type { CreationHooks } from '../admin/organisations';
import type { CallContext, OpenContext } from '../operations/context';
import type { FeedCaller } from './events';
import { type Operator, type OperatorOptions, createOperator } from './operator';
import { type TokenOptions, tokenAuthenticator } from './tokens';

export interface OperatorContextOptions
  extends Omit<TokenOptions, 'config'>, Omit<OperatorOptions, 'config' | 'databases'> {
  readonly config: TokenOptions['config'] & OperatorOptions['config'];
  /** Limits the requests of each token. */
  readonly limiter: RateLimiter;
  readonly databases: OperatorOptions['databases'] & { readonly pauses: Pauses };
  /** Checks whether the gateway may take one more request. @throws AppError unavailable */
  readonly admit: () => void;
}

/** The context of an operator, who acts for no organisation. */
export interface OperatorContext extends CallContext, CreationHooks {
  readonly operator: Operator;
}

/**
 * Returns a function that opens the context of a request, once its token (401) and rate (429) are checked, in the order of the contract,
 * section 2.
 */
export function operatorContextFactory(options: OperatorContextOptions): OpenContext<OperatorContext> {
  const { limiter, admit } = options;
  const authenticate = tokenAuthenticator(options);
  return async (request) => {
    const { requestId, authorization, address, idempotencyKey, onRate, onReplay, onPrincipal, onRefused } = request;
    const name = await authenticate(authorization, address, onRefused);
    const principal = { kind: 'operator', name } as const;
    onPrincipal(principal);
    // takes points and reports what is left
    const take = async (points: number) => {
      const state = await limiter.consume(`operator ${name}`, points);
      onRate(state);
      if (!state.allowed) throw rateLimited(state);
      return state;
    };
    let rate = await take(1);
    admit();
    let isExisting = false;
    const attempt = idempotencyKey === undefined ? undefined : { idempotencyKey, onReplay };
    // for the limits on requests that wait for events, a token counts as a key, and all operators together as an organisation
    const caller = {
      holder: { caller: name, organisation: 'operators' },
      // tokens do not change while a gateway runs
      recheck: () => Promise.resolve(),
      // only streams call it, and operators have none
      charge: async (points: number) => {
        await take(points);
      },
      waitIdle: request.waitIdle ?? ((wait) => wait(new AbortController().signal)),
    } satisfies FeedCaller;
    return {
      requestId,
      trace: request.trace,
      principal,
      pauses: options.databases.pauses,
      operator: createOperator(options, { who: `operator:${name}`, from: address }, { attempt, caller }),
      noteExisting: () => {
        isExisting = true;
      },
      get isExisting() {
        return isExisting;
      },
      get rate() {
        return rate;
      },
      authorise({ role }) {
        if (role !== OPERATOR) throw new AppError('forbidden', 'This operation is not for operators.');
      },
      async charge(points) {
        rate = await take(points);
      },
      idempotencyKey,
      countAnswer: request.countAnswer,
      holdRows: request.holdRows,
      isGone: request.isGone,
      noteInvalid: request.noteInvalid,
      noteElements: request.noteElements,
      omitted: request.omitted,
      takeTurn: request.takeTurn,
    };
  };
}
