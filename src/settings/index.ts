import type { IncomingMessage } from 'node:http';
import express, { type Express, type Request, type RequestHandler } from 'express';
import { AppError } from '../errors';
import type { Exchange } from '../http/exchange';
import type { RequestTracker } from '../admission/requestTracker';
import { noteUnavailable } from '../http/unavailable';
import { toAppError } from '../mask';
import { defaultHeaders, settingsPolicy } from '../pages/contentSecurity';
import { failed, methodNotAllowed, nothingHere } from '../pages/problems';
import { browserSessions } from './cookies';
import { type Route, type RoutesOptions, settingsRoutes } from './routes';
import { type UserContextOptions, userContextFactory } from './userContext';

/** Where the settings page sends GraphQL; the only API endpoint that accepts its cookie. */
export const SETTINGS_GRAPHQL = '/settings/graphql';

export interface SettingsOptions extends Omit<RoutesOptions & UserContextOptions, 'sessions'> {
  readonly tracker: RequestTracker<Exchange>;
}

/** Whether a path belongs to settings. */
export function isSettings(path: string): boolean {
  return path === '/settings' || path.startsWith('/settings/');
}

export function createSettings(options: SettingsOptions) {
  const { config, control, tracker, onError } = options;
  const sessions = browserSessions(config, control.sessions, options.failures);
  const exchanges = new WeakMap<IncomingMessage, Exchange>();
  const form = express.urlencoded({ extended: false, limit: '4kb', parameterLimit: 10 });
  const askForForm: RequestHandler = (request, _response, next) => {
    exchanges.get(request)?.askForBody();
    next();
  };

  const app = settingsApp();
  for (const [path, { get, post }] of Object.entries(settingsRoutes({ ...options, sessions }))) {
    const route = app.route(path);
    if (get) route.get(answer(get));
    if (post) route.post(askForForm, form, answer(post));
    route.all(methodNotAllowed([...(get ? ['GET', 'HEAD'] : []), ...(post ? ['POST'] : [])]));
  }
  app.use(nothingHere);
  app.use((error: unknown, request: Request, _response: unknown, next: (error: unknown) => void) => {
    const known = knownError(error, onError);
    const exchange = exchanges.get(request);
    if (exchange && known instanceof AppError) {
      exchange.log.code = known.code;
      if (known.code === 'unavailable') noteUnavailable(exchange, known, error);
    }
    next(known);
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
        if ('to' in reply) response.redirect(303, reply.to);
        else {
          const { status = 200, page } = reply;
          response.status(status).type('html').send(page.text);
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
    openContext: userContextFactory({ ...options, sessions }),
  };
}

function settingsApp(): Express {
  const app = express();
  app.disable('x-powered-by').enable('case sensitive routing').set('query parser', 'simple');
  app.use(defaultHeaders, settingsPolicy, (_request, response, next) => {
    // same-origin, because without any referrer a form's Origin would be `null`
    response.set({ 'Cache-Control': 'no-store', 'Referrer-Policy': 'same-origin' });
    next();
  });
  return app;
}

/** The error to show for one that a route, the form's parser or Express threw. */
function knownError(error: unknown, onError: SettingsOptions['onError']): unknown {
  const status = error instanceof Error && 'status' in error ? error.status : undefined;
  if (status === 413 || status === 415) return new AppError('invalid_request', 'The form is malformed.');
  if (status === 400) return error;
  const known = toAppError(error);
  if (known.code === 'internal') onError(error);
  return known;
}
