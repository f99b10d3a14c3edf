import { ERROR_CODES, type ErrorCode } from '../errors';
import { BUDGET_HEADERS, SUCCESS_HEADERS } from '../http/exchange';

/* Who calls an API, and what its document tells them about errors and headers. */

export interface Callers {
  readonly credential: 'key' | 'token';
  /** The error codes that they can get. */
  readonly codes: readonly ErrorCode[];
  /** What they can do about an error, and the detail of its example, where these differ from {@link ERROR_CODES}. */
  readonly words: Partial<Record<ErrorCode, { readonly help: string; readonly detail?: string }>>;
  readonly headers: readonly string[];
}

/** All codes but these and `forbidden`, which is for operations of signed-in users, on GraphQL alone. */
const codesWithout = (...never: readonly ErrorCode[]): ErrorCode[] =>
  (Object.keys(ERROR_CODES) as ErrorCode[]).filter((code) => code !== 'forbidden' && !never.includes(code));

export const KEYS: Callers = { credential: 'key', codes: codesWithout(), words: {}, headers: SUCCESS_HEADERS };

export const OPERATORS: Callers = {
  credential: 'token',
  codes: codesWithout('insufficient_scope', 'organisation_suspended'),
  words: {
    unauthenticated: {
      help: 'Send the secret of a token of `OPERATOR_TOKENS` as `Authorization: Bearer <secret>`. The response is the same for a missing or wrong one, and from an address outside `OPERATOR_ALLOW`.',
      detail: 'A valid operator token is required: Authorization: Bearer <secret>.',
    },
    plan_required: {
      help: "The organisation's plan does not include API access, so it gets no keys and webhooks. Change its plan first.",
    },
    not_found: {
      help: 'The route does not exist, or there is no such object, or not in this organisation.',
      detail: 'There is no such organisation.',
    },
    conflict: {
      help: '`errors` says what forbids it: an erasure or a move that goes on, an `external_ref` that is taken, or the owner of a sandbox. Without `errors`, the organisation with this `external_ref` is being erased, or other requests kept changing the same objects.',
    },
    rate_limited: {
      help: 'The token has used its points for this minute, or too many requests from this address failed authentication. A REST request costs one point. Or the organisation has had as many new keys, rotations, webhooks, sign-in links or names in 24 hours as it may: `detail` says which.',
    },
    unavailable: { help: 'The database is not responding, or too many requests are in progress. `detail` says which.' },
  },
  headers: ['X-Request-Id', ...BUDGET_HEADERS],
};
