import { BUDGET_HEADERS, SUCCESS_HEADERS } from '../http/exchange';
import { REST_CODES, type RestCode } from '../pages/errorExamples';

/* Who calls an API, and what its document tells them about errors and headers. */

export interface Callers {
  readonly credential: 'key' | 'token';
  /** The error codes that they can get. */
  readonly codes: readonly RestCode[];
  /** What they can do about an error, and the detail of its example, where these differ from those of `errors/`. */
  readonly words: Partial<Record<RestCode, { readonly help: string; readonly detail?: string }>>;
  readonly headers: readonly string[];
}

export const KEYS: Callers = { credential: 'key', codes: REST_CODES, words: {}, headers: SUCCESS_HEADERS };

export const OPERATORS: Callers = {
  credential: 'token',
  codes: REST_CODES.filter((code) => code !== 'insufficient_scope' && code !== 'organisation_suspended'),
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
