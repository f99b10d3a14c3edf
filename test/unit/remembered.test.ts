import type { RateState } from '../../src/admission/rateLimit';
import { createAuthenticator, unauthenticated } from '../../src/auth/authenticate';
import { type ApiKey, DEFAULT_KEY_PREFIX, generateKey } from '../../src/auth/keys';
import type { KeyPrincipal } from '../../src/auth/principal';
import { collectGarbage } from '../support/collectGarbage';
import { made, opening as openingWith, principal, rate, request, stored } from '../support/keyCaller';

/* Rejections may be cached, successful authentication never is. */

/** Megabytes that stay in memory after 4,000 requests, each with 10 to 14 KB of spaces in its header. */
async function retainedBy(ask: (authorization: string) => Promise<unknown>, keyOf: () => string): Promise<number> {
  const used = (): number => {
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const before = used();
  for (let nth = 0; nth < 4000; nth += 1) {
    const header = Buffer.from(`Bearer ${' '.repeat(10_000 + nth)}${keyOf()}`).toString('latin1');
    await expect(ask(header)).rejects.toThrow();
  }
  return (used() - before) / 1_000_000;
}

describe('an authenticator', () => {
  function withStore(read: () => ApiKey | null) {
    const find = jest.fn(() => Promise.resolve(read()));
    const countFailure = () => Promise.resolve();
    const apiKeys = { find, markUsed: () => undefined };
    const { authenticate } = createAuthenticator({
      apiKeys,
      pepper: '',
      countFailure,
    });
    return { find, ask: authenticate };
  }

  test.each<[string, ApiKey | null]>([
    ['does not exist', null],
    ['was revoked', stored({ revoked_at: new Date() })],
    ['is expired', stored({ expires_at: new Date(0) })],
    ['has another secret', stored({ hash: generateKey(DEFAULT_KEY_PREFIX, '').hash })],
  ])('stops querying the database for a repeated key that %s', async (_why, found) => {
    const { find, ask } = withStore(() => found);
    for (let time = 0; time < 500; time += 1) {
      await expect(ask(`Bearer ${made.key}`, '127.0.0.1')).rejects.toMatchObject({ code: 'unauthenticated' });
    }
    expect(find.mock.calls.length).toBeLessThanOrEqual(100);
  });

  test('keeps nothing of the headers of the keys that it rejected', async () => {
    const { ask } = withStore(() => null);
    const retained = await retainedBy(
      (authorization) => ask(authorization, '127.0.0.1'),
      () => generateKey(DEFAULT_KEY_PREFIX, '').key,
    );
    // the headers are 48 MB; what else a busy worker keeps is some
    expect(retained).toBeLessThan(24);
  });

  test('reads a key from a wrong address every time, since it may come from an allowed one next', async () => {
    const { find, ask } = withStore(() => stored({ allowed_ranges: ['10.0.0.0/8'] }));
    for (let time = 0; time < 300; time += 1) await expect(ask(`Bearer ${made.key}`, '127.0.0.1')).rejects.toThrow();
    await expect(ask(`Bearer ${made.key}`, '10.1.2.3')).resolves.toMatchObject({ key: { id: made.id } });
    expect(find).toHaveBeenCalledTimes(301);
  });
});

describe('a caller over its limit', () => {
  const opening = (authenticate: () => Promise<KeyPrincipal>, consume: () => Promise<RateState>) =>
    openingWith({ authenticate, limiter: { consume } });

  test('is rejected again without reading its key, and never accepted without that', async () => {
    let [isRevoked, allowed] = [false, false];
    const authenticate = jest.fn(() => (isRevoked ? Promise.reject(unauthenticated()) : Promise.resolve(principal)));
    const open = opening(authenticate, () => Promise.resolve(rate(allowed)));
    for (let time = 0; time < 20; time += 1) {
      await expect(open(request())).rejects.toMatchObject({ code: 'rate_limited' });
    }
    expect(authenticate).toHaveBeenCalledTimes(1);
    [isRevoked, allowed] = [true, true];
    await expect(open(request())).rejects.toMatchObject({ code: 'unauthenticated' });
    expect(authenticate).toHaveBeenCalledTimes(2);
  });

  test('is charged once for the first request of its next window', async () => {
    let allowed = false;
    const consume = jest.fn(() => Promise.resolve(rate(allowed)));
    const open = opening(() => Promise.resolve(principal), consume);
    await expect(open(request())).rejects.toMatchObject({ code: 'rate_limited' });
    allowed = true;
    consume.mockClear();
    await expect(open(request())).resolves.toMatchObject({ requestId: 'r' });
    expect(consume).toHaveBeenCalledTimes(1);
  });

  test('is cached without the header that it pads', async () => {
    const open = opening(
      () => Promise.resolve(principal),
      () => Promise.resolve(rate(false)),
    );
    const retained = await retainedBy(
      (authorization) => open({ ...request(), authorization }),
      () => made.key,
    );
    // the headers are 48 MB; what else a busy worker keeps is some
    expect(retained).toBeLessThan(24);
  });

  test('is cached per address, since a key may be restricted to some', async () => {
    const authenticate = jest.fn(() => Promise.resolve(principal));
    const open = opening(authenticate, () => Promise.resolve(rate(false)));
    await expect(open(request('10.0.0.1'))).rejects.toThrow();
    await expect(open(request('10.0.0.2'))).rejects.toThrow();
    expect(authenticate).toHaveBeenCalledTimes(2);
  });
});
