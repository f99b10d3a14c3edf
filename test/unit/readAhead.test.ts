import type { RateState } from '../../src/admission/rateLimit';
import { type Authenticate, createAuthenticator, unauthenticated } from '../../src/auth/authenticate';
import { type ApiKey, checksum, DEFAULT_KEY_PREFIX, generateKey, hashWithNewSalt } from '../../src/auth/keys';
import type { KeyPrincipal } from '../../src/auth/principal';
import type { DataContext } from '../../src/operations/context';
import { made, opening as openingWith, ORGANISATION, principal, rate, request, stored } from '../support/keyCaller';

/* For a key that was accepted, the gateway remembers what is worth reading during its next lookup. */

describe('a key that was accepted is likely to be', () => {
  const [OLD, NEW] = ['old pepper', 'new pepper'];

  const OTHER_PREFIX = 'svc_test_';

  /** Whether a request is likely to be accepted, while the store reads this. */
  function asking(options: { readonly previousPepper?: string } = {}) {
    let read: () => Promise<ApiKey | null> = () => Promise.resolve(null);
    const { authenticate } = createAuthenticator({
      apiKeys: { find: () => read(), markUsed: () => undefined },
      pepper: options.previousPepper === undefined ? '' : NEW,
      countFailure: () => Promise.resolve(),
      ...options,
    });
    return async (find: ApiKey | null | (() => Promise<ApiKey>), address = '127.0.0.1', key = made.key) => {
      read = typeof find === 'function' ? find : () => Promise.resolve(find);
      let mayReadAhead = false;
      await authenticate(`Bearer ${key}`, address, undefined, () => (mayReadAhead = true)).catch(() => undefined);
      return mayReadAhead;
    };
  }

  test.each<[string, Partial<ApiKey>, string]>([
    ['after it has expired', { expires_at: new Date(0) }, '127.0.0.1'],
    [
      'while its organisation is moved to another shard',
      { organisation: { ...stored().organisation, moving: true } },
      '127.0.0.1',
    ],
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

  test.each([DEFAULT_KEY_PREFIX, OTHER_PREFIX])(
    'with its secret only, which a wrong one with the prefix %s does not make forgotten',
    async (prefix) => {
      const likely = asking();
      await likely(stored());
      const id = made.key.slice(DEFAULT_KEY_PREFIX.length, DEFAULT_KEY_PREFIX.length + 22);
      const body = prefix + id + generateKey(prefix, '').key.slice(prefix.length + 22, -6);
      expect(await likely(stored(), undefined, body + checksum(body))).toBe(false);
      expect(await likely(stored())).toBe(true);
    },
  );

  test('not once its row is gone', async () => {
    const likely = asking();
    await likely(stored());
    await likely(null);
    expect(await likely(stored())).toBe(false);
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
    const before = stored(hashWithNewSalt(secret, OLD));
    await likely(before);
    expect(await likely(before)).toBe(true);
    expect(await likely(stored(hashWithNewSalt(secret, NEW)))).toBe(true);
    expect(await likely(stored(hashWithNewSalt(secret, NEW)))).toBe(true);
  });
});

describe('a request of a caller who is likely to be accepted', () => {
  /** Opens a context; `events` says in which order it takes its point, begins and reads its key. */
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
    const authenticate = async (...[, , , onExpected]: Parameters<Authenticate>): Promise<KeyPrincipal> => {
      onExpected?.(was);
      await new Promise(setImmediate);
      events.push('key');
      if (!is) throw unauthenticated();
      return is;
    };
    const open = openingWith({ authenticate, limiter: { consume }, isCalm: () => isCalm });
    const trace = isTraced ? { trace: (_name: string, run: () => unknown) => run() } : {};
    let expected: DataContext | undefined;
    const missing: string[] = [];
    const calls = { onRate: () => events.push('rate told'), onMissingScope: (scope: string) => missing.push(scope) };
    const opened = open({ ...request(), ...calls, ...(trace as object) }, (context) => {
      events.push('begun');
      context.accepted?.then(
        () => events.push('accepted'),
        () => events.push('dropped'),
      );
      expected = context;
    });
    return { events, missing, opened, expected: () => expected };
  }
  const settled = () => new Promise(setImmediate);

  test('takes its point, and begins, before its key is read, with the context that it then has', async () => {
    const { events, opened, expected } = opening({});
    expect(await opened).toBe(expected());
    await settled();
    expect(events).toEqual(['points 1', 'begun', 'key', 'rate told', 'accepted']);
  });

  test('is dropped, and gets its point back, if its key is refused', async () => {
    const { events, opened } = opening({ is: null });
    await expect(opened).rejects.toMatchObject({ code: 'unauthenticated' });
    await settled();
    expect(events).toEqual(['points 1', 'begun', 'key', 'dropped', 'points -1']);
  });

  test.each<[string, Partial<KeyPrincipal>]>([
    ['scopes', { scopes: new Set(['read:quotes']) }],
    ['name', { key: { ...principal.key, name: 'another' } }],
    ['plan', { organisation: { ...ORGANISATION, plan: 'enterprise' } }],
  ])('runs again if its %s changed, with a point and a context of its own', async (_member, change) => {
    const { events, opened, expected } = opening({ is: { ...principal, ...change } });
    const context = await opened;
    expect(context).not.toBe(expected());
    expect([context.principal, context.accepted]).toEqual([{ ...principal, ...change }, undefined]);
    await settled();
    expect(events.toSorted()).toEqual(
      ['begun', 'dropped', 'key', 'points -1', 'points 1', 'points 1', 'rate told'].toSorted(),
    );
  });

  test('has the scope that it lacks noted only once its key is accepted', async () => {
    const access = { scope: 'write:products', role: undefined } as const;
    const one = opening({ is: null });
    const other = opening({});
    for (const { opened } of [one, other]) opened.catch(() => undefined);
    while (!other.expected()) await Promise.resolve();
    for (const { expected } of [one, other])
      expect(() => {
        expected()!.authorise(access);
      }).toThrow('write:products');
    expect([one.missing, other.missing]).toEqual([[], []]);
    await settled();
    await settled();
    expect([one.missing, other.missing]).toEqual([[], ['write:products']]);
  });

  test('does not begin over its limit, and is told so once its key is accepted', async () => {
    const over = opening({ allowed: false });
    await expect(over.opened).rejects.toMatchObject({ code: 'rate_limited' });
    expect(over.events).toEqual(['points 1', 'key', 'rate told']);
    await expect(opening({ allowed: false, is: null }).opened).rejects.toMatchObject({ code: 'unauthenticated' });
  });

  test.each([
    ['of a suspended organisation', { state: 'suspended' }, 'organisation_suspended'],
    ['of a plan without integrations', { plan: 'starter' }, 'plan_required'],
  ] as const)('does not begin for a key %s', async (_title, change, code) => {
    const caller = { ...principal, organisation: { ...ORGANISATION, ...change } };
    const { events, opened, expected } = opening({ was: caller, is: caller });
    await expect(opened).rejects.toMatchObject({ code });
    expect(expected()).toBeUndefined();
    expect(events).toEqual(['points 1', 'key', 'rate told']);
  });

  test.each([
    ['it is traced, since a read that is dropped would leave a span', { isTraced: true }],
    ['many others wait for the database', { isCalm: false }],
  ])('does not begin if %s', async (_title, change) => {
    const { events, opened } = opening(change);
    expect((await opened).accepted).toBeUndefined();
    expect(events).toEqual(['key', 'points 1', 'rate told']);
  });
});
