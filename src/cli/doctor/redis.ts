import { Redis } from 'ioredis';
import type { Config } from '../../config';
import { messageOf } from '../common/failure';
import type { Check } from './check';

/** How long to wait for Redis, in milliseconds. */
const PATIENCE = 2000;

/** Whether the Redis at REDIS_URL responds; without REDIS_URL, limits are per instance. */
export async function checkRedis({ REDIS_URL }: Pick<Config, 'REDIS_URL'>): Promise<Check> {
  const name = 'redis';
  if (REDIS_URL === undefined) return { name, ok: true, detail: 'REDIS_URL is not set: limits are kept in memory' };
  const redis = new Redis(REDIS_URL, {
    lazyConnect: true,
    connectTimeout: PATIENCE,
    commandTimeout: PATIENCE,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  let reason: unknown;
  // the event has the reason; the call itself only throws that the connection is closed
  redis.on('error', (error) => (reason ??= error));
  try {
    await redis.connect();
    await redis.ping();
    return { name, ok: true, detail: 'connected' };
  } catch (error) {
    const fix = 'start Redis at REDIS_URL; without it each instance limits on its own';
    return { name, ok: false, detail: `cannot reach Redis (${messageOf(reason ?? error)})`, fix };
  } finally {
    redis.disconnect();
  }
}
