import type { Response } from 'express';
import { type RateLimiter, spend } from '../admission/rateLimit';
import { requireState } from '../auth/authenticate';
import { modeOf } from '../auth/principal';
import { notFound } from '../errors';
import type { Exchange } from '../http/exchange';
import { AUTHORIZE_PATH } from '../oauth';
import { LONGEST_QUERY } from '../oauth/authorization';
import type { CallContext } from '../operations/context';
import { type Session, SESSION_LIMITS, userActor } from '../organisations/sessions';
import { UUID } from '../units';
import { type AuthorizeOptions, authorizeRoutes } from './authorize';
import { checkCsrf, checkOrigin, createCookie, csrfToken, isCsrf } from './cookies';
import { SETTINGS_PAGES } from './documents';
import { whyNoInsights } from './insights';
import { ATTEMPT_SECONDS } from './openid';
import type { OpeningAnswers } from './opening';
import { renderOtherSide, renderSettings, SANDBOX_PATH, type WebhookInfo } from './page';
import type { Reply, Route, Routes } from './route';
import type { PrepareSandbox } from './sandbox';
import { type Begin, signInRoutes, type SignInRoutesOptions } from './signIn';
import { SIGN_IN } from './signInPage';
import { userBudget } from './userContext';

/** Longer than any session, so that the sign-in page can say that the browser's has ended. */
const COOKIE_SECONDS = (2 * SESSION_LIMITS.absolute) / 1000;
const START_PAGE = '/settings/integrations';
/** The paths of pages, including those of one key, webhook endpoint, delivery or request. */
const PAGE_PATHS = [
  ...SETTINGS_PAGES,
  ...['keys/:id', 'webhooks/:id', 'webhooks/:id/deliveries/:delivery', 'requests/:id'],
].flatMap((name) => [`/settings/${name}`, `${SANDBOX_PATH}/${name}`]);
/**
 * The path and query of a page to return to after signing in or switching the mode. Only paths of the settings match, so that a forged cookie leads
 * nowhere else; their length is bounded, since the cookie is sent with each request until the sign-in is over. No query that the page itself writes
 * is longer than 680 characters.
 */
const RETURN_ADDRESS = new RegExp(
  `^/settings/(?:sandbox/)?(${SETTINGS_PAGES.join('|')})(/[0-9a-f-]{36}(/deliveries/[0-9a-f.-]{1,100})?)?(\\?[\\w.~%!$&'()*+,;=:@/?-]{0,680})?$`,
  'i',
);

/** The same for the consent page with an app's request, which is checked again there. */
const APP_REQUEST = new RegExp(`^${AUTHORIZE_PATH}\\?[!-~]{1,${String(LONGEST_QUERY)}}$`);

const returnAddressOrStart = (address: unknown): string =>
  typeof address === 'string' && (RETURN_ADDRESS.test(address) || APP_REQUEST.test(address)) ? address : START_PAGE;

export interface RoutesOptions extends SignInRoutesOptions, Pick<AuthorizeOptions, 'oauthAddress'> {
  /** What the page needs to know about webhooks. */
  readonly webhookInfo: WebhookInfo;
  /** Limits the requests of each user. */
  readonly limiter: RateLimiter;
  readonly prepareSandbox: PrepareSandbox;
  readonly opening: OpeningAnswers;
  readonly contextOf: (exchange: Exchange, session: Session) => Promise<CallContext>;
}

/** The routes of the settings, by path: the pages, the mode switch, sign-out, and sign-in by link or with the identity provider. */
export function settingsRoutes(options: RoutesOptions): Routes {
  const { config, control, sessions, limiter, prepareSandbox, contextOf, webhookInfo } = options;
  const { plans } = control;
  // the address of the page that somebody asked for before they signed in, as base64url
  const returnCookie = createCookie('scopegate_wanted', config);

  const begin: Begin = (request, response, token) => {
    if (token === undefined) return { to: START_PAGE };
    sessions.cookie.set(response, token, COOKIE_SECONDS);
    const address = Buffer.from(returnCookie.read(request) ?? '', 'base64url').toString();
    if (address !== '') returnCookie.clear(response);
    return { to: returnAddressOrStart(address) };
  };

  /** Sends somebody to sign in, and then back to an address. */
  const signInFirst = (url: string, response: Response): Reply => {
    const address = Buffer.from(url).toString('base64url');
    if (returnAddressOrStart(url) !== START_PAGE) returnCookie.set(response, address, ATTEMPT_SECONDS);
    // or the page that was wanted before would open
    else returnCookie.clear(response);
    return { to: SIGN_IN };
  };

  const showPage: Route = async ({ params, originalUrl }, response, exchange) => {
    if (params.id !== undefined && !UUID.test(String(params.id))) throw notFound('page');
    const openSession = await sessions.find(exchange);
    if (!openSession) return signInFirst(originalUrl, response);
    const { session } = openSession;
    const { organisation, user, role } = session;
    exchange.log.principal = { kind: 'user', organisation, user, role };
    requireState(organisation);
    const isLive = modeOf(organisation) === 'live';
    const canSwitch = isLive
      ? role === 'admin' || (await control.sandboxes.of(organisation.id)) !== undefined
      : organisation.id !== session.home;
    const isOfSandbox = originalUrl.startsWith(`${SANDBOX_PATH}/`);
    if (isLive && isOfSandbox && !canSwitch) throw notFound('page');
    // of live data, an address without id and query is a bookmark or the way in, which shows the side that the session is on
    const isShared = params.id !== undefined || originalUrl.includes('?');
    const isOfLive = isShared && !isOfSandbox && organisation.id !== session.home;
    if (isLive ? isOfSandbox : isOfLive) return { page: renderOtherSide(session, csrfToken(openSession), originalUrl) };
    const address = isOfSandbox ? originalUrl.replace(SANDBOX_PATH, '/settings') : originalUrl;
    // the page itself asks again for whatever fails here, also for want of points
    const opening = await contextOf(exchange, session)
      .then((context) => options.opening(address, context))
      .catch(() => ({}));
    return {
      page: renderSettings(session, csrfToken(openSession), {
        canSwitch,
        hasPlan: plans.hasApi(organisation),
        limits: plans.of(organisation),
        webhooks: webhookInfo,
        canInvite: config.OIDC_ISSUER === undefined,
        storesRequests: config.REQUEST_LOG === 'on',
        whyNoInsights: whyNoInsights(config.INSIGHTS, role),
        opening,
        now: control.now(),
      }),
    };
  };

  return {
    '/settings': { get: () => ({ to: START_PAGE }) },
    ...Object.fromEntries(PAGE_PATHS.map((address) => [address, { get: showPage }])),
    '/settings/mode': {
      async post(request, _response, exchange) {
        const openSession = await sessions.find(exchange);
        if (!openSession) return { to: SIGN_IN };
        const body = request.body as { csrf?: unknown; mode?: unknown; page?: unknown } | undefined;
        checkOrigin(request, config.PUBLIC_URL);
        const to = returnAddressOrStart(body?.page);
        // a page from before another tab switched or signed in: its reload would only send the same form again
        if (!isCsrf(body?.csrf, openSession)) return { to };
        const { token, session } = openSession;
        await spend(limiter, userBudget(session), 1);
        requireState(session.organisation);
        const sandbox = body?.mode === 'test' ? await prepareSandbox(session, exchange.address) : null;
        await control.sessions.enter(token, sandbox);
        return { to };
      },
    },
    '/settings/sign-out': {
      async post(request, response, exchange) {
        const openSession = await sessions.find(exchange);
        if (openSession) {
          const body = request.body as { csrf?: unknown; everywhere?: unknown } | undefined;
          checkOrigin(request, config.PUBLIC_URL);
          checkCsrf(body?.csrf, openSession);
          const { user, home } = openSession.session;
          const { address } = exchange;
          const all = { organisationId: home, userId: user.id };
          if (body?.everywhere === undefined) await control.sessions.end(openSession.token, address);
          else await control.sessions.endAll(all, userActor(user, address));
        }
        for (const cookie of [sessions.cookie, returnCookie]) cookie.clear(response);
        return { to: SIGN_IN };
      },
    },
    ...signInRoutes(options, begin),
    ...authorizeRoutes(options, signInFirst),
  };
}
