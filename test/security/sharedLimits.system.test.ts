import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Redis } from 'ioredis';
import { type Limiters, openLimiters } from '../../src/admission/limiters';
import { eventually } from '../api/http/eventually';
import { client, type Client } from '../support/client';
import { callerOf, makeKey, makeOrganisation } from '../support/factories';
import { startGateway, type TestGateway } from '../support/gateway';
import { plansFile } from '../support/plansFile';
import { describeWith } from '../support/programs';
import { INSTALL_REDIS, REDIS, startRedis, type TestRedis } from '../support/redis';

/** So few that a slow machine asks for all within a window. */
const LIMIT = 12;

/** A proxy to a Redis. While `isHolding`, it holds back the answers to counts until the gateway pings; `hasHeld` says whether that has happened. */
async function openHoldingProxy(url: string, isHolding: () => boolean) {
  let hasHeld = false;
  const sockets: Socket[] = [];
  const server = createServer((near) => {
    const far = connect(Number(new URL(url).port), '127.0.0.1');
    sockets.push(near, far);
    near.pipe(far);
    near.on('data', (chunk: Buffer) => {
      const said = chunk.toString('latin1').toLowerCase();
      if (said.includes('eval') && isHolding()) far.unpipe(near).pause();
      if (!said.includes('ping')) return;
      // a second pipe would give each answer twice
      far.unpipe(near).pipe(near);
      hasHeld = isHolding();
    });
    far.pipe(near);
    for (const socket of [near, far]) socket.on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    uri: `redis://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    hasHeld: () => hasHeld,
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

describeWith(REDIS, INSTALL_REDIS)('with two gateways', () => {
  let redis: TestRedis;
  let gateways: [TestGateway, TestGateway];

  beforeAll(async () => {
    redis = await startRedis();
    const larger = { api: true, points_per_minute: 3 * LIMIT };
    const PLANS_FILE = plansFile({ plans: { integrations: { api: true }, larger }, default: 'integrations' });
    const environment = {
      REDIS_URL: redis.url,
      INSTANCES: '2',
      RATE_LIMIT_PER_MINUTE: String(LIMIT),
      PLANS_FILE,
      TRUST_PROXY: '1',
    };
    gateways = [await startGateway(environment), await startGateway(environment)];
  });
  afterAll(async () => {
    for (const gateway of gateways) await gateway.stop();
    await redis.kill();
  });

  /** Callers with the same new key, one per gateway. */
  async function bothCallers(): Promise<[Client, Client]> {
    const { key } = await makeKey(gateways[0], await makeOrganisation(gateways[0]));
    return [client(gateways[0], key), client(gateways[1], key)];
  }

  type Ask = () => Promise<{ readonly status: number }>;
  const meOf = (callers: readonly Client[]): Ask[] => callers.map((caller) => () => caller.get('/me'));

  /** Statuses of `count` requests, sent in turn, 5 at once: a Redis that answers late is not asked, and both gateways share one thread here. */
  async function statuses(asks: readonly Ask[], count: number): Promise<number[]> {
    const answers: { readonly status: number }[] = [];
    while (answers.length < count) {
      const some = Array.from({ length: Math.min(5, count - answers.length) });
      answers.push(...(await Promise.all(some.map((_, at) => asks[(answers.length + at) % asks.length]!()))));
    }
    return answers.map(({ status }) => status);
  }

  /**
   * Passes if one of four attempts does: on a busy machine an answer of Redis may be late, and a gateway then counts in memory. Without a shared limit
   * none would.
   */
  async function attempts(attempt: (at: number) => Promise<void>): Promise<void> {
    for (let at = 1; ; at += 1) {
      for (const gateway of gateways) await untilLimiterIs(gateway, 'ok');
      try {
        await attempt(at);
        return;
      } catch (error) {
        if (at === 4) throw error;
      }
    }
  }

  function count(values: readonly number[], wanted: number): number {
    return values.filter((value) => value === wanted).length;
  }

  async function limiterHealth(
    gateway: TestGateway,
  ): Promise<{ status: number; body: { checks: { limiter: string } } }> {
    const response = await fetch(`${gateway.url}/readyz`);
    return { status: response.status, body: (await response.json()) as { checks: { limiter: string } } };
  }

  /** Polls readyz until the limiter has this state; each call checks Redis. */
  async function untilLimiterIs(gateway: TestGateway, state: string): Promise<void> {
    await eventually(async () => (await limiterHealth(gateway)).body.checks.limiter === state);
  }

  test('two gateways that share a Redis allow exactly the limit together', () =>
    attempts(async () => {
      const [one, other] = meOf(await bothCallers());
      // one after the other, as each alone would allow its half of the limit
      const [first, then] = [await statuses([one!], LIMIT), await statuses([other!], LIMIT)];
      expect([count(first, 200), count(then, 429)]).toEqual([LIMIT, LIMIT]);
    }));

  test('both APIs of both gateways share one limit', () =>
    attempts(async () => {
      const [one, other] = await bothCallers();
      await one.graphql('{ me { key { id } } a: me { key { id } } b: me { key { id } } }');
      const { body } = await other.get('/me');
      expect(body.rate_limit.remaining).toBe(LIMIT - 4);
    }));

  test('what was spent stays spent when the plan changes', () =>
    attempts(async () => {
      const organisation = await makeOrganisation(gateways[0]);
      const { key } = await makeKey(gateways[0], organisation);
      const [one, other] = [client(gateways[0], key), client(gateways[1], key)];
      await statuses(meOf([one, other]), LIMIT);
      await gateways[0].control.organisations.setPlan(organisation.id, 'larger');
      const { body } = await other.get('/me');
      expect(body.rate_limit).toMatchObject({ limit: 3 * LIMIT, remaining: 2 * LIMIT - 1 });
    }));

  test('the keys of an organisation share its limit through both gateways', () =>
    attempts(async () => {
      const organisation = await makeOrganisation(gateways[0]);
      const keys = await Promise.all(Array.from({ length: 12 }, () => makeKey(gateways[0], organisation)));
      const callers = keys.map(({ key }, at) => client(gateways[at % 2]!, key));
      const answered = await statuses(meOf(callers), 12 * LIMIT);
      expect([count(answered, 200), count(answered, 429)]).toEqual([10 * LIMIT, 2 * LIMIT]);
    }));

  test('failed authentications of an address are counted together', () =>
    attempts(async (at) => {
      const headers = { 'x-forwarded-for': `192.0.2.${String(at)}` };
      // answers to requests without a key have no RateLimit headers
      const asks = gateways.map(
        ({ url }) =>
          () =>
            fetch(`${url}/api/v1/me`, { headers }),
      );
      const [first, then] = [await statuses([asks[0]!], LIMIT), await statuses([asks[1]!], LIMIT)];
      expect([count(first, 401), count(then, 429)]).toEqual([LIMIT, LIMIT]);
    }));

  test('a Redis that answers late, but answers when it is asked again, is not taken for down', async () => {
    let isHolding = false;
    const { uri, hasHeld, close } = await openHoldingProxy(redis.url, () => isHolding);
    const gateway = await startGateway({ REDIS_URL: uri, RATE_LIMIT_PER_MINUTE: String(LIMIT) });
    try {
      const caller = await callerOf(gateway);
      await attempts(async () => {
        isHolding = false;
        await untilLimiterIs(gateway, 'ok');
        gateway.logs.length = 0;
        isHolding = true;
        expect((await caller.get('/me')).status).toBe(200);
        await eventually(hasHeld);
        expect((await limiterHealth(gateway)).body.checks.limiter).toBe('ok');
        expect(gateway.logs.filter(({ limiter }) => limiter !== undefined)).toEqual([]);
      });
    } finally {
      await gateway.stop();
      close();
    }
  });

  test('a Redis that always answers late is degraded, and says so', () =>
    attempts(async () => {
      let isHolding = false;
      const { uri, close } = await openHoldingProxy(redis.url, () => isHolding);
      const onChange = jest.fn();
      const limiters = await openLimiters({ limit: LIMIT, redisUrl: uri, instances: 2, onChange });
      try {
        await eventually(async () => (await limiters.health()) === 'ok');
        isHolding = true;
        await eventually(async () => (await limiters.health()) === 'degraded');
        expect((await limiters.usersAndTokens.consume('id')).allowed).toBe(true);
        expect(onChange.mock.calls.at(-1)).toEqual(['degraded', expect.stringContaining('each answer took more than')]);
      } finally {
        limiters.close();
        close();
      }
    }));

  test('points that are given back to a key over its limit count, on every gateway', () =>
    attempts(async (at) => {
      const open = () => openLimiters({ limit: 2, redisUrl: redis.url, instances: 2, onChange: () => undefined });
      const [one, other] = [await open(), await open()];
      try {
        const take = async ({ failures }: Limiters, points = 1) =>
          (await failures.consume(`refunded${String(at)}`, points)).allowed;
        await eventually(async () => (await one.health()) === 'ok' && (await other.health()) === 'ok');
        expect([await take(one), await take(one), await take(one)]).toEqual([true, true, false]);
        await take(one, -2);
        expect([await take(one), await take(one)]).toEqual([true, false]);
        await take(one, -2);
        expect([await take(other), await take(other)]).toEqual([true, false]);
      } finally {
        one.close();
        other.close();
      }
    }));

  test('a Redis that answers but refuses writes is degraded until it counts again', () =>
    attempts(async () => {
      const onChange = jest.fn();
      const limiters = await openLimiters({ limit: LIMIT, redisUrl: redis.url, instances: 2, onChange });
      const admin = new Redis(redis.url);
      try {
        await eventually(async () => (await limiters.health()) === 'ok');
        onChange.mockClear();
        await admin.config('SET', 'min-replicas-to-write', '1');
        expect((await limiters.usersAndTokens.consume('id')).allowed).toBe(true);
        expect([await limiters.health(), await limiters.health()]).toEqual(['degraded', 'degraded']);
        expect((await limiters.usersAndTokens.consume('id')).allowed).toBe(true);
        expect(onChange.mock.calls).toEqual([['degraded', expect.stringContaining('NOREPLICAS')]]);
        await admin.config('SET', 'min-replicas-to-write', '0');
        expect(await limiters.health()).toBe('ok');
        expect(onChange).toHaveBeenLastCalledWith('ok');
      } finally {
        await admin.config('SET', 'min-replicas-to-write', '0');
        admin.disconnect();
        limiters.close();
      }
    }));

  test('a clock that was ahead, and is set back, neither keeps a key over its limit nor Redis unasked', () =>
    attempts(async (at) => {
      const onChange = jest.fn();
      const limiters = await openLimiters({ limit: 1, redisUrl: redis.url, instances: 2, onChange });
      const admin = new Redis(redis.url);
      const { now } = Date;
      const ahead = jest.spyOn(Date, 'now').mockImplementation(() => now() + 600_000);
      const id = `ahead${String(at)}`;
      try {
        const take = async () => (await limiters.failures.consume(id)).allowed;
        await eventually(async () => (await limiters.health()) === 'ok');
        expect([await take(), await take(), await take()]).toEqual([true, false, false]);
        await admin.config('SET', 'min-replicas-to-write', '1');
        await limiters.usersAndTokens.consume('id');
        await admin.config('SET', 'min-replicas-to-write', '0');
        ahead.mockRestore();
        await eventually(async () => {
          await limiters.usersAndTokens.consume('id');
          return onChange.mock.lastCall?.[0] === 'ok';
        });
        // as if its window had ended
        await admin.del(`scopegate:address:${id}`);
        expect(await take()).toBe(true);
      } finally {
        ahead.mockRestore();
        await admin.config('SET', 'min-replicas-to-write', '0');
        admin.disconnect();
        limiters.close();
      }
    }));

  describe.each([
    [
      'paused',
      () => {
        redis.pause();
      },
      () => {
        redis.resume();
      },
    ],
    ['killed', () => redis.kill(), () => redis.restart()],
  ] as const)('with Redis %s', (_state, away, back) => {
    test('requests succeed within each gateway’s share of the limit, readyz reports degraded, and the gateways recover', async () => {
      const callers = await bothCallers();
      await away();
      await untilLimiterIs(gateways[0], 'degraded');
      await untilLimiterIs(gateways[1], 'degraded');
      const answered = await statuses(meOf(callers), 2 * LIMIT);
      expect([count(answered, 200), count(answered, 429)]).toEqual([LIMIT, LIMIT]);
      expect((await limiterHealth(gateways[0])).status).toBe(200);
      await back();
      await untilLimiterIs(gateways[0], 'ok');
      await untilLimiterIs(gateways[1], 'ok');
      await attempts(async () => {
        const again = await statuses(meOf(await bothCallers()), 2 * LIMIT);
        expect([count(again, 200), count(again, 429)]).toEqual([LIMIT, LIMIT]);
      });
    });
  });
});
