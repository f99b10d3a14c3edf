import type { RateState } from '../../src/admission/rateLimit';
import { type ApiKey, DEFAULT_KEY_PREFIX, generateKey } from '../../src/auth/keys';
import { createPlans } from '../../src/auth/plans';
import type { KeyPrincipal } from '../../src/auth/principal';
import { readConfig } from '../../src/config';
import type { IncomingRequest } from '../../src/operations/context';
import { createOpenContext } from '../../src/operations/openContext';

/* A caller with a key, for unit tests: nothing is stored. */

export const ORGANISATION = {
  id: 'o',
  name: 'O',
  plan: 'integrations',
  currency: 'EUR',
  state: 'active',
} as const;
const plans = createPlans(readConfig({}));
export const made = generateKey(DEFAULT_KEY_PREFIX, '');
export const request = (address = '127.0.0.1'): IncomingRequest => ({
  requestId: 'r',
  authorization: `Bearer ${made.key}`,
  idempotencyKey: undefined,
  address,
  onRate: () => undefined,
  onReplay: () => undefined,
  onPrincipal: () => undefined,
});
export const rate = (allowed: boolean): RateState => ({ allowed, limit: 1, remaining: 0, resetAt: new Date() });

/** Opens contexts that cannot read anything. */
export const opening = (
  own: Pick<Parameters<typeof createOpenContext>[0], 'authenticate' | 'limiter'> &
    Partial<Parameters<typeof createOpenContext>[0]>,
): ReturnType<typeof createOpenContext> =>
  createOpenContext({
    organisationData: (() => ({})) as never,
    plans,
    eventSource: () => ({}) as never,
    checkElement: () => ({ faults: [], more: 0, isTruncated: false }),
    ...own,
  });

export function stored(change: Partial<ApiKey> = {}): ApiKey {
  const { id, displayPrefix: prefix, lastFour: last_four, salt, hash } = made;
  const now = new Date();
  return {
    _id: id,
    organisation: ORGANISATION,
    name: 'k',
    prefix,
    last_four,
    salt,
    hash,
    scopes: [],
    created_by: 't',
    created_at: now,
    expires_at: null,
    revoked_at: null,
    last_used_at: null,
    last_used_from: null,
    allowed_ranges: [],
    rotated_to: null,
    ...change,
  };
}

export const principal: KeyPrincipal = {
  kind: 'key',
  organisation: ORGANISATION,
  scopes: new Set(),
  key: { id: made.id, name: 'k', displayPrefix: 'p', expiresAt: null, mcp: 'read' },
};
