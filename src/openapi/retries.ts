import { createHash } from 'node:crypto';
import { IDEMPOTENCY_KEY_SCHEMA } from '../errors/idempotencyKey';
import { IF_MATCH_HEADER, IF_MATCH_PATTERN } from '../schema/entityTags';
import type { Parameter } from './types';

/* Headers of safe retries and caching (contract, section 7). */

export const IDEMPOTENCY_KEY: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'A unique string for this write, such as a UUID. If the same request is sent again within 24 hours, the first response is replayed with `Idempotent-Replayed: true` and nothing is written twice.',
  schema: IDEMPOTENCY_KEY_SCHEMA,
};

/** The parameter with an example, a UUID for each operation: tried on two operations, the same key would be refused as reused. */
export function withExampleKey(parameter: Parameter, operation: string): Parameter {
  const digits = createHash('sha256').update(operation).digest('hex');
  return { ...parameter, example: digits.replace(/^(.{8})(.{4}).(.{3})..(.{3})(.{12}).*$/, '$1-$2-4$3-8$4-$5') };
}

/** The header of the operator API, some of whose answers have secrets. */
export const OPERATOR_IDEMPOTENCY_KEY: Parameter = {
  ...IDEMPOTENCY_KEY,
  description:
    "A unique string for this request, such as a UUID. If the same request is sent again within 24 hours, nothing is created, written or replaced twice. A new organisation and the results of writes are answered again, with `Idempotent-Replayed: true`; the response is 409 if the first one had a secret (of a new key, webhook or invitation, or a webhook's replaced one), with the id of what it belongs to. Without effect on other operations, which can be repeated anyway.",
};

/** Any version, so that the example works whenever it is tried. */
export const IF_MATCH_EXAMPLE = '*';
const TAG_EXAMPLE = '"Yk3n0vJr2mXq8sWbT5cLdA9pZ1e"';

/** Conditions of a read of one object. */
export const READ_CONDITIONS: readonly Parameter[] = [
  {
    name: IF_MATCH_HEADER,
    in: 'header',
    required: false,
    description: 'An `ETag` of the object, or several with commas; the response is 412 if it has changed since.',
    schema: { type: 'string', pattern: IF_MATCH_PATTERN },
    example: IF_MATCH_EXAMPLE,
  },
  {
    name: 'If-None-Match',
    in: 'header',
    required: false,
    description: 'The `ETag` of your copy; the response is 304 without a body if it is still current.',
    schema: { type: 'string' },
    example: TAG_EXAMPLE,
  },
];

/** The condition of a write besides If-Match. */
export const IF_NONE_MATCH_OF_WRITE: Parameter = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description:
    'An `ETag`, or several with commas; the response is 412 if the object is in that version. `*` is any version.',
  schema: { type: 'string' },
  example: TAG_EXAMPLE,
};

export const NOT_MODIFIED = {
  description: 'The object has not changed since the response with the `ETag` in `If-None-Match`.',
  headers: { ETag: { $ref: '#/components/headers/ETag' } },
} as const;
