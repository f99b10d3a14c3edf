import express, { type Express, type RequestHandler } from 'express';
import { AppError } from '../errors';
import { asset, assets } from './assets';
import { defaultHeaders, ownPolicy, type Page, visibleDemoKey, type Visit } from './page';
import { errorCatalogue } from './errorCatalogue';
import { graphiql, sandbox } from './tools';
import { landing } from './landing';
import { below, layout } from './html';
import { failed, methodNotAllowed, nothingHere, sendError } from './problems';
import { webhookGuide } from './webhooks';

/** `demoKey` is filled in as the tools' Authorization header, for visitors on this machine only. */
export interface PagesOptions extends Visit {
  /** The pages at `/api/v1/docs`; `requirePage` leaves the route if there is none at the path. */
  readonly reference: { readonly requirePage: RequestHandler; readonly answer: RequestHandler };
  /** Path of the pages, which a proxy in front removes. */
  readonly base?: string;
  /** Called with errors that are masked as `internal`. */
  readonly onError?: (error: unknown) => void;
}

const PAGES: readonly Page[] = [landing, sandbox, graphiql, webhookGuide, ...errorCatalogue];

/**
 * The web pages and their assets, as a node:http request handler. Any other path is a 404: a page for a browser, a
 * problem for other clients. A problem's request id is the response's X-Request-Id.
 */
export function createPages(options: PagesOptions): Express {
  const { base = '', reference } = options;
  const app = express();
  app.locals.base = base;
  app.disable('x-powered-by').enable('case sensitive routing').enable('strict routing').set('query parser', 'simple');
  app.use(defaultHeaders);
  app.use('/assets', onlyReads, assets());
  app.get('/favicon.ico', (_request, response) => {
    response.redirect(307, base + asset('favicon.svg'));
  });
  for (const page of PAGES) {
    const allow = [...READS, ...(page.otherMethods ?? [])];
    app.route(page.path).get(wantsPage, page.policy, serve(page, options)).all(methodNotAllowed(allow));
  }
  app
    .route('/api/v1/docs{/:group/:operation}')
    .all(reference.requirePage)
    .get(wantsPage, ownPolicy, reference.answer)
    .all(methodNotAllowed(READS));
  app.use(nothingHere);
  app.use(failed(options.onError));
  return app;
}

function serve(page: Page, { introspection, demoKey, base = '' }: PagesOptions): RequestHandler {
  return (request, response) => {
    const visit = { introspection, demoKey: visibleDemoKey(request, demoKey) };
    // a page with a key must not be written to disk
    response.set('Cache-Control', visit.demoKey === undefined ? 'no-cache' : 'no-store');
    const whole = layout({ ...page, body: page.body(visit) });
    response.vary('Accept').type('html').send(below(base, whole));
  };
}

/** Rejects callers that do not accept HTML, such as a GraphQL client that sends queries by GET. */
const wantsPage: RequestHandler = (request, response, next) => {
  if (request.accepts('html') !== false) {
    next();
    return;
  }
  const error =
    request.path === sandbox.path
      ? new AppError('method_not_allowed', 'GraphQL requests must use POST.', { allow: ['POST'] })
      : new AppError('not_acceptable', 'This is an HTML page: `Accept` must include text/html.');
  sendError(request, response, error);
};

const READS = ['GET', 'HEAD'];

/** Refuses methods other than GET and HEAD. */
const onlyReads: RequestHandler = (request, response, next) => {
  if (READS.includes(request.method)) next();
  else void methodNotAllowed(READS)(request, response, next);
};
