import { Redis } from 'ioredis';
import type { Config } from '../../config';
import { OTHER_PEPPER, RESTORE_PEPPER } from '../../organisations/pepper';
import { messageOf } from '../common/failure';
import type { Store } from '../common/open';
import { type Check, examine } from './check';

/** Oldest supported Node version: major, minor (package.json, engines). */
const OLDEST = [20, 19] as const;
/** Node 20 is end-of-life. */
const RECOMMENDED = 24;
/** How long to wait for Redis, in milliseconds. */
const PATIENCE = 2000;

export function checkNode(version = process.versions.node): Promise<Check> {
  const fix = `install Node ${String(RECOMMENDED)}; ${OLDEST.join('.')} is the oldest supported version`;
  return examine('node', fix, () => {
    const [major = 0, minor = 0] = version.split('.').map(Number);
    const detail = `version ${version}`;
    if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) throw new Error(detail);
    return major < RECOMMENDED ? `${detail}; ${String(RECOMMENDED)} is recommended` : detail;
  });
}

export function checkPepper({ KEY_PEPPER }: Pick<Config, 'KEY_PEPPER'>): Check {
  const isSet = KEY_PEPPER !== '';
  const unset = 'KEY_PEPPER is not set (optional outside production); set it before the first key is created';
  return { name: 'keys', ok: true, detail: isSet ? 'KEY_PEPPER is set' : unset };
}

/** Whether the keys are hashed with KEY_PEPPER. */
export function checkFingerprint({ control }: Store): Promise<Check> {
  return examine('pepper', RESTORE_PEPPER, async () => {
    if (!(await control.pepper.fits())) throw new Error(OTHER_PEPPER);
    return 'KEY_PEPPER is the one that keys are hashed with';
  });
}

/** Whether the Redis at REDIS_URL responds; without REDIS_URL, limits are per instance. */
export function checkRedis({ REDIS_URL }: Pick<Config, 'REDIS_URL'>): Promise<Check> {
  return examine('redis', 'start Redis at REDIS_URL; without it each instance limits on its own', async () => {
    if (REDIS_URL === undefined) return 'REDIS_URL is not set: limits are kept in memory';
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
      return 'connected';
    } catch (error) {
      throw new Error(`cannot reach Redis (${messageOf(reason ?? error)})`);
    } finally {
      redis.disconnect();
    }
  });
}
