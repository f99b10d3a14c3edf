import { openLimiters } from '../../src/admission/limiters';

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
      while ((await limiters.keys.consume(id)).allowed) count += 1;
      return count;
    };
    expect(await allowed('one')).toBe(30);
  } finally {
    limiters.close();
  }
});
