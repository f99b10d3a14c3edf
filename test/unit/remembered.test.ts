import v8 from 'node:v8';
import vm from 'node:vm';
import { type Authenticate, createAuthenticator, unauthenticated } from '../../src/auth/authenticate';
import { type ApiKey, checksum, DEFAULT_KEY_PREFIX, generateKey, hashAnew } from '../../src/auth/keys';
import type { KeyPrincipal } from '../../src/auth/principal';
import type { RateState } from '../../src/admission/rateLimit';
import { contextFactory, type IncomingRequest } from '../../src/operations/context';

/*
 * Rejections may be cached, successful authentication never is: of an accepted key it is remembered what is worth reading while it is read.
 */

v8.setFlagsFromString('--expose-gc');
const collectGarbage = vm.runInNewContext('gc') as () => void;

/** Megabytes that stay in memory after 5,000 requests, each with 10 to 15 KB of spaces in its header. */
async function retainedBy(ask: (authorization: string) => Promise<unknown>, keyOf: () => string): Promise<number> {
  const used = (): number => {
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const before = used();
  for (let nth = 0; nth < 5000; nth += 1) {
    const header = Buffer.from(`Bearer ${' '.repeat(10_000 + nth)}${keyOf()}`).toString('latin1');
    await expect(ask(header)).rejects.toThrow();
  }
  return (used() - before) / 1_000_000;
}

const ORGANISATION = {
  id: 'o',
  name: 'O',
  plan: 'integrations',
  currency: 'EUR',
  cluster: 'default',
  state: 'active',
} as const;
const made = generateKey(DEFAULT_KEY_PREFIX, '');
const request = (address = '127.0.0.1'): IncomingRequest => ({
  requestId: 'r',
  authorization: `Bearer ${made.key}`,
  idempotencyKey: undefined,
  address,
  onRate: () => undefined,
  onReplay: () => undefined,
  onPrincipal: () => undefined,
});
const rate = (allowed: boolean): RateState => ({ allowed, limit: 1, remaining: 0, resetAt: new Date() });

function stored(change: Partial<ApiKey> = {}): ApiKey {
  const { id, displayPrefix: prefix, lastFour: last_four, salt, hash } = made;
  const now = new Date();
  return {
    ...{ _id: id, organisation: ORGANISATION, name: 'k', prefix, last_four, salt, hash, scopes: [], created_by: 't' },
    ...{ created_at: now, expires_at: null, revoked_at: null, last_used_at: null, last_used_from: null },
    ...{ allowed_ranges: [], rotated_to: null, ...change },
  };
}

describe('an authenticator', () => {
  function withStore(read: () => ApiKey | null) {
    const find = jest.fn(() => Promise.resolve(read()));
    const countFailure = () => Promise.resolve();
    const apiKeys = { find, markUsed: () => undefined };
    const { authenticate } = createAuthenticator({
      apiKeys,
      keyPrefixes: [DEFAULT_KEY_PREFIX],
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
    // the headers are 62 MB
    expect(retained).toBeLessThan(30);
  });

  test('reads a key from a wrong address every time, since it may come from an allowed one next', async () => {
    const { find, ask } = withStore(() => stored({ allowed_ranges: ['10.0.0.0/8'] }));
    for (let time = 0; time < 300; time += 1) await expect(ask(`Bearer ${made.key}`, '127.0.0.1')).rejects.toThrow();
    await expect(ask(`Bearer ${made.key}`, '10.1.2.3')).resolves.toMatchObject({ key: { id: made.id } });
    expect(find).toHaveBeenCalledTimes(301);
  });
});

describe('a key that was accepted is likely to be', () => {
  const [OLD, NEW] = ['old pepper', 'new pepper'];

  /** Whether a request is likely to be accepted, while the store reads this. */
  function asking(options: { readonly previousPepper?: string; readonly seenFor?: number } = {}) {
    let read: () => Promise<ApiKey | null> = () => Promise.resolve(null);
    const { authenticate } = createAuthenticator({
      apiKeys: { find: () => read(), markUsed: () => undefined },
      keyPrefixes: [DEFAULT_KEY_PREFIX],
      pepper: options.previousPepper === undefined ? '' : NEW,
      countFailure: () => Promise.resolve(),
      ...options,
    });
    return async (find: ApiKey | null | (() => Promise<ApiKey>), address = '127.0.0.1', key = made.key) => {
      read = typeof find === 'function' ? find : () => Promise.resolve(find);
      let isLikely = false;
      await authenticate(`Bearer ${key}`, address, undefined, () => (isLikely = true)).catch(() => undefined);
      return isLikely;
    };
  }

  test.each<[string, Partial<ApiKey>, string]>([
    ['after it has expired', { expires_at: new Date(0) }, '127.0.0.1'],
    ['from an address that it does not allow', { allowed_ranges: ['10.0.0.0/8'] }, '192.0.2.1'],
  ])('not %s', async (_title, change, address) => {
    const likely = asking();
    expect(await likely(stored(), address)).toBe(false);
    expect(await likely(stored(), address)).toBe(true);
    await likely(stored(change), address);
    expect(await likely(stored(), address)).toBe(false);
  });

  test('until its time is over, though it was not read since', async () => {
    const likely = asking();
    const expires_at = new Date(Date.now() + 20);
    await likely(stored({ expires_at }));
    while (Date.now() <= expires_at.getTime()) await new Promise(setImmediate);
    expect(await likely(stored())).toBe(false);
  });

  test('with its secret only, which a wrong one does not make forgotten', async () => {
    const likely = asking();
    await likely(stored());
    const idEnd = DEFAULT_KEY_PREFIX.length + 22;
    const body = made.key.slice(0, idEnd) + generateKey(DEFAULT_KEY_PREFIX, '').key.slice(idEnd, -6);
    expect(await likely(stored(), undefined, body + checksum(body))).toBe(false);
    expect(await likely(stored())).toBe(true);
  });

  test('by one request at a time', async () => {
    const likely = asking();
    await likely(stored());
    let answer = (_key: ApiKey): void => undefined;
    const first = likely(() => new Promise((resolve) => (answer = resolve)));
    expect(await likely(stored())).toBe(false);
    answer(stored());
    expect(await first).toBe(true);
    expect(await likely(stored())).toBe(true);
  });

  test('whichever pepper it is hashed with', async () => {
    const likely = asking({ previousPepper: OLD });
    const secret = made.key.slice(DEFAULT_KEY_PREFIX.length + 23, -6);
    const before = stored(hashAnew(secret, OLD));
    await likely(before);
    expect(await likely(before)).toBe(true);
    expect(await likely(stored(hashAnew(secret, NEW)))).toBe(true);
    expect(await likely(stored(hashAnew(secret, NEW)))).toBe(true);
  });

  test('for some time where its organisation can move', async () => {
    const likely = asking({ seenFor: 1 });
    await likely(stored());
    const until = performance.now() + 20;
    while (performance.now() < until) await new Promise(setImmediate);
    expect(await likely(stored())).toBe(false);
  });
});

describe('a request of a caller who is likely to be accepted', () => {
  const principal: KeyPrincipal = {
    kind: 'key',
    organisation: ORGANISATION,
    scopes: new Set(),
    key: { id: made.id, name: 'k', prefix: 'p', expiresAt: null, mcp: 'read' },
  };

  /** Opens a context; `events` says in which order it takes its point, reads ahead and reads its key. */
  function opening({
    was = principal,
    is = principal as KeyPrincipal | null,
    isTraced = false,
    isCalm = true,
    allowed = true,
  }) {
    const events: string[] = [];
    const consume = (_caller: unknown, points = 1): Promise<RateState> => {
      events.push(`points ${String(points)}`);
      return Promise.resolve(rate(allowed));
    };
    const authenticate = async (...[, , , onLikely]: Parameters<Authenticate>): Promise<KeyPrincipal> => {
      onLikely?.(was);
      await new Promise(setImmediate);
      events.push('key');
      if (!is) throw unauthenticated();
      return is;
    };
    const open = contextFactory({
      ...{ authenticate, limiter: { consume }, organisationData: (() => ({})) as never },
      checkElement: () => ({ faults: [], more: 0, isCut: false }),
      isCalm: () => isCalm,
    });
    const trace = isTraced ? { trace: (_name: string, run: () => unknown) => run() } : {};
    const ahead = { args: {}, begun: undefined };
    const opened = open({ ...request(), ...(trace as object) }, () => {
      events.push('read');
      return Promise.resolve(ahead);
    });
    return { events, opened, ahead };
  }

  test('takes its point, and reads, before its key is read', async () => {
    const { events, opened, ahead } = opening({});
    expect(await (await opened).ahead).toBe(ahead);
    expect(events).toEqual(['points 1', 'read', 'key']);
  });

  test('reads again if its organisation has moved', async () => {
    const { opened } = opening({ is: { ...principal, organisation: { ...ORGANISATION, cluster: 'eu' } } });
    expect((await opened).ahead).toBeUndefined();
  });

  test('gets its point back if its key is refused', async () => {
    const { events, opened } = opening({ is: null });
    await expect(opened).rejects.toMatchObject({ code: 'unauthenticated' });
    await new Promise(setImmediate);
    expect(events).toEqual(['points 1', 'read', 'key', 'points -1']);
  });

  test('does not read ahead over its limit, and is told so once its key is accepted', async () => {
    const over = opening({ allowed: false });
    await expect(over.opened).rejects.toMatchObject({ code: 'rate_limited' });
    expect(over.events).toEqual(['points 1', 'key']);
    await expect(opening({ allowed: false, is: null }).opened).rejects.toMatchObject({ code: 'unauthenticated' });
  });

  test.each([
    ['of a suspended organisation', { state: 'suspended' }],
    ['of a plan without integrations', { plan: 'starter' }],
  ] as const)('does not read ahead for a key %s', async (_title, change) => {
    const { events, opened } = opening({ was: { ...principal, organisation: { ...ORGANISATION, ...change } } });
    expect((await opened).ahead).toBeUndefined();
    expect(events).toEqual(['points 1', 'key']);
  });

  test.each([
    ['it is traced, since a read that is dropped would leave a span', { isTraced: true }],
    ['many others wait for the database', { isCalm: false }],
  ])('does not read ahead if %s', async (_title, change) => {
    const { events, opened } = opening(change);
    await opened;
    expect(events).toEqual(['key', 'points 1']);
  });
});

describe('a caller over its limit', () => {
  const principal: KeyPrincipal = {
    kind: 'key',
    organisation: ORGANISATION,
    scopes: new Set(),
    key: { id: made.id, name: 'k', prefix: 'p', expiresAt: null, mcp: 'read' },
  };
  const opening = (authenticate: () => Promise<KeyPrincipal>, consume: () => Promise<RateState>) =>
    contextFactory({
      ...{ authenticate, limiter: { consume }, organisationData: (() => ({})) as never },
      checkElement: () => ({ faults: [], more: 0, isCut: false }),
    });

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
    // the headers are 62 MB
    expect(retained).toBeLessThan(30);
  });

  test('is cached per address, since a key may be restricted to some', async () => {
    const authenticate = jest.fn(() => Promise.resolve(principal));
    const open = opening(authenticate, () => Promise.resolve(rate(false)));
    await expect(open(request('10.0.0.1'))).rejects.toThrow();
    await expect(open(request('10.0.0.2'))).rejects.toThrow();
    expect(authenticate).toHaveBeenCalledTimes(2);
  });
});
