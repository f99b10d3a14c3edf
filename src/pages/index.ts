import express, { type Express, type Request, type RequestHandler } from 'express';
import { AppError } from '../errors';
import { assets } from './assets';
import { defaultHeaders } from './contentSecurity';
import { visibleDemoKey } from './demoKey';
import { errorCatalogue } from './errorCatalogue';
import { graphiql } from './graphiql';
import { landing } from './landing';
import type { Page, Visit } from './page';
import { failed, methodNotAllowed, nothingHere, sendError } from './problems';
import { reference } from './reference';
import { sandbox } from './sandbox';

export interface PagesOptions {
  /** Prefilled in the tools' Authorization header, for visitors on this machine only. */
  readonly demoKey?: string;
  /** The version shown in the footer. */
  readonly version: string;
  /** Who may introspect the GraphQL schema. */
  readonly introspection: 'public' | 'key' | 'off';
  /** Called with errors that are masked as `internal`. */
  readonly onError?: (error: unknown) => void;
}

const PAGES: readonly Page[] = [landing, reference, sandbox, graphiql, ...errorCatalogue];

/**
 * The web pages and their assets, as a node:http request handler. Any other path is a 404: a page for a browser, a
 * problem for other clients. A problem's request id is the response's X-Request-Id.
 */
export function createPages(options: PagesOptions): Express {
  const { version, onError } = options;
  const app = express();
  app.disable('x-powered-by').enable('case sensitive routing').enable('strict routing').set('query parser', 'simple');
  app.use(defaultHeaders);
  app.use('/assets', onlyReads(version), assets());
  app.get('/favicon.ico', (_request, response) => {
    response.redirect(308, '/assets/favicon.svg');
  });
  for (const page of PAGES) {
    const allow = ['GET', 'HEAD', ...(page.otherMethods ?? [])];
    app
      .route(page.path)
      .get(wantsPage(version), page.policy, serve(page, options))
      .all(methodNotAllowed(allow, version));
  }
  app.use(nothingHere(version));
  app.use(failed(version, onError));
  return app;
}

function serve(page: Page, options: PagesOptions): RequestHandler {
  return (request, response) => {
    const visit = visitOf(request, options);
    // a page with a key must not be written to disk
    response.set('Cache-Control', visit.demoKey === undefined ? 'no-cache' : 'no-store');
    response.vary('Accept').type('html').send(page.render(visit).text);
  };
}

function visitOf(request: Request, { version, introspection, demoKey }: PagesOptions): Visit {
  return { version, introspection, demoKey: visibleDemoKey(request, demoKey) };
}

/** Rejects callers that do not accept HTML, such as a GraphQL client that sends queries by GET. */
function wantsPage(version: string): RequestHandler {
  return (request, response, next) => {
    if (request.accepts('html') !== false) {
      next();
      return;
    }
    const error =
      request.path === sandbox.path
        ? new AppError('method_not_allowed', 'GraphQL requests must use POST.', { allow: ['POST'] })
        : new AppError('not_acceptable', 'This is an HTML page: `Accept` must include text/html.');
    sendError(request, response, error, version);
  };
}

function onlyReads(version: string): RequestHandler {
  const refuse = methodNotAllowed(['GET', 'HEAD'], version);
  return (request, response, next) => {
    if (request.method === 'GET' || request.method === 'HEAD') next();
    else void refuse(request, response, next);
  };
}
