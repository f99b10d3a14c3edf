/* The codes of errors shown to callers. Apart from the status number they are independent of HTTP and GraphQL. */

/** Whether to retry a request. Shown at /errors/{code} and in the guide for integrators; the packages in clients/ follow it. */
export const RETRIES = {
  after: 'Retry after the number of seconds in `Retry-After`. Retry writes with the same `Idempotency-Key`.',
  again:
    'Nothing was stored. Without `errors`, retry the same request with increasing delays; with them a retry fails again.',
  keyed: 'Retry reads. Retry writes with the same `Idempotency-Key`, so that they happen only once.',
  no: 'Do not retry: the same request fails again. Change the request or the key first.',
} as const;

export type Retry = keyof typeof RETRIES;

/** Retry-After of errors that say `after` and no other time, in seconds. */
export const RETRY_AFTER = 2;

/** Every error code: its HTTP status, its title, what the caller can do, and whether to retry. Shown at /errors/{code}. */
export const ERROR_CODES = {
  invalid_request: {
    status: 400,
    retry: 'no',
    title: 'Invalid request',
    help: 'The request is malformed: invalid JSON or GraphQL, an unknown or invalid parameter, an id that is not a UUID, a cursor from a different list, or a GraphQL query over a limit, or a read whose answer would be larger than 16 MiB, or has a number that another program stored and no answer can hold: `detail` names object and member. `errors` lists invalid parameters; for GraphQL the message names the limit and the actual value.',
  },
  unauthenticated: {
    status: 401,
    retry: 'no',
    title: 'Unauthenticated',
    help: 'Send a valid API key as `Authorization: Bearer <key>`. The response is the same for a missing, malformed, unknown, expired or revoked key, and for one that is not allowed from the caller’s address: an admin sees which in the settings, under Requests.',
  },
  insufficient_scope: {
    status: 403,
    retry: 'no',
    title: 'Insufficient scope',
    help: 'The key is valid but lacks the scope named in `required_scope`. Ask an admin of the organisation to add it to the key.',
  },
  forbidden: {
    status: 403,
    retry: 'no',
    title: 'Forbidden',
    help: 'Whoever calls may not do this at all: not this key, whatever its scopes, or not this user. From REST a key gets it only if it is for some customers (`customer_ids`) and nobody can say whose objects of that type are.',
  },
  organisation_suspended: {
    status: 403,
    retry: 'no',
    title: 'Organisation suspended',
    help: 'The operator has suspended the organisation, or is erasing it: all its keys and users get this. The data of a suspended organisation is kept, and access works as soon as it is resumed.',
  },
  plan_required: {
    status: 403,
    retry: 'no',
    title: 'Plan required',
    help: "The organisation's plan does not include API access. Access works as soon as the plan includes it.",
  },
  not_found: {
    status: 404,
    retry: 'no',
    title: 'Not found',
    help: "The route does not exist, or the object does not exist in the key's organisation.",
  },
  method_not_allowed: {
    status: 405,
    retry: 'no',
    title: 'Method not allowed',
    help: 'The route does not support this method. `Allow` lists the methods it supports.',
  },
  not_acceptable: {
    status: 406,
    retry: 'no',
    title: 'Not acceptable',
    help: 'Responses are application/json: include it in `Accept`, or omit the header. Those of GraphQL can be text/event-stream, and those of its subscriptions must be.',
  },
  idempotency_in_progress: {
    status: 409,
    retry: 'after',
    title: 'Idempotency key in progress',
    help: 'A request with the same Idempotency-Key is still running.',
  },
  conflict: {
    status: 409,
    retry: 'again',
    title: 'Conflict',
    help: 'Another object has a value that only one may have: `errors` names the member, and a retry fails again. Without `errors`, other requests kept changing the same objects, even after internal retries.',
  },
  cursor_expired: {
    status: 410,
    retry: 'no',
    title: 'Cursor expired',
    help: 'Events are kept for 30 days, and those after this cursor are no longer complete. Copy the data again, then go on from `after=now` read before the copy.',
  },
  precondition_failed: {
    status: 412,
    retry: 'no',
    title: 'Precondition failed',
    help: 'The object is not in a version that `If-Match` names (in GraphQL `if_match`), or in one that the `If-None-Match` of a write names, and nothing was stored. Read it again, and repeat the change if it still makes sense.',
  },
  payload_too_large: {
    status: 413,
    retry: 'no',
    title: 'Payload too large',
    help: 'The body is too large: the limit is 1 MiB, 5 MiB for bulk calls, or 10 MiB for an attachment. Split it into smaller requests. Or a write changes more than the database takes in one transaction (many elements full of different words): send fewer at a time.',
  },
  unsupported_media_type: {
    status: 415,
    retry: 'no',
    title: 'Unsupported media type',
    help: 'Send the body as `Content-Type: application/json` in UTF-8, uncompressed. An attachment has one of the types that `Accept` lists, and its bytes must be of it.',
  },
  range_not_satisfiable: {
    status: 416,
    retry: 'no',
    title: 'Range not satisfiable',
    help: 'The `Range` begins after the end of the file, whose length `Content-Range` has. A complete file needs no other request.',
  },
  validation_failed: {
    status: 422,
    retry: 'no',
    title: 'Validation failed',
    help: 'The body is well-formed but invalid. `errors` lists each fault with a JSON Pointer to it.',
  },
  idempotency_key_reused: {
    status: 422,
    retry: 'no',
    title: 'Idempotency key reused',
    help: 'The Idempotency-Key was already used with a different request. Use a new key for each new request.',
  },
  quota_exceeded: {
    status: 422,
    retry: 'no',
    title: 'Quota exceeded',
    help: 'The organisation stores as much as it may, and nothing more was stored. Reading works. The operator can raise the limit or remove data; writes then work again within seconds.',
  },
  rate_limited: {
    status: 429,
    retry: 'after',
    title: 'Rate limited',
    help: 'The key has used its points for this minute, or too many requests from this address failed authentication. A REST request costs one point. A GraphQL request costs one per root field, plus one for each full 1,000 rows it can return in the worst case and, for a document that is new to the gateway, for each 200 tokens begun after the first 200. A bulk call costs one for each 100 elements begun. Requests without a valid key, including introspection, are limited per address.',
  },
  stored_object_invalid: {
    status: 500,
    retry: 'no',
    title: 'Stored object invalid',
    help: 'Another program stored the object in a form that the API cannot show; `errors` names the member. Lists leave such objects out, and say how many in `Scopegate-Omitted`. Whoever runs the gateway has to correct the object in the database.',
  },
  internal: {
    status: 500,
    retry: 'keyed',
    title: 'Internal error',
    help: 'Something went wrong on our side. The error is logged under the `request_id`; include it when you contact support.',
  },
  unavailable: {
    status: 503,
    retry: 'after',
    title: 'Unavailable',
    help: 'The database is not responding, or too many requests are in progress: in total, or for this key or organisation. Or the organisation is being moved, the gateway is stopping, or events are not recorded. `detail` says which.',
  },
} as const satisfies Record<string, { status: number; retry: Retry; title: string; help: string }>;

export type ErrorCode = keyof typeof ERROR_CODES;
/** All codes, in the order of the table. */
export const CODES = Object.keys(ERROR_CODES) as ErrorCode[];
