import { ERROR_CODES, type ErrorCode, RETRY_AFTER } from '../errors';
import { problemOf } from '../http/problem';

interface Example {
  readonly detail: string;
  readonly members?: object;
  /** In GraphQL: the root field, if an operation gives the error, and what differs from REST. Without this it comes before any operation, if at all. */
  readonly graphql?: { readonly field?: string; readonly detail?: string; readonly members?: object };
}

/** An answer with each code, as the API writes it; test/api/http/problems.test.ts compares those that one request can provoke. */
const EXAMPLES: Readonly<Record<ErrorCode, Example>> = {
  invalid_request: {
    detail: 'limit: must be <= 100',
    members: { errors: [{ parameter: 'limit', code: 'range', detail: 'must be <= 100' }] },
    graphql: { field: 'quotes' },
  },
  unauthenticated: { detail: 'A valid API key is required: Authorization: Bearer <key>.' },
  insufficient_scope: {
    detail: 'This needs a key with the scope products:write.',
    members: { required_scope: 'products:write' },
    graphql: { field: 'upsert_products' },
  },
  // its page shows those of errorCauses.ts instead
  forbidden: { detail: 'A key with customer_ids cannot use this: Visit refers to Order, but to no customer.' },
  organisation_suspended: { detail: 'The organisation is suspended.' },
  plan_required: { detail: "The organisation's plan does not include API access." },
  not_found: { detail: 'There is no such quote.', graphql: { field: 'quote' } },
  method_not_allowed: {
    detail: 'DELETE is not allowed here; allowed: GET. Read-only: no route creates or changes quotes.',
    graphql: { detail: 'Only GET and POST are allowed.' },
  },
  not_acceptable: {
    detail: 'Responses are application/json only.',
    graphql: {
      detail:
        "An 'accept' header was provided for this request which does not accept application/json; charset=utf-8 or application/graphql-response+json; charset=utf-8",
    },
  },
  idempotency_in_progress: {
    detail: 'A request with this Idempotency-Key is still running; retry in a moment.',
    members: { retry_after: 1 },
    graphql: { field: 'open_request' },
  },
  conflict: {
    detail: 'Other requests kept changing the same objects; nothing was stored.',
    graphql: { field: 'update_product' },
  },
  cursor_expired: {
    detail: 'This cursor is older than 30 days, and events after it are no longer kept.',
    graphql: { field: 'events' },
  },
  precondition_failed: {
    detail: 'The object has changed since the version in If-Match.',
    graphql: { field: 'update_product' },
  },
  payload_too_large: { detail: 'The body is larger than 1 MiB.' },
  unsupported_media_type: { detail: 'Send the body as application/json in UTF-8.' },
  range_not_satisfiable: { detail: 'The file has 48213 bytes.' },
  validation_failed: {
    detail: '/text: is required',
    members: { errors: [{ pointer: '/text', code: 'required', detail: 'is required' }] },
    graphql: {
      field: 'add_request_message',
      detail: '/text: must not be empty',
      members: { errors: [{ pointer: '/text', code: 'length', detail: 'must not be empty' }] },
    },
  },
  idempotency_key_reused: {
    detail: 'This Idempotency-Key was already used with a different request; use a new one.',
    graphql: { field: 'open_request' },
  },
  quota_exceeded: {
    detail: 'The organisation stores 1000123456 bytes, and its limit is 1000000000; nothing was stored.',
    graphql: { field: 'upsert_products' },
  },
  rate_limited: { detail: 'Rate limit exceeded; retry in 23 s.', members: { retry_after: 23 } },
  stored_object_invalid: {
    detail:
      'The quote 3f0c2b1a-7d54-4e0e-9b6a-1f2d3c4b5a69 cannot be shown: /status is stored as "negotiating", which is not one of draft, sent, accepted, declined, expired, withdrawn. Another program stored it; whoever runs the gateway has to correct it.',
    members: {
      errors: [
        {
          pointer: '/status',
          code: 'not_allowed',
          detail: 'is stored as "negotiating", which is not one of draft, sent, accepted, declined, expired, withdrawn',
        },
      ],
    },
    graphql: { field: 'quote' },
  },
  internal: {
    detail: 'Something went wrong on our side. The error is logged under the request id.',
    graphql: { field: 'quotes' },
  },
  unavailable: { detail: 'The database is not responding.', graphql: { field: 'quotes' } },
};

/** The example of an error in the OpenAPI document and at /errors/{code}. */
export function exampleOf(code: ErrorCode): { readonly detail: string; readonly members: object } {
  const { detail, members = {} } = EXAMPLES[code];
  return { detail, members: { ...waitOf(code), ...members } };
}

/** The body of a GraphQL answer with an error; one before any operation has no path. */
export function graphqlExampleOf(code: ErrorCode): object {
  const { detail, members } = exampleOf(code);
  const { graphql = {} } = EXAMPLES[code];
  return graphqlError(code, graphql.detail ?? detail, graphql.field, graphql.members ?? members);
}

/** The body of a GraphQL answer with one error; `field` is the root field that it is of. */
export function graphqlError(code: ErrorCode, message: string, field?: string, members: object = {}): object {
  const { status } = ERROR_CODES[code];
  const extensions = { code, status, ...members, request_id: '…' };
  if (field === undefined) return { errors: [{ message, extensions }] };
  return { errors: [{ message, path: [field], extensions }], data: { [field]: null } };
}

/** The body of a REST answer with an error, as http/problem.ts writes it. */
export function restError(code: ErrorCode, detail: string, members: object = {}, requestId = '…'): object {
  return { ...problemOf({ code, detail, ...ERROR_CODES[code] }, requestId), ...members };
}

const waitOf = (code: ErrorCode): object => (ERROR_CODES[code].retry === 'after' ? { retry_after: RETRY_AFTER } : {});
