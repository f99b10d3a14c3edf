import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import { AppError, findAppError, notFound } from '../errors';
import { setErrorHeaders, writeError } from '../http/problem';
import { html, layout } from './html';
import type { Site } from './site';

/** Sends an error: a page for a browser, a problem (RFC 9457) for other clients. */
export function sendError(request: Request, response: Response, error: AppError): void {
  const { code, status, title, detail } = error;
  // replaces what a file that was to be served would have; the settings have no-store
  if (response.get('Cache-Control') !== 'no-store') response.set('Cache-Control', 'no-cache');
  response.vary('Accept');
  // the problem comes first so that `Accept: */*` gets it
  if (request.accepts(['application/problem+json', 'text/html']) === 'text/html') {
    setErrorHeaders(response, error);
    const body = html`<article>
      <h1>${title}</h1>
      <p class="lead">${detail}</p>
      <p><span class="badge">${status}</span> <a href="/errors/${code}">${code}</a></p>
      <p><a href="/">Home page</a></p>
    </article>`;
    const page = layout({ title, description: detail, body });
    response
      .status(status)
      .type('html')
      // set by createPages, and for the settings
      .send((response.app.locals.site as Site).textOf(page));
  } else writeError({ request, response }, error);
}

/** Rejects callers that do not accept HTML, such as a GraphQL client that sends queries by GET. */
export const wantsPage: RequestHandler = (request, response, next) => {
  if (request.accepts('html') !== false) {
    next();
    return;
  }
  const error =
    request.path === '/graphql'
      ? new AppError('method_not_allowed', 'GraphQL requests must use POST.', { allow: ['POST'] })
      : new AppError('not_acceptable', 'This is an HTML page: `Accept` must include text/html.');
  sendError(request, response, error);
};

/** The methods that read. */
export const READS = ['GET', 'HEAD'];

/** 404 for any path without a page. */
export const nothingHere: RequestHandler = (request, response) => {
  sendError(request, response, notFound('page'));
};

/** 405 with the methods that the path supports. */
export function methodNotAllowed(allow: readonly string[]): RequestHandler {
  return (request, response) => {
    const detail = `${request.path} does not support ${request.method}.`;
    sendError(request, response, new AppError('method_not_allowed', detail, { allow }));
  };
}

/** Handles errors thrown by Express or file serving: client errors are shown, others are masked and passed to `onError`. */
export function failed(onError: ((error: unknown) => void) | undefined): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    if (response.headersSent) {
      next(error);
      return;
    }
    // these are of the file that was to be served; Content-Range stays, since a 416 needs it
    for (const name of ['Content-Encoding', 'ETag', 'Last-Modified']) response.removeHeader(name);
    const appError = findAppError(error) ?? requestError(error);
    if (!appError) onError?.(error);
    sendError(request, response, appError ?? new AppError('internal', 'Something went wrong on our side.'));
  };
}

/** What Express, its parser of forms and file serving refuse in a request; undefined for other errors. */
export function requestError(error: unknown): AppError | undefined {
  switch (error instanceof Error && 'status' in error ? error.status : undefined) {
    case 400:
      return new AppError('invalid_request', 'The URL, or the form, is malformed.');
    case 412:
      return new AppError(
        'precondition_failed',
        'The file is not the one that `If-Match` or `If-Unmodified-Since` names.',
      );
    case 413:
      return new AppError('payload_too_large', 'The form is too large.');
    case 415:
      return new AppError('unsupported_media_type', 'Send the form in UTF-8 and uncompressed.');
    case 416:
      return new AppError('range_not_satisfiable', 'The file ends before the `Range`.');
    default:
      return undefined;
  }
}
