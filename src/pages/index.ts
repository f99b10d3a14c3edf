import express, { type Express, type RequestHandler } from 'express';
import { assets } from './assets';
import { defaultHeaders, type Page, type Visit } from './page';
import { errorCatalogue } from './errorCatalogue';
import { graphiql, sandbox } from './tools';
import { type FirstCall, landing } from './landing';
import { layout } from './html';
import { createSite, type Site } from './site';
import { createPageSender } from './textCache';
import { failed, methodNotAllowed, nothingHere, READS, wantsPage } from './problems';

/** Of {@link Visit}, `demoKey` is the demo's key itself, for the visitors who may see it (textCache.ts). */
export interface PagesOptions extends Visit {
  /** Pages that other rooms make, tried before the 404: the reference, the guides. */
  readonly others: readonly RequestHandler[];
  /** The site that the pages are of, whose files are served here, too. */
  readonly site?: Site;
  /** The first request on the landing page, if it is not the usual one. */
  readonly firstCall?: FirstCall | undefined;
  /** Called with errors that are masked as `internal`. */
  readonly onError?: (error: unknown) => void;
}

/**
 * The web pages and their assets, as a node:http request handler. Any other path is a 404: a page for a browser, a
 * problem for other clients. A problem's request id is the response's X-Request-Id.
 */
export function createPages(options: PagesOptions): Express {
  const { site = createSite(), others, introspection } = options;
  const app = express();
  app.locals.site = site;
  app.disable('x-powered-by').enable('case sensitive routing').enable('strict routing').set('query parser', 'simple');
  app.use(defaultHeaders);
  app.use('/assets', onlyReads, site.files, assets());
  app.get('/favicon.ico', (_request, response) => {
    response.redirect(307, site.path + site.icon);
  });
  const send = createPageSender(site, options.demoKey);
  const pages: readonly Page[] = [landing(site.description, options.firstCall), sandbox, graphiql, ...errorCatalogue];
  for (const page of pages) {
    const { path, policy, otherMethods = [] } = page;
    const answer: RequestHandler = (request, response) => {
      send(request, response, path, (demoKey) => layout({ ...page, body: page.body({ introspection, demoKey }) }));
    };
    app
      .route(path)
      .get(wantsPage, policy, answer)
      .all(methodNotAllowed([...READS, ...otherMethods]));
  }
  // where the guide on webhooks was in earlier versions
  app.get('/webhooks', (_request, response) => {
    response.redirect(301, `${site.path}/guides/webhooks`);
  });
  app.use(...others);
  app.use(nothingHere);
  app.use(failed(options.onError));
  return app;
}

/** Refuses methods other than GET and HEAD. */
const onlyReads: RequestHandler = (request, response, next) => {
  if (READS.includes(request.method)) next();
  else void methodNotAllowed(READS)(request, response, next);
};
