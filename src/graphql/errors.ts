import { HeaderMap } from '@apollo/server';
import { ApolloServerErrorCode, unwrapResolverError } from '@apollo/server/errors';
import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { type AppError, type ErrorCode, ERROR_CODES, findAppError, shorten } from '../errors';
import { JSON_TYPE } from '../http/answer';
import type { Exchange } from '../http/exchange';
import { type ErrorContent, type ErrorFormat, errorHeaders, extraMembers } from '../http/problem';
import { toAppError } from '../mongo/toAppError';
import { isOfEveryRow } from '../operations/run';
import { published } from '../schema/model';

/** Apollo's error codes for invalid requests. */
const CALLER_FAULTS: readonly string[] = Object.values(ApolloServerErrorCode).filter(
  (code) => code !== ApolloServerErrorCode.INTERNAL_SERVER_ERROR,
);

/** graphql-js's message for a document whose fields or fragments take too long to compare. */
const ABORTED = 'Validation aborted.';
const TOO_REPETITIVE =
  'The query repeats the same fields or fragments too often. Select each field only once in each place.';

/** Maximum length of a message that quotes the request. */
const MAX_CHARACTERS = 500;

/** Formats an error with the same code and status as REST, in `extensions`. Errors not meant for the caller are masked. */
export function formatError(formatted: GraphQLFormattedError, error: unknown): GraphQLFormattedError {
  const place = {
    ...(formatted.locations && { locations: formatted.locations }),
    ...(formatted.path && { path: formatted.path }),
  };
  if (isCallerFault(formatted, error)) {
    const code = callerFaultCode(error);
    return {
      message: formatted.message === ABORTED ? TOO_REPETITIVE : shorten(withPlace(formatted.message), MAX_CHARACTERS),
      ...place,
      extensions: { code, status: ERROR_CODES[code].status },
    };
  }
  const appError = toAppError(unwrapResolverError(error));
  // the error concerns every row, so its path names none of them
  const path = isOfEveryRow(appError) && formatted.path?.filter((part) => typeof part === 'string');
  return { message: appError.detail, ...place, ...(path && { path }), extensions: extensionsOf(appError) };
}

/** The message, with where the field is if it was selected beside the rows of a page instead of in them. */
function withPlace(message: string): string {
  const [, field, page] = /^Cannot query field "(\w+)" on type "(\w+)"\.$/.exec(message) ?? [];
  const isOfRows = published.rowFieldsOf(page)?.some(({ name }) => name.value === field) === true;
  return isOfRows ? `${message.slice(0, -1)}; did you mean inside \`data\`?` : message;
}

function callerFaultCode(error: unknown): ErrorCode {
  const status = error instanceof GraphQLError && error.extensions.http?.status;
  if (status === 405) return 'method_not_allowed';
  if (status === 406) return 'not_acceptable';
  return status === 415 ? 'unsupported_media_type' : 'invalid_request';
}

/** Whether Apollo or graphql-js rejected the request as invalid. */
export function isCallerFault(formatted: GraphQLFormattedError, error: unknown): boolean {
  return CALLER_FAULTS.includes(String(formatted.extensions?.code)) && !findAppError(error);
}

function extensionsOf({ code, status, extras }: ErrorContent): Record<string, unknown> {
  return { code, status, ...extraMembers(extras) };
}

/** One error with its request id, for what Apollo does not answer. */
export function errorOf(error: ErrorContent, requestId: string) {
  return { message: error.detail, extensions: { ...extensionsOf(error), request_id: requestId } };
}

/** Adds the request id to the errors of Apollo's answer, since its formatter does not know it, and notes the first code for the log. */
export function completeErrors(
  errors: readonly { readonly extensions?: Record<string, unknown> }[],
  { requestId, log }: Pick<Exchange, 'requestId' | 'log'>,
): void {
  for (const error of errors) Object.assign(error, { extensions: { ...error.extensions, request_id: requestId } });
  log.code = String(errors[0]?.extensions?.code);
}

/** The body for an error of the whole request. */
export const GRAPHQL_ERRORS: ErrorFormat = {
  contentType: JSON_TYPE,
  textOf: (error, requestId) => JSON.stringify({ errors: [errorOf(error, requestId)] }),
};

/** Wraps an AppError so that Apollo uses its HTTP status, for errors that concern the whole request (401, 413, 429). */
export function withHttpStatus(error: AppError): GraphQLError {
  const http = { status: error.status, headers: new HeaderMap(Object.entries(errorHeaders(error))) };
  return new GraphQLError(error.detail, { originalError: error, extensions: { http } as Record<string, unknown> });
}
