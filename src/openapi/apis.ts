import { type Callers, KEYS, OPERATORS } from './callers';
import { IDEMPOTENCY_KEY, OPERATOR_IDEMPOTENCY_KEY } from './retries';
import type { Parameter } from './types';

/** What the documents say about an API besides its operations. */
export interface Api {
  readonly title: string;
  readonly description: string;
  readonly path: string;
  readonly security: readonly [name: string, description: string];
  readonly callers: Callers;
  readonly idempotencyKey: Parameter;
  /** The operations that may find what they would create: the response is then 200 instead of 201. */
  readonly findExisting?: readonly string[];
}

export const KEY_API: Api = {
  title: 'Scopegate',
  description: [
    "An organisation's quotes, products, orders, customers and request threads. Fields are snake_case, money is an integer",
    'in minor units, times are ISO 8601 UTC with milliseconds, ids are UUIDs. Lists are paginated by cursor: follow',
    '`next_cursor`. Every response has `X-Request-Id`; errors are problem documents (RFC 9457) with a stable `code`.',
  ].join(' '),
  path: '/api/v1',
  security: [
    'api_key',
    'An API key: `Authorization: Bearer svc_live_…`. The required scope is listed with each operation.',
  ],
  callers: KEYS,
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
  callers: OPERATORS,
  idempotencyKey: OPERATOR_IDEMPOTENCY_KEY,
  findExisting: ['create_organisation', 'create_sandbox'],
};
