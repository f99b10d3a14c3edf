import { requireState } from '../auth/authenticate';
import { type RateLimiter, spend } from '../admission/rateLimit';
import type { Config } from '../config';
import type { Control } from '../organisations/control';
import { includesRole } from '../auth/roles';
import type { RequestContext } from '../operations/context';
import { stampedWrite } from '../database/openWrites';
import type { OrganisationData, OrganisationDataCache } from '../database/organisationData';
import { AppError } from '../errors';
import type { Session } from '../organisations/sessions';
import type { OwnWebhooks } from '../webhooks/management';
import { type Exchange, createIncomingRequest } from '../http/exchange';
import { type BrowserSessions, checkCsrf, checkOrigin } from './cookies';

export interface UserContextOptions {
  readonly config: Config;
  readonly control: Control;
  readonly sessions: BrowserSessions;
  /** Limits the requests of each user. */
  readonly limiter: RateLimiter;
  readonly organisationData: OrganisationDataCache;
  /** The webhooks of a user's organisation, acting from a network address. */
  readonly webhooks: (session: Session, from: string) => OwnWebhooks;
}

/** The name of a user's budget, the same in both modes. */
export const userBudget = ({ home, user }: Session): string => `user:${home}:${user.id}`;

export function userContexts(options: UserContextOptions) {
  const { config, control, sessions, limiter, organisationData } = options;

  /** The context of a session. Checks rate (429) and the organisation's state (403); roles are checked per operation. */
  async function of(exchange: Exchange, session: Session): Promise<RequestContext> {
    const { requestId, address, log } = exchange;
    const { countAnswer } = createIncomingRequest(exchange);
    const { organisation, user, role } = session;
    const principal = { kind: 'user', organisation, user, role } as const;
    log.principal = principal;
    const budget = userBudget(session);
    let rate = await spend(limiter, budget, 1);
    requireState(organisation);
    // not before it is needed, so that keys can be revoked while the organisation's database is away
    const dataOf = (): OrganisationData => organisationData(organisation);
    return {
      requestId,
      principal,
      get data() {
        return dataOf();
      },
      integrations: control.integrations(session, address),
      webhooks: options.webhooks(session, address),
      get rate() {
        return rate;
      },
      authorise({ role: needed }) {
        if (needed === undefined) {
          throw new AppError('forbidden', 'This operation requires an API key; signed-in users can only manage keys.');
        }
        if (!includesRole(role, needed)) {
          throw new AppError(
            'forbidden',
            `This operation requires the role ${needed}; yours is ${role}. Ask an admin of the organisation.`,
          );
        }
      },
      async charge(points) {
        rate = await spend(limiter, budget, points);
      },
      write: (work, how) => stampedWrite(dataOf(), work, { ...how, by: `user:${user.id}` }),
      // no answer is stored, since it may contain a key
      once: (_operation, _args, run) => Promise.resolve(run()),
      idempotencyKey: undefined,
      checkElement: () => ({ faults: [], more: 0, isTruncated: false }),
      countAnswer,
    };
  }

  return {
    of,
    /** The context of a signed-in user. Before {@link of}, checks session (401; 429 after too many without one), origin and CSRF token (403). */
    open: async (exchange: Exchange): Promise<RequestContext> => {
      const { request } = exchange;
      const found = await sessions.find(exchange);
      if (!found) {
        throw new AppError(
          'unauthenticated',
          'You are not signed in, or your session has expired. Sign in at /settings/sign-in.',
        );
      }
      checkOrigin(request, config.PUBLIC_URL);
      checkCsrf(request.headers['x-csrf-token'], found);
      return of(exchange, found.session);
    },
  };
}
