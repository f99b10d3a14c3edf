import type { IncomingMessage } from 'node:http';
import { rateLimited } from '../access/authenticate';
import type { Organisation } from '../access/principal';
import type { RateLimiter, RateState } from '../access/rateLimit';
import { includesRole } from '../access/roles';
import type { RequestContext } from '../context';
import { stampedWrite } from '../database/openWrites';
import type { OrganisationData } from '../database/organisationData';
import { AppError } from '../errors';
import type { Exchange } from '../http/exchange';
import type { Control } from '../organisations/control';
import type { Session } from '../organisations/sessions';
import type { Cookies } from './cookies';
import { checkCsrf, checkOrigin } from './forgery';

export interface UserContextOptions {
  readonly control: Pick<Control, 'sessions' | 'integrations'>;
  readonly sessionCookie: Cookies;
  readonly publicUrl: string | undefined;
  readonly limiter: RateLimiter;
  readonly organisationData: (organisation: Organisation) => OrganisationData;
}

export type OpenUserContext = (exchange: Exchange) => Promise<RequestContext>;

/** The context of a signed-in user. Checks session (401), origin and CSRF token (403) and rate (429); roles are checked per operation. */
export function userContextFactory(options: UserContextOptions): OpenUserContext {
  const { control, sessionCookie, publicUrl, limiter, organisationData } = options;
  return async (exchange) => {
    const { request, requestId, address, log } = exchange;
    const { token, session } = await requireSession(request, options);
    checkOrigin(request, publicUrl);
    checkCsrf(request.headers['x-csrf-token'], token);
    const { organisation, user, role } = session;
    const principal = { kind: 'user', organisation, user, role } as const;
    log.principal = principal;
    let rate = await take(1);

    async function take(points: number): Promise<RateState> {
      const state = await limiter.consume(`user:${organisation.id}:${user.id}`, points);
      if (!state.allowed) throw rateLimited(state);
      return state;
    }

    // not before it is needed: keys can be revoked while the organisation's cluster is away
    const dataOf = (): OrganisationData => organisationData(organisation);
    return {
      requestId,
      principal,
      get data() {
        return dataOf();
      },
      integrations: control.integrations(session, address),
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
        rate = await take(points);
      },
      write: (work, how) => stampedWrite(dataOf(), work, how),
      // no idempotent replay, since a key's value must never be stored
      once: (_operation, _args, run) => Promise.resolve(run()),
      idempotencyKey: undefined,
      checkElement: () => ({ faults: [], more: 0 }),
    };
  };

  async function requireSession(
    request: IncomingMessage,
    { control: { sessions } }: UserContextOptions,
  ): Promise<{ token: string; session: Session }> {
    const token = sessionCookie.read(request);
    const session = token === undefined ? undefined : await sessions.find(token);
    if (token !== undefined && session) return { token, session };
    throw new AppError(
      'unauthenticated',
      'You are not signed in, or your session has expired. Sign in at /settings/sign-in.',
    );
  }
}
