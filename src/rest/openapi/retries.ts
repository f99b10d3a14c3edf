import type { Parameter } from './types';

/* Headers of safe retries and caching (contract, section 7). */

export const IDEMPOTENCY_KEY: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'A text of your choice for this one write, such as a UUID: sent again within 24 hours with the same body, it gets the first answer with `Idempotent-Replayed: true`, and nothing is written twice.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]+$' },
  // no example: whoever tries one out on two requests would be told that it was used before
};

export const IF_NONE_MATCH: Parameter = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: 'The `ETag` of the answer you hold; 304 without a body while it is still current.',
  schema: { type: 'string' },
};

export const NOT_MODIFIED = {
  description: 'The object is as it was when the `ETag` sent in `If-None-Match` was given.',
  headers: { ETag: { $ref: '#/components/headers/ETag' } },
} as const;
