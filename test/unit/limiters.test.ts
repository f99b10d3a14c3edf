import { openLimiters } from '../../src/admission/limiters';
import { eventually } from '../api/http/eventually';
import { refusingRedis } from '../support/refusingRedis';

test('while Redis is down, each gateway allows its share of the limit by INSTANCES', async () => {
  const limiters = await openLimiters({
    limit: 60,
    // nothing listens there
    redisUrl: 'redis://127.0.0.1:1',
    instances: 2,
    onChange: () => undefined,
  });
  try {
    const allowed = async (id: string): Promise<number> => {
      let count = 0;
      while ((await limiters.usersAndTokens.consume(id)).allowed) count += 1;
      return count;
    };
    expect(await allowed('one')).toBe(30);
  } finally {
    limiters.close();
  }
});

test('a Redis that was away and then rejects the password says so, once', async () => {
  const before = await refusingRedis();
  const { port } = before;
  before.close();
  const reasons: (string | undefined)[] = [];
  const limiters = await openLimiters({
    limit: 60,
    redisUrl: `redis://:wrong@127.0.0.1:${String(port)}`,
    instances: 2,
    onChange: (_state, reason) => reasons.push(reason),
  });
  await eventually(() => reasons.length > 0);
  const answering = await refusingRedis(port);
  try {
    await eventually(() => reasons.length > 1);
    for (const _ of [1, 2, 3]) expect(await limiters.health()).toBe('degraded');
    expect(reasons).toEqual([expect.stringMatching(/ECONNREFUSED|ETIMEDOUT/), expect.stringMatching(/^WRONGPASS /)]);
  } finally {
    limiters.close();
    answering.close();
  }
});
