import { ERROR_CODES, type ErrorCode, RETRIES } from '../errors';
import { exampleOf, restError } from '../pages/errorExamples';
import { BODY_HEADERS } from '../http/body';
import { BUDGET_HEADERS, OMITTED, type SUCCESS_HEADERS } from '../http/answer';
import { METHODS, type RestOperation } from '../schema/declaredOperations';
import { readsOneObject } from '../rest/routes';
import type { Api } from './apis';

/* Error responses of operations, and headers of all responses. */

/** Statuses that are always sent before the key is known, and so without rate limit headers. */
const NEVER_KEYED: readonly number[] = [401, 405];
/** Statuses that may be sent before the key is known. */
const PERHAPS_KEYED: readonly number[] = [400, 413, 429, 500, 503];

/** Name in components of the variant of a header that a response may lack; {@link headerRefs} reads the ending. */
export const optional = (name: string): string => `${name}.perhaps`;

/** The headers of a response, as references to components, by name; the name may be that of an {@link optional} variant. */
export function headerRefs(names: readonly string[]): Record<string, object> {
  return Object.fromEntries(
    names.map((name) => [name.replace(/\.perhaps$/, ''), { $ref: `#/components/headers/${name}` }]),
  );
}

function headersOf(status: number, api: Api): string[] {
  // without those that only tell people something about their key: every answer to a key may have them
  const headers: string[] = ['X-Request-Id'];
  if (!NEVER_KEYED.includes(status))
    headers.push(...(PERHAPS_KEYED.includes(status) ? BUDGET_HEADERS.map(optional) : BUDGET_HEADERS));
  if (status === 401) headers.push('WWW-Authenticate');
  if (status === 405) headers.push('Allow');
  if (status === 415) headers.push(...BODY_HEADERS);
  if (status === 416) headers.push('Content-Range');
  const retries = codesOf(status, api).map((code) => ERROR_CODES[code].retry);
  if (retries.includes('after'))
    headers.push(retries.every((retry) => retry === 'after') ? 'Retry-After' : optional('Retry-After'));
  return headers;
}

/** Error statuses of all operations, of writes, and of operations with a body. */
const ALWAYS: readonly number[] = [400, 401, 403, 405, 406, 429, 500, 503];
const OF_WRITES: readonly number[] = [409, 422];
const WITH_BODY: readonly number[] = [413, 415];

/** `hasId` is whether the path names an object, `expires` whether it reads by a cursor that is valid for a limited time. */
export function errorResponses(
  operation: RestOperation,
  { api, hasId, expires }: { readonly api: Api; readonly hasId: boolean; readonly expires: boolean },
): Record<string, object> {
  const { rest, takesIfMatch } = operation;
  const { hasBody, root } = METHODS[rest.method];
  const more = [
    ...(hasId ? [404] : []),
    ...(expires ? [410] : []),
    ...(root === 'Mutation' ? OF_WRITES : []),
    ...(hasBody ? WITH_BODY : []),
    ...(takesIfMatch || readsOneObject(operation) ? [412] : []),
  ];
  return responseRefs([...ALWAYS, ...more].sort(), api);
}

export function responseRefs(statuses: readonly number[], api: Api): Record<string, object> {
  return Object.fromEntries(
    statuses.map((status) => [String(status), { $ref: `#/components/responses/${nameOf(status, api)}` }]),
  );
}

/** The codes of a status that callers of the API can get, in the order of errors/. */
function codesOf(status: number, { codes }: Api): ErrorCode[] {
  return codes.filter((code) => ERROR_CODES[code].status === status);
}

/** The name of a response in components: the API's first code with its status in PascalCase, 404 → NotFound. */
function nameOf(status: number, api: Api): string {
  const [code = 'internal'] = codesOf(status, api);
  return code.replaceAll(/(?:^|_)(\w)/g, (_match, letter: string) => letter.toUpperCase());
}

/** The components for those statuses of errors that operations have (`used`). */
export function sharedResponses(used: ReadonlySet<number>, api: Api): Record<string, object> {
  const statuses = new Set(Object.values(ERROR_CODES).map(({ status }) => status));
  const usedStatuses = [...statuses].filter((status) => used.has(status));
  return Object.fromEntries(usedStatuses.map((status) => [nameOf(status, api), response(status, api)]));
}

function response(status: number, api: Api): object {
  const codes = codesOf(status, api);
  const helpOf = (code: ErrorCode): string => api.words[code]?.help ?? ERROR_CODES[code].help;
  const retryOf = (code: ErrorCode): string =>
    RETRIES[ERROR_CODES[code].retry].replace('or the key', `or the ${api.credential}`);
  return {
    // the reference reads the text of each code from this form (reference/document.ts)
    description: codes.map((code) => `\`${code}\`: ${helpOf(code)} ${retryOf(code)}`).join('\n\n'),
    headers: headerRefs(headersOf(status, api)),
    content: {
      'application/problem+json': {
        schema: { $ref: '#/components/schemas/Problem' },
        examples: Object.fromEntries(codes.map((code) => [code, { value: problemExample(code, api) }])),
      },
    },
  };
}

function problemExample(code: ErrorCode, { words }: Api): object {
  const { detail, members } = exampleOf(code);
  return restError(code, words[code]?.detail ?? detail, members, REQUEST_ID);
}

const REQUEST_ID = '7f3c1a52-6f0e-4f3c-9b0a-0d9a6f6f2b11';

interface Header {
  readonly description: string;
  readonly required: boolean;
  readonly schema: object;
  readonly example: string | number;
}

/** All headers of responses, and optional variants of those that some responses may lack. */
export function sharedHeaders(api: Api): Record<string, Header> {
  const headers = headerComponents(api);
  const variants = BUDGET_HEADERS.map((name): [string, Header] => {
    const { description, ...rest } = headers[name];
    const when = `Absent if the request failed before its ${api.credential} was read.`;
    return [optional(name), { ...rest, description: `${description} ${when}`, required: false }];
  });
  const { 'Retry-After': wait, ETag: tag } = headers;
  const others = {
    ...(wait && { [optional('Retry-After')]: { ...wait, required: false } }),
    ...(tag && {
      [optional('ETag')]: {
        ...tag,
        description: `${tag.description} Absent with \`include\`, and in the answer to a key that may change the object but not read it.`,
        required: false,
      },
    }),
  };
  return { ...headers, ...Object.fromEntries(variants), ...others };
}

function headerComponents({
  credential,
}: Api): Record<(typeof SUCCESS_HEADERS)[number], Header> & Record<string, Header> {
  const text = (description: string, example: string, required = true): Header => ({
    description,
    required,
    schema: { type: 'string' },
    example,
  });
  const integer = (description: string, example: number): Header => ({
    description,
    required: true,
    schema: { type: 'integer', minimum: 0 },
    example,
  });
  return {
    'X-Request-Id': text("Id of the request, as in the log; the caller's `X-Request-Id` if it is valid.", REQUEST_ID),
    ...(credential === 'key'
      ? {
          'RateLimit-Policy': text(
            'The rate limits of the key (default) and of all keys of its organisation: q points per window of w seconds (IETF draft-ietf-httpapi-ratelimit-headers). That of the organisation is absent if that of the key was exceeded.',
            '"default";q=600;w=60, "organisation";q=6000;w=60',
          ),
          RateLimit: text(
            'What remains of each: r points, t seconds until the window ends.',
            '"default";r=599;t=60, "organisation";r=5999;t=60',
          ),
        }
      : {
          'RateLimit-Policy': text(
            'The rate limit of the token: q points per window of w seconds (IETF draft-ietf-httpapi-ratelimit-headers).',
            '"default";q=600;w=60',
          ),
          RateLimit: text('What remains of it: r points, t seconds until the window ends.', '"default";r=599;t=60'),
        }),
    'X-RateLimit-Limit': integer(`Points of the ${credential} per window.`, 600),
    'X-RateLimit-Remaining': integer(`Points of the ${credential} left in this window.`, 599),
    'X-RateLimit-Reset': integer('When the window ends, in Unix seconds.', 1795248000),
    'X-Api-Key-Expires-At': text(
      'When the key expires; only in the last 7 days before that.',
      '2026-11-28T09:00:00.000Z',
      false,
    ),
    'Scopegate-Mode': text('`test` if the key is of a sandbox, otherwise absent.', 'test', false),
    'Retry-After': integer('Seconds to wait before retrying.', 23),
    'WWW-Authenticate': text(
      '`Bearer`; where apps connect by OAuth, with `resource_metadata`, the address that describes how.',
      'Bearer',
    ),
    ETag: text('Strong entity tag of the current version of the object.', '"Yk3n0vJr2mXq8sWbT5cLdA9pZ1e"'),
    'Idempotent-Replayed': text('`true` if the response is replayed, otherwise absent.', 'true', false),
    [OMITTED]: {
      description:
        'How many stored objects were left out, since another program stored them in a form that cannot be shown; absent if none were.',
      required: false,
      schema: { type: 'integer', minimum: 1 },
      example: 1,
    },
    'Accept-Encoding': text('How a body may be encoded, if that was wrong.', 'identity', false),
    Accept: text('The type of a body, if that was wrong.', 'application/json', false),
    'Accept-Patch': text('The same, for a PATCH.', 'application/json', false),
    'Accept-Ranges': text('Always `bytes`.', 'bytes'),
    'Content-Disposition': text('The name of the file.', 'attachment; filename="drawing.pdf"'),
    'Content-Range': text(
      'The part that is sent, and the size of the file; of 416 the size alone.',
      'bytes 0-1023/48213',
    ),
    Allow: text('Methods that the route supports.', 'GET, HEAD'),
    Link: text(
      'URL of the next page (RFC 8288), relative unless the gateway knows its public address; absent on the last page, and if it would be longer than 1 kB.',
      '</api/v1/products?limit=20&cursor=WyI…>; rel="next"',
      false,
    ),
    Location: text(
      'URL of the created object, relative unless the gateway knows its public address.',
      '/api/v1/requests/87970e7f-9792-5f28-934c-f628382b72a6',
    ),
  };
}

/** Sent by the HTTP parser, for any operation. */
export const HEAD_TOO_LARGE = {
  description: 'The request line and headers are larger than 16 KiB.',
  headers: headerRefs(['X-Request-Id']),
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
} as const;
