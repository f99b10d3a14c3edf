import { setImmediate as turn } from 'node:timers/promises';
import { rateLimited, type RateLimiter } from '../admission/rateLimit';
import { OPERATOR } from '../auth/roles';
import type { OrganisationData } from '../database/organisationData';
import { AppError } from '../errors';
import type { OpenContext, RequestContext } from '../operations/context';
import type { FeedCaller } from './events';
import { type OperatorOptions, operatorOf } from './operator';
import { type TokenOptions, tokenAuthenticator } from './tokens';

export interface OperatorContextOptions extends Omit<TokenOptions, 'config'>, Omit<OperatorOptions, 'config'> {
  readonly config: TokenOptions['config'] & OperatorOptions['config'];
  /** Limits the requests of each token. */
  readonly limiter: RateLimiter;
  readonly checkElement: RequestContext['checkElement'];
  /** Checks whether the gateway may take one more request. @throws AppError unavailable */
  readonly admit: () => void;
}

/** The context factory of the operator API. Checks in the order of the contract, section 2: token, rate. */
export function operatorContextFactory(options: OperatorContextOptions): OpenContext {
  const { limiter, admit } = options;
  const authenticate = tokenAuthenticator(options);
  return async (request) => {
    const { requestId, authorization, address, idempotencyKey, onRate, onReplay, onPrincipal, onRefused } = request;
    const name = await authenticate(authorization, address, onRefused);
    onPrincipal({ kind: 'operator', name });
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
    const caller = {
      holder: { key: name, owner: 'operators' },
      // tokens do not change while a gateway runs
      recheck: () => Promise.resolve(),
      charge: async (points: number) => {
        await take(points);
      },
      waitIdle: request.waitIdle ?? ((wait) => wait(new AbortController().signal)),
    } satisfies FeedCaller;
    return {
      requestId,
      trace: request.trace,
      // an operator does not act for an organisation; this cannot be a getter that throws, since Apollo copies contexts
      principal: undefined as never,
      data: NO_DATA,
      operator: operatorOf(options, { who: `operator:${name}`, from: address }, { attempt, caller }),
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
      write: () => Promise.reject(new Error("operators write an organisation's data through `operator`")),
      // no answer is stored, since it may contain a secret: `operator` stores the ids of what it creates
      once: (_operation, _args, run) => Promise.resolve(run()),
      idempotencyKey,
      checkElement: options.checkElement,
      countAnswer: request.countAnswer,
      holdRows: request.holdRows,
      isGone: request.isGone,
      takeTurn: request.takeTurn,
    };
  };
}

/** Operators write an organisation's data through `operator` alone, but writing a long answer still yields to other requests. */
const NO_DATA = { yieldToOthers: () => turn(), yieldTurn: () => turn(), budget: () => undefined } as Pick<
  OrganisationData,
  'yieldToOthers' | 'yieldTurn' | 'budget'
> as OrganisationData;
