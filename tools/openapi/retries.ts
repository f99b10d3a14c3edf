import type { Parameter } from './types';

/* Headers of safe retries and caching (contract, section 7). */

export const IDEMPOTENCY_KEY: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'A unique string for this write, such as a UUID. If the same request is sent again within 24 hours, the first response is replayed with `Idempotent-Replayed: true` and nothing is written twice.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]+$' },
  // no example, since trying it on two requests would fail with idempotency_key_reused
};

/** The header of the operator API, whose answers contain secrets. */
export const SEALING_KEY: Parameter = {
  ...IDEMPOTENCY_KEY,
  description:
    '256 random bits as 43 characters of base64url. What creates something is done once: for 24 hours the first response is replayed with `Idempotent-Replayed: true`. What changes or ends something has the same result each time anyway.',
  schema: { type: 'string', pattern: '^[\\w-]{43}$' },
};

export const IF_NONE_MATCH: Parameter = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: 'The `ETag` of your copy; the response is 304 without a body if it is still current.',
  schema: { type: 'string' },
};

export const NOT_MODIFIED = {
  description: 'The object has not changed since the response with the `ETag` in `If-None-Match`.',
  headers: { ETag: { $ref: '#/components/headers/ETag' } },
} as const;
