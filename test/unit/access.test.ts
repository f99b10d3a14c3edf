import { RateLimiterMemory } from 'rate-limiter-flexible';
import { addressBucket, isInRanges, parseRange, plainAddress, rangeFault } from '../../src/auth/addresses';
import { createAuthenticator } from '../../src/auth/authenticate';
import { type ApiKey, generateKey } from '../../src/auth/keys';
import { createRateLimiter, createFailureCounter, secondsUntilReset } from '../../src/admission/rateLimit';

const NOON = Date.parse('2026-11-21T12:00:00Z');
const made = generateKey('svc_live_', '');
const STORED = {
  ...made,
  _id: made.id,
  organisation: { id: 'o', name: 'O', plan: 'integrations', currency: 'USD', state: 'active' },
  name: 'test',
  prefix: made.displayPrefix,
  scopes: [],
  expires_at: null,
  revoked_at: null,
  allowed_ranges: [],
} as unknown as ApiKey;

/** An authenticator with one stored key, at noon. */
function authenticatorFor(changes: Partial<ApiKey> = {}) {
  const find = jest.fn((id: string) => Promise.resolve(id === made.id ? { ...STORED, ...changes } : null));
  const markUsed = jest.fn();
  const failures = createRateLimiter(2, new RateLimiterMemory({ points: 2, duration: 60 }));
  const { authenticate, recognise } = createAuthenticator({
    apiKeys: { find, markUsed },
    pepper: '',
    countFailure: createFailureCounter(failures),
    now: () => NOON,
  });
  return {
    find,
    markUsed,
    authenticate: (text = `Bearer ${made.key}`, address = '192.0.2.1') => authenticate(text, address),
    recognise: (text = `Bearer ${made.key}`, address = '192.0.2.1') => recognise(text, address),
  };
}

describe('authentication', () => {
  test('identifies the owner of a key, or why it is rejected, without side effects', async () => {
    const { authenticate, recognise, markUsed } = authenticatorFor();
    expect(await recognise()).toMatchObject({ kind: 'key', organisation: { id: 'o' } });
    const owner = { owner: { key: made.id, organisation: 'o' } };
    for (const [changes, refusal] of [
      [{ revoked_at: new Date(NOON) }, { reason: 'revoked', ...owner }],
      [{ expires_at: new Date(NOON) }, { reason: 'expired', ...owner }],
      [{ allowed_ranges: ['10.0.0.0/8'] }, { reason: 'address', ...owner }],
    ] as const) {
      expect(await authenticatorFor(changes).recognise()).toMatchObject(refusal);
    }
    expect(await authenticatorFor({ expires_at: new Date(NOON + 1) }).recognise()).toMatchObject({ kind: 'key' });
    // more often than an address may fail
    for (let time = 0; time < 5; time += 1) expect(await recognise('Bearer x')).toEqual({ reason: 'malformed' });
    await expect(authenticate('Bearer x')).rejects.toMatchObject({ code: 'unauthenticated' });
    expect(markUsed).not.toHaveBeenCalled();
  });
});

describe('a rate limit', () => {
  beforeEach(() => jest.useFakeTimers({ now: NOON }));
  afterEach(() => jest.useRealTimers());

  test('counts down, rejects requests beyond it, and resets in the next window', async () => {
    const limiter = createRateLimiter(3, new RateLimiterMemory({ points: 3, duration: 60 }));
    const first = await limiter.consume('a');
    expect(first).toEqual({ limit: 3, remaining: 2, resetAt: new Date(NOON + 60_000), allowed: true });
    jest.setSystemTime(NOON + 30_500);
    const third = await limiter.consume('a', 2);
    expect(third).toMatchObject({ remaining: 0, resetAt: new Date(NOON + 60_000), allowed: true });
    expect(secondsUntilReset(third)).toBe(30);
    expect(await limiter.consume('a')).toMatchObject({ remaining: 0, allowed: false });
    expect(await limiter.consume('b')).toMatchObject({ remaining: 2, allowed: true });
    jest.setSystemTime(NOON + 60_001);
    jest.runOnlyPendingTimers();
    expect(await limiter.consume('a')).toMatchObject({ remaining: 2, allowed: true });
  });

  test('never asks to retry immediately', () => {
    expect(secondsUntilReset({ limit: 1, remaining: 0, resetAt: new Date(NOON - 5), allowed: false })).toBe(1);
  });

  test('does not hide a failure of its store', async () => {
    const limiter = createRateLimiter(3, { consume: () => Promise.reject(new Error('away')) });
    await expect(limiter.consume('a')).rejects.toThrow('away');
  });
});

describe('an address', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8:0:0:ffff::1', '2001:db8:0:0::/64'],
    ['2001:db8:0:1::1', '2001:db8:0:1::/64'],
    ['unknown', 'unknown'],
  ])('%s counts as %s', (address, bucket) => {
    expect(addressBucket(plainAddress(address))).toBe(bucket);
  });

  test.each([
    ['192.0.2.7', [], true],
    ['192.0.2.7', ['192.0.2.0/24'], true],
    ['192.0.2.7', ['198.51.100.0/24', '192.0.2.7/32'], true],
    ['192.0.3.7', ['192.0.2.0/24'], false],
    ['::ffff:192.0.2.7', ['192.0.2.0/24'], true],
    ['2001:db8::7', ['2001:db8::/32'], true],
    ['2001:db8::7', ['0.0.0.0/0'], false],
    ['unknown', ['0.0.0.0/0', '::/0'], false],
    // as an import may have stored one
    ['192.0.2.7', ['::ffff:192.0.2.0/120'], true],
  ])('%s is in %j: %s', (address, ranges, expected) => {
    expect(isInRanges(address, ranges)).toBe(expected);
  });

  test.each([
    ['192.0.2.1', '192.0.2.1/32'],
    ['192.0.2.0/24', '192.0.2.0/24'],
    ['2001:DB8::1', '2001:db8::1/128'],
    ['10.0.0.0/8', '10.0.0.0/8'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['::/0', '::/0'],
    ['::ffff:127.0.0.0/104', '127.0.0.0/8'],
    ['::FFFF:10.0.0.1', '10.0.0.1/32'],
    ['::ffff:0:0/96', '0.0.0.0/0'],
  ])('%s is the range %s', (text, range) => {
    expect(parseRange(text)).toBe(range);
  });

  test.each([
    ['10.0.0.1/8', 'has host bits set: write 10.0.0.0/8 or 10.0.0.1/32'],
    ['2001:DB8::1/32', 'has host bits set: write 2001:db8::/32 or 2001:db8::1/128'],
    ['::ffff:10.0.0.1/104', 'has host bits set: write 10.0.0.0/8 or 10.0.0.1/32'],
    ['192.0.2.0/33', 'is not an address or CIDR range, e.g. 203.0.113.0/24 or 2001:db8::/32'],
    ['fe80::1%eth0', 'is not an address or CIDR range, e.g. 203.0.113.0/24 or 2001:db8::/32'],
    ['10.1', 'is not an address or CIDR range, e.g. 203.0.113.0/24 or 2001:db8::/32'],
  ])('%s as a range %s', (text, fault) => {
    expect(parseRange(text)).toBeUndefined();
    expect(rangeFault(text)).toBe(fault);
  });
});
