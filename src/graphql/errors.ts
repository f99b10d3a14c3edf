import { HeaderMap } from '@apollo/server';
import { unwrapResolverError } from '@apollo/server/errors';
import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { type AppError, type ErrorCode, ERROR_CODES, findAppError, shorten } from '../errors';
import { errorHeaders, extraMembers } from '../http/problem';
import { toAppError } from '../mask';

/** Apollo's own codes for what a caller did wrong. */
const CALLER_FAULTS: readonly string[] = [
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'BAD_USER_INPUT',
  'BAD_REQUEST',
  'OPERATION_RESOLUTION_FAILURE',
  'PERSISTED_QUERY_NOT_FOUND',
  'PERSISTED_QUERY_NOT_SUPPORTED',
];

/** What graphql-js says of a document whose fields or fragments take it too long to compare. */
const ABORTED = 'Validation aborted.';
const TOO_REPETITIVE =
  'The query names the same fields or fragments too often to be compared with each other. Ask for each field once at each place.';

/** Of a message that quotes what was sent. */
const MOST_CHARACTERS = 500;

/** An error as the GraphQL face shows it: the same code and status as REST, in `extensions`. What is not meant for the caller is masked. */
export function formatError(formatted: GraphQLFormattedError, error: unknown): GraphQLFormattedError {
  const place = {
    ...(formatted.locations && { locations: formatted.locations }),
    ...(formatted.path && { path: formatted.path }),
  };
  if (isCallerFault(formatted, error)) {
    const code = callerFaultCode(error);
    return {
      message: formatted.message === ABORTED ? TOO_REPETITIVE : shorten(formatted.message, MOST_CHARACTERS),
      ...place,
      extensions: { code, status: ERROR_CODES[code].status },
    };
  }
  const known = toAppError(unwrapResolverError(error));
  return { message: known.detail, ...place, extensions: extensionsOf(known) };
}

/** The code of Apollo's word on a request, by the HTTP status that it gave it. */
function callerFaultCode(error: unknown): ErrorCode {
  const status = error instanceof GraphQLError && (error.extensions.http as { status?: number } | undefined)?.status;
  if (status === 405) return 'method_not_allowed';
  return status === 406 ? 'not_acceptable' : 'invalid_request';
}

/** Whether an error is Apollo's or graphql's word on the request itself. */
export function isCallerFault(formatted: GraphQLFormattedError, error: unknown): boolean {
  return CALLER_FAULTS.includes(String(formatted.extensions?.code)) && !findAppError(error);
}

export function extensionsOf({ code, status, extras }: AppError): Record<string, unknown> {
  return { code, status, ...extraMembers(extras) };
}

/** An AppError that Apollo answers with its own HTTP status: for 401, 413 and 429, which concern the whole request. */
export function withHttpStatus(error: AppError): GraphQLError {
  const headers = new HeaderMap();
  for (const [name, value] of Object.entries(errorHeaders(error))) headers.set(name.toLowerCase(), value);
  const extensions: Record<string, unknown> = { http: { status: error.status, headers } };
  return new GraphQLError(error.detail, { originalError: error, extensions });
}
