import type { IncomingMessage, ServerResponse } from 'node:http';
import express, { type Express, type Request, type RequestHandler, type Response } from 'express';
import { addressBucket } from '../access/addresses';
import { rateLimited } from '../access/authenticate';
import type { RateLimiter } from '../access/rateLimit';
import type { Config } from '../config';
import { AppError } from '../errors';
import type { Exchange } from '../http/exchange';
import type { Patience } from '../http/patience';
import { toAppError } from '../mask';
import type { Control } from '../organisations/control';
import { SESSION_LIMITS, userActor } from '../organisations/sessions';
import { defaultHeaders, settingsPolicy } from '../pages/contentSecurity';
import type { Html } from '../pages/html';
import { failed, methodNotAllowed, nothingHere } from '../pages/problems';
import { cookie, type Cookies } from './cookies';
import { checkCsrf, checkOrigin, csrfToken } from './forgery';
import { CALLBACK_PATH, openId } from './openid';
import { renderIntegrations } from './page';
import { type Attempt, readAttempt, writeAttempt } from './attempt';
import { renderLink, renderSignIn } from './signInPages';

/** Where the settings page sends GraphQL; the only API endpoint that accepts its cookie. */
export const SETTINGS_GRAPHQL = '/settings/graphql';
const PAGE = '/settings/integrations';
const SIGN_IN = '/settings/sign-in';
const ATTEMPT_SECONDS = 600;

export interface SettingsOptions {
  readonly config: Config;
  readonly control: Control;
  readonly version: string;
  readonly patience: Patience;
  readonly sessionCookie: Cookies;
  /** Limits invalid sign-in links per address. */
  readonly failures: RateLimiter;
  readonly onError: (error: unknown) => void;
}

/** A route's response: a page or a redirect. */
type Reply = { readonly page: Html; readonly status?: number } | { readonly to: string };
type Route = (request: Request, response: Response, exchange: Exchange) => Promise<Reply> | Reply;

/** The session cookie. */
export function sessionCookieOf({ PUBLIC_URL }: Config): Cookies {
  return cookie('scopegate_session', PUBLIC_URL);
}

/** Whether a path belongs to settings. */
export function isSettings(path: string): boolean {
  return path === '/settings' || path.startsWith('/settings/');
}

/** The settings pages, sign-in and sign-out. Keys are changed through {@link SETTINGS_GRAPHQL}. */
export function createSettings(options: SettingsOptions): (exchange: Exchange) => void {
  const { config, control, version, patience, sessionCookie, failures, onError } = options;
  const { sessions } = control;
  const publicUrl = config.PUBLIC_URL;
  const attemptCookie = cookie('scopegate_sign_in', publicUrl);
  const provider = openId({ config, onError });
  const exchanges = new WeakMap<IncomingMessage, Exchange>();

  const app: Express = express();
  app.disable('x-powered-by').enable('case sensitive routing').set('query parser', 'simple');
  app.use(defaultHeaders, settingsPolicy, (_request, response, next) => {
    // same-origin, because without any referrer a form's Origin would be `null`
    response.set({ 'Cache-Control': 'no-store', 'Referrer-Policy': 'same-origin' });
    next();
  });
  const form = express.urlencoded({ extended: false, limit: '4kb', parameterLimit: 10 });
  const askForForm: RequestHandler = (request, _response, next) => {
    exchanges.get(request)?.askForBody();
    next();
  };

  /** Sends a route's reply, unless it took so long that a 503 was already sent. */
  const answer =
    (route: Route): RequestHandler =>
    async (request, response) => {
      const exchange = exchanges.get(request);
      if (!exchange) throw new Error('a request without its exchange');
      await patience.spend(exchange, async () => {
        const reply = await route(request, response, exchange);
        if (response.headersSent) return;
        if ('to' in reply) response.redirect(303, reply.to);
        else
          response
            .status(reply.status ?? 200)
            .type('html')
            .send(reply.page.text);
      });
    };

  const sessionOf = async (request: IncomingMessage) => {
    const token = sessionCookie.read(request);
    const session = token === undefined ? undefined : await sessions.find(token);
    return token === undefined || !session ? undefined : { token, session };
  };

  const enter = (response: ServerResponse, token: string): Reply => {
    sessionCookie.set(response, token, SESSION_LIMITS.absolute / 1000);
    return { to: PAGE };
  };

  const routes: Record<string, Partial<Record<'get' | 'post', Route>>> = {
    '/settings': { get: () => ({ to: PAGE }) },
    [PAGE]: {
      async get(request, _response, exchange) {
        const found = await sessionOf(request);
        if (!found) return { to: SIGN_IN };
        const { organisation, user, role } = found.session;
        exchange.log.principal = { kind: 'user', organisation, user, role };
        return { page: renderIntegrations({ version, session: found.session, csrf: csrfToken(found.token) }) };
      },
    },
    [SIGN_IN]: {
      async get(request) {
        const { link } = request.query;
        // only the button's POST consumes a link, because mail scanners and previews follow links too
        if (typeof link === 'string') return { page: renderLink({ version, link }) };
        if (await sessionOf(request)) return { to: PAGE };
        return { page: renderSignIn({ version, hasProvider: provider !== undefined }) };
      },
      async post(request, response, { address }) {
        checkOrigin(request, publicUrl);
        const link = (request.body as { link?: unknown } | undefined)?.link;
        const token = typeof link === 'string' ? await sessions.useLink(link, address) : undefined;
        if (token !== undefined) return enter(response, token);
        const state = await failures.consume(addressBucket(address));
        if (!state.allowed) throw rateLimited(state, 'Too many invalid sign-in links from this address');
        return { status: 410, page: renderSignIn({ version, hasProvider: provider !== undefined, failure: 'link' }) };
      },
    },
    [`${SIGN_IN}/oidc`]: {
      async get(_request, response) {
        if (!provider) throw new AppError('not_found', 'No identity provider is configured.');
        const { url, attempt } = await provider.begin();
        attemptCookie.set(response, writeAttempt(attempt), ATTEMPT_SECONDS);
        return { to: url };
      },
    },
    [CALLBACK_PATH]: {
      async get(request, response, { address, search }) {
        if (!provider) throw new AppError('not_found', 'No identity provider is configured.');
        const attempt: Attempt | undefined = readAttempt(attemptCookie.read(request));
        attemptCookie.clear(response);
        if (!attempt)
          throw new AppError('forbidden', 'This sign-in was started in another browser or has expired. Start again.');
        const token = await sessions.start(await provider.finish(search, attempt), address);
        if (token === undefined) {
          throw new AppError('forbidden', 'The identity provider returned an unknown organisation.');
        }
        return enter(response, token);
      },
    },
    '/settings/sign-out': {
      async post(request, response, { address }) {
        const found = await sessionOf(request);
        if (found) {
          const body = request.body as { csrf?: unknown; everywhere?: unknown } | undefined;
          checkOrigin(request, publicUrl);
          checkCsrf(body?.csrf, found.token);
          const { user, organisation } = found.session;
          if (body?.everywhere === undefined) await sessions.end(found.token, address);
          else await sessions.endAll({ organisationId: organisation.id, userId: user.id }, userActor(user, address));
        }
        sessionCookie.clear(response);
        return { to: SIGN_IN };
      },
    },
  };
  for (const [path, { get, post }] of Object.entries(routes)) {
    const route = app.route(path);
    if (get) route.get(answer(get));
    if (post) route.post(askForForm, form, answer(post));
    route.all(methodNotAllowed([...(get ? ['GET', 'HEAD'] : []), ...(post ? ['POST'] : [])], version));
  }
  app.use(nothingHere(version));
  app.use((error: unknown, _request: Request, _response: Response, next: (error: unknown) => void) => {
    const status = error instanceof Error && 'status' in error ? error.status : undefined;
    if (status === 413 || status === 415) next(new AppError('invalid_request', 'The form is malformed.'));
    else if (status === 400) next(error);
    else {
      const known = toAppError(error);
      if (known.code === 'internal') onError(error);
      next(known);
    }
  });
  app.use(failed(version, onError));

  return (exchange) => {
    exchanges.set(exchange.request, exchange);
    app(exchange.request as never, exchange.response as never);
  };
}
