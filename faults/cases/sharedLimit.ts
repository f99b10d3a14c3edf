import { hammer } from '../hammer';
import { type Case, number, Promises } from '../outcome';
import { milliseconds, until } from '../timing';
import { areReady } from './redisAway';

const LIMIT = 600;
const REQUESTS = 2 * LIMIT;

/** How long gateways may take to share their limits again, in milliseconds: what a busy machine answers late counts as away. */
const SHARED_WITHIN = 20_000;

/** Two gateways that share a Redis allow a key exactly its limit. */
export const sharedLimit: Case = {
  name: 'shared-limit',
  title: 'One rate limit across two gateways',
  what: ({ limitRounds }) =>
    `${number(REQUESTS)} requests of one key, 32 at once, half to each of two gateways that share a Redis; ${number(limitRounds)} rounds, each with a new key. Promise: exactly ${number(LIMIT)} get 200 and ${number(REQUESTS - LIMIT)} get 429.`,
  async run({ rig, scale }) {
    const gateways = await rig.gateways({ RATE_LIMIT_PER_MINUTE: String(LIMIT) });
    const tenant = await rig.newTenant('shared limit');
    // warm up with another key
    await hammer(gateways, tenant.key, 200);
    const promises = new Promises();
    const notes: string[] = [];
    for (let round = 1; round <= scale.limitRounds; round += 1) {
      const { key } = await rig.newKey(tenant.organisationId);
      await until(() => areReady(gateways, 'ok'), SHARED_WITHIN);
      const { tally, perGateway, ms } = await hammer(gateways, key, REQUESTS);
      const isExact = tally.count('200') === LIMIT && tally.count('429 rate_limited') === REQUESTS - LIMIT;
      promises.keep(isExact, `round ${String(round)}: ${tally.toString()}`);
      notes.push(
        `Round ${String(round)}: ${tally.toString()} (${perGateway.join(' + ')} on the two gateways) in ${milliseconds(ms)}.`,
      );
    }
    return { notes, broken: promises.broken };
  },
};
