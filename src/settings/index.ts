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
import {
  createBrowserSessions,
  type BrowserSessions,
  checkCsrf,
  checkOrigin,
  createCookie,
  csrfToken,
} from './cookies';
import { userBudget, createUserContexts, type UserContextOptions } from './userContext';
import { requireState } from '../auth/authenticate';
import { modeOf } from '../auth/principal';
import { createAttemptLimit, type RateLimiter, spend } from '../admission/rateLimit';
import { type Config, publicPath } from '../config';
import type { Control } from '../organisations/control';
import { isToken, type Session, SESSION_LIMITS, userActor } from '../organisations/sessions';
import { below, type Html } from '../pages/html';
import { ATTEMPT_SECONDS, CALLBACK_PATH, type OpenId, createOpenId } from './openid';
import { UUID } from '../units';
import { SETTINGS_PAGES } from './documents';
import { type OpeningAnswers, openingAnswers } from './opening';
import { renderLink, renderSettings, renderSignIn, type WebhookInfo } from './page';
import { type PrepareSandbox, createSandboxPreparer, type SandboxOptions } from './sandbox';

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
}

export function createSettings(options: SettingsOptions) {
  const { config, control, tracker, onError } = options;
  const sessions = createBrowserSessions(config, control.sessions, options.failures);
  const exchanges = new WeakMap<IncomingMessage, Exchange>();
  const parseForm = express.urlencoded({ extended: false, limit: '4kb', parameterLimit: 10 });
  const askForForm: RequestHandler = (request, _response, next) => {
    exchanges.get(request)?.askForBody();
    next();
  };

  const base = publicPath(config);
  const app = settingsApp(base);
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
        if ('to' in reply) response.redirect(303, reply.to.startsWith('/') ? base + reply.to : reply.to);
        else {
          const { status = 200, page } = reply;
          response.status(status).type('html').send(below(base, page));
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

function settingsApp(base: string): Express {
  const app = express();
  app.locals.base = base;
  app.disable('x-powered-by').enable('case sensitive routing').set('query parser', 'simple');
  app.use(defaultHeaders, settingsPolicy, (_request, response, next) => {
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

/** A route's response: a page or a redirect. */
type Reply = { readonly page: Html; readonly status?: number } | { readonly to: string };
type Route = (request: Request, response: Response, exchange: Exchange) => Promise<Reply> | Reply;
type Routes = Record<string, Partial<Record<'get' | 'post', Route>>>;

const START_PAGE = '/settings/integrations';
const SIGN_IN = '/settings/sign-in';
/** The paths of pages, including those of one key, webhook endpoint, delivery or request. */
const ONE_OF_MANY = ['keys/:id', 'webhooks/:id', 'webhooks/:id/deliveries/:delivery', 'requests/:id'];
const PAGE_PATHS = [...SETTINGS_PAGES, ...ONE_OF_MANY].map((name) => `/settings/${name}`);
/**
 * The path and query of a page to return to after signing in or switching the mode. Only paths on this host match, even if the cookie was
 * forged, and none so long that the cookie would have over 1 kB.
 */
const RETURN_ADDRESS = new RegExp(
  `^/settings/(${SETTINGS_PAGES.join('|')})(/[0-9a-f-]{36}(/deliveries/[0-9a-f.-]{1,100})?)?(\\?[\\w.~%!$&'()*+,;=:@/?-]{0,680})?$`,
  'i',
);

const returnAddressOrStart = (address: unknown): string =>
  typeof address === 'string' && RETURN_ADDRESS.test(address) ? address : START_PAGE;

interface RoutesOptions {
  readonly config: Config;
  readonly control: Control;
  readonly sessions: BrowserSessions;
  /** Limits invalid sign-in links, sessions and returns from the identity provider, per address. */
  readonly failures: RateLimiter;
  /** What the page needs to know about webhooks. */
  readonly webhookInfo: WebhookInfo;
  /** Limits the requests of each user. */
  readonly limiter: RateLimiter;
  readonly prepareSandbox: PrepareSandbox;
  readonly opening: OpeningAnswers;
  readonly contextOf: (exchange: Exchange, session: Session) => Promise<CallContext>;
  /** Called with errors of the identity provider. */
  readonly onError: (error: unknown) => void;
}

/** The routes of the settings, by path: the pages, the mode switch, sign-out, and sign-in by link or with the identity provider. */
function settingsRoutes(options: RoutesOptions): Routes {
  const { config, control, sessions, failures, limiter, prepareSandbox, contextOf, webhookInfo } = options;
  const parts = { webhooks: webhookInfo, storesRequests: config.REQUEST_LOG === 'on' };
  const attemptLink = createAttemptLimit(failures, 'link', 'Too many invalid sign-in links from this address');
  const tooMany = 'Too many failed sign-ins with the identity provider from this address';
  const attemptReturn = createAttemptLimit(failures, 'openid', tooMany);
  const attemptCookie = createCookie('scopegate_sign_in', config.PUBLIC_URL);
  // the address of the page that somebody asked for before they signed in, as base64url
  const returnCookie = createCookie('scopegate_wanted', config.PUBLIC_URL);
  const provider = createOpenId(options);
  const hasProvider = provider !== undefined;
  const requireProvider = (): OpenId => {
    if (!provider) throw new AppError('not_found', 'No identity provider is configured.');
    return provider;
  };

  /** Gives the browser a session's token, and sends it to the page that was asked for. */
  function signIn(request: Request, response: Response, token: string): Reply {
    sessions.cookie.set(response, token, SESSION_LIMITS.absolute / 1000);
    const address = Buffer.from(returnCookie.read(request) ?? '', 'base64url').toString();
    if (address !== '') returnCookie.clear(response);
    return { to: returnAddressOrStart(address) };
  }

  const showPage: Route = async ({ params, originalUrl }, response, exchange) => {
    if (params.id !== undefined && !UUID.test(String(params.id))) throw notFound('page');
    const openSession = await sessions.find(exchange);
    if (!openSession) {
      const address = Buffer.from(originalUrl).toString('base64url');
      if (returnAddressOrStart(originalUrl) !== START_PAGE) returnCookie.set(response, address, ATTEMPT_SECONDS);
      return { to: SIGN_IN };
    }
    const { session } = openSession;
    const { organisation, user, role } = session;
    exchange.log.principal = { kind: 'user', organisation, user, role };
    requireState(organisation);
    const canSwitch =
      modeOf(organisation) === 'test' || role === 'admin' || (await control.sandboxes.of(organisation.id));
    // the page itself asks again for whatever fails here
    const opening = await contextOf(exchange, session)
      .then((context) => options.opening(originalUrl, context))
      .catch(() => ({}));
    return {
      page: renderSettings(session, csrfToken(openSession), { ...parts, opening, canSwitch: Boolean(canSwitch) }),
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
    [SIGN_IN]: {
      async get(request, _response, exchange) {
        const { link } = request.query;
        const openSession = await sessions.find(exchange);
        if (link === undefined) return openSession ? { to: START_PAGE } : { page: renderSignIn({ hasProvider }) };
        // only the button's POST consumes a link, because mail scanners and previews follow links too
        if (typeof link === 'string' && isToken(link)) return { page: renderLink(link, openSession?.session) };
        return { status: 400, page: renderSignIn({ hasProvider, failure: 'incomplete' }) };
      },
      async post(request, response, { address }) {
        checkOrigin(request, config.PUBLIC_URL);
        const link = (request.body as { link?: unknown } | undefined)?.link;
        const token = await attemptLink(address, async () =>
          typeof link === 'string' ? control.sessions.useLink(link, address) : undefined,
        );
        if (token !== undefined) return signIn(request, response, token);
        return { status: 410, page: renderSignIn({ hasProvider, failure: 'used' }) };
      },
    },
    [`${SIGN_IN}/oidc`]: {
      async get(_request, response) {
        const { url, attempt } = await requireProvider().begin();
        attemptCookie.set(response, attempt, ATTEMPT_SECONDS);
        return { to: url };
      },
    },
    [CALLBACK_PATH]: {
      async get(request, response, { address, search }) {
        const identityProvider = requireProvider();
        const attempt = identityProvider.readAttempt(attemptCookie.read(request));
        attemptCookie.clear(response);
        if (!attempt)
          throw new AppError('forbidden', 'This sign-in was started in another browser or has expired. Start again.');
        const token = await attemptReturn(address, async () =>
          control.sessions.start(await identityProvider.finish(search, attempt), address),
        );
        if (token !== undefined) return signIn(request, response, token);
        throw new AppError('forbidden', 'The identity provider returned an unknown organisation.');
      },
    },
  };
}
