import { requireState } from '../auth/authenticate';
import { type RateLimiter, spend } from '../admission/rateLimit';
import type { RequestTracker } from '../admission/requestTracker';
import type { Config } from '../config';
import type { Admin, AdminOf } from '../admin';
import { asUser } from '../admin/caller';
import { includesRole } from '../auth/roles';
import type { FiguresContext } from '../operations/context';
import type { OrganisationDataCache } from '../tenant/organisationDataCache';
import { AppError } from '../errors';
import type { Session } from '../organisations/sessions';
import { type Exchange, createIncomingRequest } from '../http/exchange';
import { type BrowserSessions, checkCsrf, checkOrigin } from './cookies';
import { requireInsights } from './insights';

export interface UserContextOptions {
  readonly config: Config;
  readonly admin: AdminOf;
  readonly sessions: BrowserSessions;
  /** Limits the requests of each user. */
  readonly limiter: RateLimiter;
  readonly organisationData: OrganisationDataCache;
  readonly tracker: Pick<RequestTracker<Exchange>, 'admitOrganisation'>;
}

/** The context of a signed-in user, who manages keys and reads figures; it has nothing that writes data. */
export interface UserContext extends FiguresContext {
  readonly admin: Admin;
}

const NEEDS_KEY = 'This operation requires an API key; signed-in users manage keys, and read no data but figures.';

/** The id under which a user's points are counted, the same for live data and the sandbox. */
export const userBudget = ({ home, user }: Session): string => `user:${home}:${user.id}`;

export function createUserContexts(options: UserContextOptions) {
  const { config, sessions, limiter, organisationData, tracker } = options;

  /** The context of a session. Checks rate (429) and the organisation's state (403); roles are checked per operation. */
  async function contextOf(exchange: Exchange, session: Session): Promise<UserContext> {
    const { requestId, address, log } = exchange;
    const { countAnswer, holdRows, isGone, noteInvalid, omitted } = createIncomingRequest(exchange);
    const { organisation, user, role } = session;
    const principal = { kind: 'user', organisation, user, role } as const;
    log.principal = principal;
    const budget = userBudget(session);
    let rate = await spend(limiter, budget, 1);
    requireState(organisation);
    const data = organisationData(organisation);
    return {
      requestId,
      principal,
      data,
      pauses: data,
      admin: options.admin(asUser(session, address)),
      get rate() {
        return rate;
      },
      authorise({ role: needed, isFigure }) {
        if (needed === undefined) {
          if (!isFigure) throw new AppError('forbidden', NEEDS_KEY);
          requireInsights(config.INSIGHTS, role);
          tracker.admitOrganisation(organisation);
          return;
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
      countAnswer,
      holdRows,
      isGone,
      noteInvalid,
      omitted,
    };
  }

  return {
    of: contextOf,
    /** The context of a signed-in user. Before {@link contextOf}, checks session (401; 429 after too many without one), origin and CSRF token (403). */
    open: async (exchange: Exchange): Promise<UserContext> => {
      const { request } = exchange;
      const openSession = await sessions.find(exchange);
      if (!openSession) {
        throw new AppError(
          'unauthenticated',
          'You are not signed in, or your session has expired. Sign in at /settings/sign-in.',
        );
      }
      checkOrigin(request, config.PUBLIC_URL);
      checkCsrf(request.headers['x-csrf-token'], openSession);
      return contextOf(exchange, openSession.session);
    },
  };
}
