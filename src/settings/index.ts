import type { IncomingMessage } from 'node:http';
import express, { type Express, type Request, type RequestHandler } from 'express';
import type { RequestTracker } from '../admission/requestTracker';
import { type Exchange, noteUnavailable } from '../http/exchange';
import { toAppError } from '../mongo/toAppError';
import type { Execute } from '../operations/execution';
import { defaultHeaders, settingsPolicy } from '../pages/page';
import { failed, methodNotAllowed, nothingHere, requestError } from '../pages/problems';
import type { Site } from '../pages/site';
import { createBrowserSessions } from './cookies';
import { openingAnswers } from './opening';
import { type RoutesOptions, settingsRoutes } from './pageRoutes';
import type { Route } from './route';
import { createSandboxPreparer, type SandboxOptions } from './sandbox';
import { createUserContexts, type UserContextOptions } from './userContext';

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

/** Sign-in and the pages of an organisation's users. */
export function createSettings(options: SettingsOptions) {
  const { config, control, tracker, site, onError } = options;
  const sessions = createBrowserSessions(config, control.sessions, options.failures);
  const exchanges = new WeakMap<IncomingMessage, Exchange>();
  // the longest form is the consent to an app, with a parameter for each scope, of which a folder of its own types may have hundreds
  const parseForm = express.urlencoded({ extended: false, limit: '32kb', parameterLimit: 1000 });
  /** Says `100 Continue` to a client that waits for it with its form. */
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
    opening: openingAnswers(options.execute, control.now),
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
    const appError = requestError(error) ?? toAppError(error);
    if (appError.code === 'internal') onError(error);
    const exchange = exchanges.get(request);
    if (exchange) {
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
