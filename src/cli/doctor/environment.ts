import { Redis } from 'ioredis';
import type { ApiKey } from '../../auth/keys';
import { type Config, sourceOf } from '../../config';
import { SHARE_LIMITS, unsharedLimits } from '../unsharedLimits';
import { OTHER_PEPPER, RESTORE_PEPPER } from '../../organisations/pepper';
import { DAY } from '../../units';
import type { Sample } from '../../organisations/webhookEndpoints';
import { ownerOf } from '../../organisations/webhookRows';
import {
  createMasterSecret,
  cutShortText,
  OTHER_SECRET,
  RESTORE_PREVIOUS,
  RESTORE_SECRET,
} from '../../webhooks/masterSecret';
import { behindOf } from '../../webhooks/operatorWebhook';
import { NO_SECRET, webhookSettings } from '../../webhooks/settings';
import { messageOf } from '../ending';
import { counted } from '../terminal';
import {
  type Check,
  type CheckResult,
  type DoctorContext,
  examine,
  Finding,
  type Objects,
  RUN_AGAIN,
  type ShownObject,
} from './check';

/** Oldest supported Node version: major, minor; as in `engines` of package.json (a test compares them). */
export const OLDEST = [20, 19] as const;
/** Node 20 is end-of-life. */
const RECOMMENDED = 24;
/** How long to wait for Redis, in milliseconds. */
const REDIS_TIMEOUT = 2000;

export function checkNode(): Promise<Check> {
  const fix = `install Node ${String(RECOMMENDED)}; ${OLDEST.join('.')} is the oldest supported version`;
  return examine('node', fix, () => {
    const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
    const detail = `version ${process.versions.node}`;
    if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) throw new Error(detail);
    return major < RECOMMENDED ? `${detail}; ${String(RECOMMENDED)} is recommended` : detail;
  });
}

/** Whether there is a pepper; whether it is the right one is known once the database is open. */
export function checkPepperIsSet({ KEY_PEPPER }: Config): Check {
  const unset = 'KEY_PEPPER is not set (optional outside production); it can be set only while there are no keys';
  return { name: 'keys', ok: true, detail: KEY_PEPPER === '' ? unset : 'KEY_PEPPER is set' };
}

/** Whether the keys are hashed with KEY_PEPPER, by its stored fingerprint, and how many still have an earlier pepper. */
export function checkPepper({
  store: { control },
  config: { KEY_PEPPER, KEY_PEPPER_PREVIOUS },
}: DoctorContext): Promise<Check> {
  return examine('pepper', RESTORE_PEPPER, async () => {
    // `left` keys have the previous pepper, `lost` ones an older one, which nobody can check any more
    const { known, left, lost } = await control.pepper.state();
    const shown = async (state: 'left' | 'lost'): Promise<Objects> => ({
      count: state === 'left' ? left : lost,
      first: (await control.pepper.longestUnused(state)).map(keyObject),
    });
    if (known === 'none') throw new Error(OTHER_PEPPER);
    if (known === 'previous')
      return 'the keys are hashed with KEY_PEPPER_PREVIOUS, which KEY_PEPPER replaces when a gateway starts with both';
    const fits =
      KEY_PEPPER === '' ? 'keys are hashed without KEY_PEPPER' : 'KEY_PEPPER is the one that keys are hashed with';
    if (lost > 0) {
      const replace = 'rotate or revoke them';
      const detail = `${keys(lost)} hashed with a pepper before KEY_PEPPER_PREVIOUS and no longer work`;
      throw new Finding(detail, replace, await shown('lost'));
    }
    if (KEY_PEPPER_PREVIOUS === undefined) {
      if (left === 0) return fits;
      const fix = 'set KEY_PEPPER_PREVIOUS to the former pepper until they have been used, or revoke them';
      throw new Finding(`${keys(left)} hashed with the former pepper and do not work`, fix, await shown('left'));
    }
    if (left === 0)
      return `${fits}; no active key needs KEY_PEPPER_PREVIOUS, so unset it on every gateway unless it is the next pepper`;
    const until = `until ${left === 1 ? 'it is' : 'they are'} next used`;
    const detail = `${fits}; ${keys(left)} hashed with KEY_PEPPER_PREVIOUS ${until}, so keep it`;
    return { detail, objects: await shown('left') };
  });
}

const keyObject = ({ _id, organisation, name, prefix, last_four, last_used_at }: ApiKey): ShownObject => ({
  kind: 'key',
  id: _id,
  organisation_id: organisation.id,
  name,
  prefix,
  last_four,
  last_used_at,
});

/** `1 active key is`, `2 active keys are`. */
const keys = (count: number): string => `${counted(count, 'active key')} ${count === 1 ? 'is' : 'are'}`;

/** A warning if gateways could not read callers' addresses in the past day, judged by the requests of keys that they logged; otherwise undefined. */
export function checkProxy({ store: { control, databases } }: DoctorContext): Promise<Check | undefined> {
  return examine('proxy', RUN_AGAIN, async () => {
    const last = await control.requests.lastFromUnknown(new Date(databases.now() - DAY));
    if (!last) return undefined;
    const detail = `X-Forwarded-For had no readable address of a caller, last at ${last.toISOString()}; keys with allowed addresses are refused then`;
    const fix =
      'set TRUST_PROXY to the number of proxies in front, and have each add the address of its caller; forwarded_for in the logs of the gateways shows what they found instead';
    return { detail, fix };
  });
}

/** Whether the Redis at REDIS_URL responds; without REDIS_URL, limits are per instance, which is a warning if there are several. */
export function checkRedis(config: Config): Promise<Check> {
  const { REDIS_URL } = config;
  const variable = sourceOf('REDIS_URL');
  return examine('redis', `start Redis at ${variable}; without it each instance limits on its own`, async () => {
    if (REDIS_URL === undefined) {
      const detail = unsharedLimits(config);
      return detail === undefined ? 'REDIS_URL is not set: limits are kept in memory' : { detail, fix: SHARE_LIMITS };
    }
    const redis = new Redis(REDIS_URL, {
      lazyConnect: true,
      connectTimeout: REDIS_TIMEOUT,
      commandTimeout: REDIS_TIMEOUT,
      maxRetriesPerRequest: 0,
      retryStrategy: () => null,
    });
    let reason: unknown;
    // the event has the reason; the call only throws that the connection is closed
    redis.on('error', (error) => (reason ??= error));
    try {
      await redis.connect();
      await redis.ping();
      return 'connected';
    } catch (error) {
      const message = messageOf(reason ?? error);
      if (!/^(WRONGPASS|NOAUTH|NOPERM|ERR .*(AUTH|password))/i.test(message))
        throw new Error(`cannot reach Redis (${message})`);
      const fix = `correct user name and password in ${variable}, percent-encoded, or in Redis; without it each instance limits on its own`;
      throw new Finding(`Redis rejects this user or password (${message})`, fix);
    } finally {
      redis.disconnect();
    }
  });
}

/** How far the operator's webhook may be behind, in seconds; as in the alert ScopegateOperatorWebhookBehind (a test compares them). */
export const LATE = 900;

/** How far the operator's webhook is behind, and whether these settings keep a gateway from sending it; undefined without one. At most a warning, unless it cannot be read. */
export function checkOperatorWebhook({ store, config }: DoctorContext): Promise<Check | undefined> {
  return examine('operator webhook', RUN_AGAIN, async (): Promise<CheckResult | undefined> => {
    if (config.OPERATOR_WEBHOOK_URL === undefined) return undefined;
    if (config.EVENTS === 'off') {
      const detail = 'OPERATOR_WEBHOOK_URL is set, but with EVENTS=off this gateway sends it nothing';
      return { detail, fix: 'unset it here, and set it for a gateway without EVENTS=off' };
    }
    const behind = await behindOf(store.databases);
    if (!behind) return { detail: 'no gateway has begun to send yet; it gets what happens from then on' };
    const { seconds, parked } = behind;
    const detail = `${String(Math.round(seconds))} s behind, ${counted(parked, 'event')} parked`;
    if (seconds <= LATE) return { detail };
    const fix =
      'see that the server at OPERATOR_WEBHOOK_URL accepts events and that a gateway without EVENTS=off runs, before they drop out of the log of the database';
    return { detail, fix };
  });
}

const shownEndpoints = ({ count, rows }: Sample): Objects => ({
  count,
  first: rows.map((row) => ({ kind: 'endpoint', id: row._id, organisation_id: ownerOf(row) })),
});

/** Whether webhooks can be sent: if there are endpoints, whether WEBHOOK_SECRET is the one they were created with. */
export function checkWebhooks({ store, config }: DoctorContext): Promise<Check> {
  return examine('webhooks', RESTORE_SECRET, async () => {
    const { masters } = webhookSettings(config);
    const counts = await store.control.webhooks.counts();
    const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
    const endpoints = counted(all, 'endpoint');
    if (masters === undefined) {
      if (all === 0) return NO_SECRET;
      const fix = 'set WEBHOOK_SECRET to its former value for every gateway and command';
      throw new Finding(`WEBHOOK_SECRET is not set, so nothing is sent to ${endpoints}`, fix);
    }
    const secret = createMasterSecret(store, masters);
    if (!(await secret.fits())) throw new Error(OTHER_SECRET);
    if (all === 0) return 'no endpoints yet';
    const states = [...counts].filter(([, count]) => count > 0).map(([state, count]) => `${String(count)} ${state}`);
    const summary = `${endpoints}: ${states.join(', ')}`;
    const cutShort = await secret.cutShort();
    const problem = cutShortText(cutShort);
    if (problem !== undefined)
      return { detail: `${summary}; ${problem}`, fix: RESTORE_PREVIOUS, objects: shownEndpoints(cutShort) };
    if (masters.previous === undefined) return summary;
    const outdated = await secret.outdated();
    if (outdated.count > 0) {
      const needs = `${counted(outdated.count, 'endpoint')} ${outdated.count === 1 ? 'needs' : 'need'}`;
      const detail = `${summary}; ${needs} WEBHOOK_SECRET_PREVIOUS until the secret is rotated, so keep it`;
      return { detail, objects: shownEndpoints(outdated) };
    }
    const overlapping = await secret.overlapping();
    if (overlapping.until) {
      const detail = `${summary}; posts to ${counted(overlapping.count, 'endpoint')} are also signed by WEBHOOK_SECRET_PREVIOUS until ${overlapping.until.toISOString()}, so keep it`;
      return { detail, objects: shownEndpoints(overlapping) };
    }
    return `${summary}; none needs WEBHOOK_SECRET_PREVIOUS, so unset it on every gateway unless it is the next secret`;
  });
}
