import { BUDGET_HEADERS, SUCCESS_HEADERS } from '../http/answer';
import { CODES, type ErrorCode } from '../errors';
import { IDEMPOTENCY_KEY, OPERATOR_IDEMPOTENCY_KEY } from './retries';
import type { Parameter } from './types';

/** What the documents say about an API besides its operations. */
export interface Api {
  readonly title: string;
  readonly description: string;
  /** Before the paths of its operations. */
  readonly path: string;
  /** The security scheme of the document. */
  readonly security: readonly [name: string, description: string];
  /** What its callers authenticate with. */
  readonly credential: 'key' | 'token';
  /** The error codes that they can get. */
  readonly codes: readonly ErrorCode[];
  /** What they can do about an error, and the detail of its example, where these differ from those of `errors/`. */
  readonly words: Partial<Record<ErrorCode, { readonly help: string; readonly detail?: string }>>;
  /** The headers of every successful response. */
  readonly headers: readonly string[];
  readonly idempotencyKey: Parameter;
  /** The operations that may find what they would create: the response is then 200 instead of 201. */
  readonly findExisting?: readonly string[];
}

/** The description of the API of keys; `purpose` is a sentence that says what it is for. */
export function aboutKeyApi(purpose: string): string {
  return [
    `${purpose} Fields are snake_case, money is an integer in minor units, times are ISO 8601 UTC with milliseconds, ids`,
    'are UUIDs. Lists are paginated by cursor: follow `next_cursor`. Every response has `X-Request-Id`; errors are problem',
    'documents (RFC 9457) with a stable `code`.',
  ].join(' ');
}

export const KEY_API: Api = {
  title: 'Scopegate',
  description: aboutKeyApi("An organisation's quotes, products, orders, customers and request threads."),
  path: '/api/v1',
  security: ['api_key', 'An API key: `Authorization: Bearer <key>`. The required scope is listed with each operation.'],
  credential: 'key',
  codes: CODES,
  words: {},
  headers: SUCCESS_HEADERS,
  idempotencyKey: IDEMPOTENCY_KEY,
};

export const OPERATOR_API: Api = {
  title: 'Operator API',
  description: [
    'Manage the organisations of a gateway: create, change, move and erase them; their keys, sign-in links, webhooks and usage. For your own',
    'backend, never a browser. Lists, times, ids and errors are as in the API of keys.',
  ].join(' '),
  path: '/operator/v1',
  security: ['operator_token', 'The secret of a token of `OPERATOR_TOKENS`: `Authorization: Bearer <secret>`.'],
  credential: 'token',
  // operators have no scopes, and manage suspended organisations too
  codes: CODES.filter((code) => code !== 'insufficient_scope' && code !== 'organisation_suspended'),
  words: {
    unauthenticated: {
      help: 'Send the secret of a token of `OPERATOR_TOKENS` as `Authorization: Bearer <secret>`. The response is the same for a missing or wrong one, and from an address outside `OPERATOR_ALLOW`.',
      detail: 'A valid operator token is required: Authorization: Bearer <secret>.',
    },
    forbidden: {
      help: 'People sign in with an identity provider (`OIDC_ISSUER`), so there are no invitations.',
      detail: 'People sign in with your identity provider: add them there.',
    },
    plan_required: {
      help: "The organisation's plan does not include API access, so it gets no keys and webhooks. Change its plan first.",
    },
    not_found: {
      help: 'The route does not exist, or there is no such object, or not in this organisation.',
      detail: 'There is no such organisation.',
    },
    conflict: {
      help: '`errors` says what forbids it: an erasure or a move that goes on, an `external_ref` that is taken, the owner of a sandbox, or an `Idempotency-Key` whose first response had a secret, which is shown once. Without `errors`, the organisation with this `external_ref` is being erased, or other requests kept changing the same objects.',
    },
    cursor_expired: {
      help: "These events are read from MongoDB's log (oplog), which no longer goes back to this cursor: how long it does depends on its size. Go on from `after=now`, and read what was missed from each organisation's own events, which are kept for 30 days.",
      detail:
        "The log of the database no longer goes back to this cursor. Begin with after=now, and read what was missed from each organisation's own events.",
    },
    payload_too_large: {
      help: 'The body is too large: the limit is 1 MiB, 5 MiB for writes to one organisation, or 16 MiB for `POST /writes`. Split it into smaller requests. Or a write changes more than the database takes in one transaction (many elements full of different words): send fewer at a time.',
    },
    unsupported_media_type: {
      help: 'Send the body as `Content-Type: application/json`, of `POST /writes` as `application/x-ndjson`, in UTF-8, uncompressed.',
    },
    rate_limited: {
      help: 'The token has used its points for this minute, or too many requests from this address failed authentication. A REST request costs one point. Or the organisation has had as many new keys, rotations, webhooks, sign-in links or names in 24 hours as it may: `detail` says which.',
    },
    unavailable: { help: 'The database is not responding, or too many requests are in progress. `detail` says which.' },
  },
  headers: ['X-Request-Id', ...BUDGET_HEADERS],
  idempotencyKey: OPERATOR_IDEMPOTENCY_KEY,
  findExisting: ['create_organisation', 'create_sandbox'],
};
