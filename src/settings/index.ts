import type { IncomingMessage } from 'node:http';
import express, { type Express, type Request, type RequestHandler, type Response } from 'express';
import { AppError, notFound } from '../errors';
import { type Exchange, noteUnavailable } from '../http/exchange';
import type { RequestTracker } from '../admission/requestTracker';
import type { CallContext } from '../operations/context';
import type { Execute } from '../operations/execution';
import { toAppError } from '../mongo/toAppError';
import { defaultHeaders, settingsPolicy } from '../pages/page';
import { failed, methodNotAllowed, nothingHere } from '../pages/problems';
import { createBrowserSessions, checkCsrf, checkOrigin, createCookie, csrfToken } from './cookies';
import { userBudget, createUserContexts, type UserContextOptions } from './userContext';
import { requireState } from '../auth/authenticate';
import { modeOf } from '../auth/principal';
import { type RateLimiter, spend } from '../admission/rateLimit';
import { type Session, SESSION_LIMITS, userActor } from '../organisations/sessions';
import type { Site } from '../pages/site';
import { ATTEMPT_SECONDS } from './openid';
import { UUID } from '../units';
import { AUTHORIZE_PATH } from '../oauth';
import { LONGEST_QUERY } from '../oauth/authorization';
import { type AuthorizeOptions, authorizeRoutes } from './authorize';
import { SETTINGS_PAGES } from './documents';
import { whyNoInsights } from './insights';
import { type OpeningAnswers, openingAnswers } from './opening';
import { renderOtherSide, renderSettings, SANDBOX_PATH, type WebhookInfo } from './page';
import type { Reply, Route, Routes } from './route';
import { type PrepareSandbox, createSandboxPreparer, type SandboxOptions } from './sandbox';
import { type Begin, signInRoutes, type SignInRoutesOptions } from './signIn';
import { SIGN_IN } from './signInPage';

export const SETTINGS_PATH = '/settings';
/** Where the settings page sends GraphQL; the only API endpoint that accepts its cookie. */
export const SETTINGS_GRAPHQL = `${SETTINGS_PATH}/graphql`;

export interface SettingsOptions extends Omit<
  RoutesOptions & UserContextOptions & SandboxOptions,
  'sessions' | 'prepareSandbox' | 'opening' | 'contextOf'
> {
  /** Runs operations of the whole schema. */
  readonly execute: Execute;
  readonly tracker: RequestTracker<Exchange>;
  readonly site: Site;
}

export function createSettings(options: SettingsOptions) {
  const { config, control, tracker, site, onError } = options;
  const sessions = createBrowserSessions(config, control.sessions, options.failures);
  const exchanges = new WeakMap<IncomingMessage, Exchange>();
  const parseForm = express.urlencoded({ extended: false, limit: '4kb', parameterLimit: 200 });
  const askForForm: RequestHandler = (request, _response, next) => {
    exchanges.get(request)?.askForBody();
    next();
  };

  const app = settingsApp(site, config.FRAME_ANCESTORS);
  const contexts = createUserContexts({ ...options, sessions });
  const routes = settingsRoutes({
    ...options,
    sessions,
    prepareSandbox: createSandboxPreparer(options),
    opening: openingAnswers(options.execute),
    contextOf: contexts.of,
  });
  for (const [path, { get, post }] of Object.entries(routes)) {
    const route = app.route(path);
    if (get) route.get(answer(get));
    if (post) route.post(askForForm, parseForm, answer(post));
    route.all(methodNotAllowed([...(get ? ['GET', 'HEAD'] : []), ...(post ? ['POST'] : [])]));
  }
  app.use(nothingHere);
  app.use((error: unknown, request: Request, _response: unknown, next: (error: unknown) => void) => {
    const appError = errorToShow(error, onError);
    const exchange = exchanges.get(request);
    if (exchange && appError instanceof AppError) {
      exchange.log.code = appError.code;
      if (appError.code === 'unavailable') noteUnavailable(exchange, appError, error);
    }
    next(appError);
  });
  app.use(failed(onError));

  /** Sends a route's reply, unless it took so long that a 503 was already sent. */
  function answer(route: Route): RequestHandler {
    return async (request, response) => {
      const exchange = exchanges.get(request);
      if (!exchange) throw new Error('a request without its exchange');
      await tracker.run(exchange, async () => {
        const reply = await route(request, response, exchange);
        if (response.headersSent) return;
        if ('to' in reply) response.redirect(303, reply.to.startsWith('/') ? site.path + reply.to : reply.to);
        else {
          const { status = 200, page } = reply;
          response.status(status).type('html').send(site.textOf(page));
        }
      });
    };
  }

  return {
    /** The settings pages, sign-in and sign-out. Keys are changed through {@link SETTINGS_GRAPHQL}. */
    serve(exchange: Exchange): void {
      exchanges.set(exchange.request, exchange);
      app(exchange.request as never, exchange.response as never);
    },
    /** The context of a signed-in user, for {@link SETTINGS_GRAPHQL}. */
    openContext: contexts.open,
  };
}

function settingsApp(site: Site, frameAncestors: readonly string[]): Express {
  const app = express();
  app.locals.site = site;
  app.disable('x-powered-by').enable('case sensitive routing').set('query parser', 'simple');
  app.use(defaultHeaders, settingsPolicy(frameAncestors), (_request, response, next) => {
    // same-origin, because without any referrer a form's Origin would be `null`
    response.set({ 'Cache-Control': 'no-store', 'Referrer-Policy': 'same-origin' });
    next();
  });
  return app;
}

/** The error to show for what a route, the form's parser or Express threw; Express' own 400 unchanged. Calls `onError` with an unexpected one. */
function errorToShow(error: unknown, onError: SettingsOptions['onError']): unknown {
  const status = error instanceof Error && 'status' in error ? error.status : undefined;
  if (status === 413 || status === 415) return new AppError('invalid_request', 'The form is malformed.');
  if (status === 400) return error;
  const appError = toAppError(error);
  if (appError.code === 'internal') onError(error);
  return appError;
}

/** Longer than any session, so that the sign-in page can say that the browser's has ended. */
const COOKIE_SECONDS = (2 * SESSION_LIMITS.absolute) / 1000;
const START_PAGE = '/settings/integrations';
/** The paths of pages, including those of one key, webhook endpoint, delivery or request. */
const PAGE_PATHS = [
  ...SETTINGS_PAGES,
  ...['keys/:id', 'webhooks/:id', 'webhooks/:id/deliveries/:delivery', 'requests/:id'],
].flatMap((name) => [`/settings/${name}`, `${SANDBOX_PATH}/${name}`]);
/**
 * The path and query of a page to return to after signing in or switching the mode. Only paths on this host match, even if the cookie was
 * forged, and none so long that the cookie would have over 1 kB.
 */
const RETURN_ADDRESS = new RegExp(
  `^/settings/(?:sandbox/)?(${SETTINGS_PAGES.join('|')})(/[0-9a-f-]{36}(/deliveries/[0-9a-f.-]{1,100})?)?(\\?[\\w.~%!$&'()*+,;=:@/?-]{0,680})?$`,
  'i',
);

/** The same, of the request of an app, which is checked again. */
const APP_REQUEST = new RegExp(`^${AUTHORIZE_PATH}\\?[!-~]{1,${String(LONGEST_QUERY)}}$`);

const returnAddressOrStart = (address: unknown): string =>
  typeof address === 'string' && (RETURN_ADDRESS.test(address) || APP_REQUEST.test(address)) ? address : START_PAGE;

interface RoutesOptions extends SignInRoutesOptions, Pick<AuthorizeOptions, 'oauthAddress'> {
  /** What the page needs to know about webhooks. */
  readonly webhookInfo: WebhookInfo;
  /** Limits the requests of each user. */
  readonly limiter: RateLimiter;
  readonly prepareSandbox: PrepareSandbox;
  readonly opening: OpeningAnswers;
  readonly contextOf: (exchange: Exchange, session: Session) => Promise<CallContext>;
}

/** The routes of the settings, by path: the pages, the mode switch, sign-out, and sign-in by link or with the identity provider. */
function settingsRoutes(options: RoutesOptions): Routes {
  const { config, control, sessions, limiter, prepareSandbox, contextOf, webhookInfo } = options;
  const { plans } = control;
  const parts = {
    webhooks: webhookInfo,
    canInvite: config.OIDC_ISSUER === undefined,
    storesRequests: config.REQUEST_LOG === 'on',
  };
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
    return { to: SIGN_IN };
  };

  const showPage: Route = async ({ params, originalUrl }, response, exchange) => {
    if (params.id !== undefined && !UUID.test(String(params.id))) throw notFound('page');
    const openSession = await sessions.find(exchange);
    if (!openSession) return signInFirst(originalUrl, response);
    const { session } = openSession;
    const { organisation, user, role } = session;
    const whyNot = whyNoInsights(config.INSIGHTS, role);
    exchange.log.principal = { kind: 'user', organisation, user, role };
    requireState(organisation);
    const isLive = modeOf(organisation) === 'live';
    const canSwitch = !isLive || role === 'admin' || (await control.sandboxes.of(organisation.id)) !== undefined;
    const isOfSandbox = originalUrl.startsWith(`${SANDBOX_PATH}/`);
    if (isLive && isOfSandbox && !canSwitch) throw notFound('page');
    // without either, it is a bookmark or the way in, which shows the side that the session is on
    const isShared = params.id !== undefined || originalUrl.includes('?');
    const isOfLive = isShared && !isOfSandbox && organisation.id !== session.home;
    if (isLive ? isOfSandbox : isOfLive) return { page: renderOtherSide(session, csrfToken(openSession), originalUrl) };
    const address = isOfSandbox ? originalUrl.replace(SANDBOX_PATH, '/settings') : originalUrl;
    // the page itself asks again for whatever fails here
    const opening = await contextOf(exchange, session)
      .then((context) => options.opening(address, context))
      .catch(() => ({}));
    return {
      page: renderSettings(session, csrfToken(openSession), {
        ...{ ...parts, whyNoInsights: whyNot, opening, canSwitch },
        ...{ hasPlan: plans.hasApi(organisation), limits: plans.of(organisation) },
      }),
    };
  };

  return {
    '/settings': { get: () => ({ to: START_PAGE }) },
    ...Object.fromEntries(PAGE_PATHS.map((address) => [address, { get: showPage }])),
    '/settings/mode': {
      async post(request, _response, { address, ...exchange }) {
        const openSession = await sessions.find({ address, ...exchange });
        if (!openSession) return { to: SIGN_IN };
        const body = request.body as { csrf?: unknown; mode?: unknown; page?: unknown } | undefined;
        checkOrigin(request, config.PUBLIC_URL);
        checkCsrf(body?.csrf, openSession);
        const { token, session } = openSession;
        await spend(limiter, userBudget(session), 1);
        requireState(session.organisation);
        const sandbox = body?.mode === 'test' ? await prepareSandbox(session, address) : null;
        await control.sessions.enter(token, sandbox);
        return { to: returnAddressOrStart(body?.page) };
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
