import { Redis } from 'ioredis';
import type { Config } from '../../config';
import { messageOf } from '../common/failure';
import type { Check } from './check';

/** How long Redis may take to answer, in milliseconds. */
const PATIENCE = 2000;

/** Whether the Redis of REDIS_URL answers; without one, limits are this instance's own. */
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
  // the event says why; what the call then throws is only that the connection is closed
  redis.on('error', (error) => (reason ??= error));
  try {
    await redis.connect();
    await redis.ping();
    return { name, ok: true, detail: 'answers' };
  } catch (error) {
    const fix = 'start the Redis that REDIS_URL names; without it each instance limits by itself';
    return { name, ok: false, detail: `does not answer (${messageOf(reason ?? error)})`, fix };
  } finally {
    redis.disconnect();
  }
}
