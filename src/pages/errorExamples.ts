import { ERROR_CODES, type ErrorCode, RETRY_AFTER } from '../errors';

/** The detail and the further members of an answer with each code, as the API writes them; a test provokes and compares most. */
const EXAMPLES: Readonly<Record<ErrorCode, { readonly detail: string; readonly members?: object }>> = {
  invalid_request: {
    detail: 'limit: must be <= 100',
    members: { errors: [{ parameter: 'limit', code: 'range', detail: 'must be <= 100' }] },
  },
  unauthenticated: { detail: 'A valid API key is required: Authorization: Bearer <key>.' },
  insufficient_scope: {
    detail: 'This needs a key with the scope products:write.',
    members: { required_scope: 'products:write' },
  },
  forbidden: {
    detail: 'This operation requires the role admin; yours is member. Ask an admin of the organisation.',
  },
  organisation_suspended: { detail: 'The organisation is suspended.' },
  plan_required: { detail: "The organisation's plan does not include API access." },
  not_found: { detail: 'There is no such quote.' },
  method_not_allowed: { detail: 'DELETE is not allowed here.' },
  not_acceptable: { detail: 'Responses are application/json only.' },
  idempotency_in_progress: {
    detail: 'A request with this Idempotency-Key is still running; retry in a moment.',
    members: { retry_after: 1 },
  },
  conflict: { detail: 'Other requests kept changing the same objects; nothing was stored.' },
  cursor_expired: { detail: 'This cursor is older than 30 days, and events after it are no longer kept.' },
  precondition_failed: { detail: 'The object has changed since the version in If-Match.' },
  payload_too_large: { detail: 'The body is larger than 1 MiB.' },
  unsupported_media_type: { detail: 'Send the body as application/json in UTF-8.' },
  validation_failed: {
    detail: '/text: is required',
    members: { errors: [{ pointer: '/text', code: 'required', detail: 'is required' }] },
  },
  idempotency_key_reused: {
    detail: 'This Idempotency-Key was already used with a different request; use a new one.',
  },
  quota_exceeded: {
    detail: 'The organisation stores 1000123456 bytes, and its limit is 1000000000; nothing was stored.',
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
  },
  internal: { detail: 'Something went wrong on our side. The error is logged under the request id.' },
  unavailable: { detail: 'The database is not responding.' },
};

/** The example of an error in the OpenAPI document and at /errors/{code}. */
export function exampleOf(code: ErrorCode): { readonly detail: string; readonly members: object } {
  const members = ERROR_CODES[code].retry === 'after' ? { retry_after: RETRY_AFTER } : {};
  return { members, ...EXAMPLES[code] };
}
