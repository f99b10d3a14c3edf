import type { RequestHandler } from 'express';
import { type RateLimiter, spend } from '../admission/rateLimit';
import { addressBucket } from '../auth/addresses';
import { requirePlan, requireState } from '../auth/authenticate';
import type { Mode, Organisation } from '../auth/principal';
import { isReadScope, isScope, type Scope } from '../auth/scopes';
import type { Config } from '../config';
import { AppError, notFound } from '../errors';
import type { Exchange } from '../http/exchange';
import { AUTHORIZE_PATH, type OAuthAddress } from '../oauth';
import { answerTo, type AuthorizationRequest, checkAuthorization } from '../oauth/authorization';
import { formActionOf, hostOf } from '../oauth/redirectUris';
import type { Control } from '../organisations/control';
import { KeyRefused } from '../organisations/keyDocuments';
import { type Session, userActor } from '../organisations/sessions';
import type { Html } from '../pages/html';
import { formPolicy } from '../pages/page';
import { published } from '../schema/model';
import { DAY } from '../units';
import { type BrowserSessions, checkOrigin, csrfToken, isCsrf } from './cookies';
import { type Choices, type Closed, LIFETIMES, renderConsent, renderWrongRequest } from './consentPage';
import type { PrepareSandbox } from './sandbox';
import type { Reply, Routes } from './route';
import { userBudget } from './userContext';

/* Where an admin allows an app that asks by OAuth, which makes a key (docs/decisions/oauth.md). */

export interface AuthorizeOptions {
  readonly config: Pick<Config, 'PUBLIC_URL'>;
  readonly control: Pick<Control, 'apiKeys' | 'apps' | 'organisations' | 'plans' | 'sandboxes'>;
  readonly sessions: BrowserSessions;
  /** Limits the requests of each user. */
  readonly limiter: RateLimiter;
  /** Limits, per address, requests of apps. */
  readonly failures: RateLimiter;
  /** The address at which a request's caller knows the gateway; undefined if apps cannot connect there. */
  readonly oauthAddress: OAuthAddress;
  readonly prepareSandbox: PrepareSandbox;
}

/** Said where the form is of a session, or of the data, that another tab has left since. */
const IN_ANOTHER_TAB =
  'Nothing was decided: another tab has signed in, or switched between live data and the sandbox. Check the organisation below, then decide again.';

/** What the form of the consent page sends; anybody may send anything else. */
interface Form {
  readonly csrf?: unknown;
  readonly decision?: unknown;
  readonly scope?: unknown;
  readonly mode?: unknown;
  readonly lifetime?: unknown;
}

/** `signIn` sends somebody who is not signed in to do so, and then back. */
export function authorizeRoutes(options: AuthorizeOptions, signIn: (url: string, response: Response) => Reply): Routes {
  const { config, control, sessions, limiter, failures, oauthAddress, prepareSandbox } = options;

  /** The request of an app, or what to answer it without asking anybody. */
  async function check(exchange: Exchange) {
    const { request, search, address: from } = exchange;
    const address = oauthAddress(request);
    if (address === undefined) throw notFound('page');
    await spend(failures, `authorize ${addressBucket(from)}`, 1, 'Too many requests of apps from this address');
    const checked = await checkAuthorization(search.slice(1), address, control.apps.clients.find);
    if ('authorization' in checked) return { address, authorization: checked.authorization };
    const reply: Reply = { status: 400, page: renderWrongRequest(checked.fault) };
    return { address, reply };
  }

  /** @throws AppError not_found; organisation_suspended */
  async function requireOrganisation(id: string): Promise<Organisation> {
    const organisation = await control.organisations.find(id);
    if (!organisation) throw notFound('organisation');
    requireState(organisation);
    return organisation;
  }

  /** Why an app cannot be connected to the live data of an organisation, or to its sandbox. A sandbox that does not exist is created when an admin chooses it. */
  async function closedOf(organisation: Organisation): Promise<Closed> {
    const sandbox = await control.sandboxes.of(organisation.id);
    const whyFull = async (of: Organisation): Promise<string | undefined> => {
      const why = await control.apiKeys.whyFull(of);
      return why === undefined ? undefined : `it ${why}`;
    };
    return {
      live: control.plans.hasApi(organisation) ? await whyFull(organisation) : 'the plan does not include API access',
      test: sandbox && (await whyFull(sandbox.organisation)),
    };
  }

  /** The page that asks whoever is signed in; after a `failure`, with what they chose. */
  async function consentPage(
    { search }: Exchange,
    response: Response,
    authorization: AuthorizationRequest,
    openSession: OpenSession,
    { chosen, failure }: { readonly chosen?: Choices; readonly failure?: string } = {},
  ): Promise<Html> {
    const { session } = openSession;
    // of the user, also while the session is in the sandbox
    const organisation = await requireOrganisation(session.home);
    const closed = await closedOf(organisation);
    const modes: readonly Mode[] = session.organisation.id === session.home ? ['live', 'test'] : ['test', 'live'];
    const mode = modes.find((candidate) => closed[candidate] === undefined) ?? 'live';
    const proposed = authorization.scopes.length > 0 ? authorization.scopes : published.readScopes;
    formPolicy(formActionOf(authorization.redirectUri))(response.req, response, () => undefined);
    return renderConsent({
      authorization,
      session,
      organisation,
      closed,
      csrf: csrfToken(openSession),
      query: search,
      proposed,
      choices: chosen ?? { scopes: proposed, mode, lifetime: '90' },
      failure,
    });
  }

  /** Creates the key that an admin allows. Resolves with the code that the app gets for it. @throws AppError; KeyRefused */
  async function allow(
    authorization: AuthorizationRequest,
    session: Session,
    from: string,
    chosen: Choices,
  ): Promise<string> {
    const organisationId = chosen.mode === 'test' ? await prepareSandbox(session, from) : session.home;
    requirePlan(control.plans, await requireOrganisation(organisationId));
    const { client, redirectUri, challenge } = authorization;
    const code = await control.apps.allow(
      {
        client,
        redirectUri,
        host: hostOf(redirectUri),
        challenge,
        organisationId,
        scopes: chosen.scopes,
        mcp: chosen.scopes.every(isReadScope) ? 'read' : 'write',
        created_by: session.user.name,
        lifetime: Number(chosen.lifetime) * DAY,
      },
      { actor: userActor(session.user, from), organisationId },
    );
    if (code === undefined) throw notFound('organisation');
    return code;
  }

  return {
    [AUTHORIZE_PATH]: {
      async get(request, response, exchange) {
        const { authorization, reply } = await check(exchange);
        if (!authorization) return reply;
        const openSession = await sessions.find(exchange);
        if (!openSession) return signIn(request.originalUrl, response);
        if (openSession.session.role === 'admin')
          await control.apps.clients.keepDuringConsent(authorization.client._id);
        return { page: await consentPage(exchange, response, authorization, openSession) };
      },
      async post(request, response, exchange) {
        const form = (request.body ?? {}) as Form;
        const { authorization, address, reply } = await check(exchange);
        if (!authorization) return reply;
        const openSession = await sessions.find(exchange);
        if (!openSession) return signIn(request.originalUrl, response);
        checkOrigin(request, config.PUBLIC_URL);
        const { session } = openSession;
        await spend(limiter, userBudget(session), 1);
        const chosen = chosenIn(form);
        const again = async (failure: string, status = 422): Promise<Reply> => ({
          status,
          page: await consentPage(exchange, response, authorization, openSession, { chosen, failure }),
        });
        if (!isCsrf(form.csrf, openSession)) return again(IN_ANOTHER_TAB, 403);
        if (form.decision !== 'allow')
          return {
            to: answerTo(authorization, address, { error: 'access_denied', error_description: 'nobody allowed it' }),
          };
        if (session.role !== 'admin') throw new AppError('forbidden', 'Only admins can connect apps.');
        if (chosen.scopes.length === 0) return again('Choose at least one thing that the app may do.');
        try {
          return {
            to: answerTo(authorization, address, {
              code: await allow(authorization, session, exchange.address, chosen),
            }),
          };
        } catch (error) {
          if (error instanceof KeyRefused) return again(`Not connected: ${error.fault.detail}.`);
          if (error instanceof AppError && error.code === 'plan_required')
            return again('Not connected: the plan does not include API access to live data. Choose the sandbox.');
          throw error;
        }
      },
    },
  };
}

type Response = Parameters<RequestHandler>[1];
type OpenSession = NonNullable<Awaited<ReturnType<BrowserSessions['find']>>>;

/** What the admin ticked: also scopes that the app did not ask for, since the admin decides. */
function chosenIn({ scope, mode, lifetime }: Form): Choices {
  const scopes = [scope].flat().filter((name): name is Scope => typeof name === 'string' && isScope(name));
  const days = LIFETIMES.find(([value]) => value === lifetime)?.[0] ?? '90';
  return { scopes, mode: mode === 'test' ? 'test' : 'live', lifetime: days };
}
