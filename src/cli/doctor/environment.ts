import { hostname } from 'node:os';
import { Redis } from 'ioredis';
import type { Config } from '../../config';
import { WRONG_FROM } from '../../database/clock';
import { OTHER_PEPPER, RESTORE_PEPPER } from '../../organisations/pepper';
import { DAY } from '../../units';
import { messageOf } from '../common/failure';
import type { Store } from '../common/open';
import { type Check, examine, Finding } from './check';

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

/** Whether the keys are hashed with KEY_PEPPER, and how many still have the pepper before. */
export function checkFingerprint(
  { control }: Store,
  { KEY_PEPPER_PREVIOUS }: Pick<Config, 'KEY_PEPPER_PREVIOUS'>,
): Promise<Check> {
  return examine('pepper', RESTORE_PEPPER, async () => {
    const { known, left, lost } = await control.pepper.state();
    if (known === 'none') throw new Error(OTHER_PEPPER);
    if (known === 'previous')
      return 'the keys are hashed with KEY_PEPPER_PREVIOUS, which KEY_PEPPER replaces when a gateway starts with both';
    const fits = 'KEY_PEPPER is the one that keys are hashed with';
    if (lost > 0) {
      const replace = 'rotate or revoke them; key list shows when each was last used';
      throw new Finding(`${keys(lost)} hashed with a pepper before KEY_PEPPER_PREVIOUS and no longer work`, replace);
    }
    if (KEY_PEPPER_PREVIOUS === undefined) {
      if (left === 0) return fits;
      const fix = 'set KEY_PEPPER_PREVIOUS to the former pepper until they have been used, or revoke them';
      throw new Finding(`${keys(left)} hashed with the former pepper and do not work`, fix);
    }
    if (left === 0)
      return `${fits}; no active key needs KEY_PEPPER_PREVIOUS, so unset it on every gateway unless it is the next pepper`;
    return `${fits}; ${keys(left)} hashed with KEY_PEPPER_PREVIOUS until ${left === 1 ? 'it is' : 'they are'} next used, so keep it`;
  });
}

/** A warning if gateways could not read the addresses of callers in the past day. They say so once, and log each request of a key. */
export async function checkProxy({ control }: Pick<Store, 'control'>): Promise<Check | undefined> {
  const last = await control.requests.lastFromUnknown(new Date(Date.now() - DAY));
  if (!last) return undefined;
  const detail = `X-Forwarded-For had no readable address of a caller, last at ${last.toISOString()}; keys with allowed addresses are refused then`;
  const fix =
    'set TRUST_PROXY to the number of proxies in front, and have each add the address of its caller; forwarded_for in the logs of the gateways is what they found instead';
  return { name: 'proxy', ok: true, detail, fix };
}

const keys = (count: number): string => `${String(count)} active ${count === 1 ? 'key is' : 'keys are'}`;

/** Whether the clocks of the clusters and of this machine agree. Gateways go by the database's. */
export function checkClocks({ databases }: Pick<Store, 'databases'>, machine = hostname()): Promise<Check> {
  const fix =
    'set the wrong one by NTP (timedatectl set-ntp true; chronyc makestep). Keys and idempotency go by the clock of the database';
  return examine('clocks', fix, () => {
    const clocks = databases.clocks();
    const wrong = clocks.filter(({ ahead }) => Math.abs(ahead) >= WRONG_FROM);
    if (wrong.length === 0) return `this machine and ${clusters(clocks)} agree within ${String(WRONG_FROM / 1000)} s`;
    const ofAll = clocks.map(({ ahead }) => ahead);
    // if the databases agree with each other, it is this machine that differs
    const isThisMachine = clocks.length > 1 && Math.max(...ofAll) - Math.min(...ofAll) < WRONG_FROM;
    if (isThisMachine)
      throw new Error(`the clock of this machine (${machine}) is ${distance(-(ofAll[0] ?? 0))} all clusters`);
    const said = wrong.map(
      ({ cluster, ahead, machine: member }) =>
        `the clock of ${member}, the primary of cluster ${cluster}, is ${distance(ahead)} this machine (${machine})`,
    );
    throw new Error(said.join('; '));
  });
}

function clusters(clocks: readonly unknown[]): string {
  return clocks.length === 1 ? 'the database' : `${String(clocks.length)} clusters`;
}

/** How far a clock is from another, in milliseconds: `90 s ahead of`. */
function distance(ahead: number): string {
  return `${String(Math.round(Math.abs(ahead) / 1000))} s ${ahead > 0 ? 'ahead of' : 'behind'}`;
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
