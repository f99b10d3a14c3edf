import { labelOf, Tally } from '../client';
import { type Case, number, Promises } from '../outcome';
import { milliseconds, quantile } from '../timing';

/** Concurrent trials. */
const LANES = 4;

/** Once its revocation is acknowledged, no gateway accepts a key. */
export const revocation: Case = {
  name: 'revocation',
  title: 'Revocation on every gateway',
  what: ({ revocations }) =>
    `${number(revocations)} times: a key is created, used on two gateways, revoked by a third process while requests with it are in progress on both, and used on both again as soon as the revocation is acknowledged. Promise: every request that starts after the acknowledgement gets 401.`,
  async run({ rig, scale, tell }) {
    const gateways = await rig.gateways();
    const tenant = await rig.newTenant('revocation');
    const [first, late] = [new Tally(), new Tally()];
    const durations: number[] = [];
    let begun = 0;

    async function trial(): Promise<void> {
      const { id, key } = await rig.newKey(tenant.organisationId);
      const useOnBoth = async (tally?: Tally): Promise<void> => {
        const replies = await Promise.all(
          gateways.map(({ call }) => call({ method: 'GET', path: '/api/v1/products?limit=1', key })),
        );
        for (const reply of replies) tally?.add(labelOf(reply));
      };
      await useOnBoth(first);
      // these start before the acknowledgement, so they may succeed or fail
      const underway = useOnBoth();
      const started = performance.now();
      const isRevoked = await rig.store.control.apiKeys.revoke(id);
      durations.push(performance.now() - started);
      if (!isRevoked) throw new Error('the key to revoke was not found');
      await useOnBoth(late);
      await underway;
    }

    async function lane(): Promise<void> {
      while (begun < scale.revocations) {
        begun += 1;
        if (begun % 250 === 0) tell(`${String(begun)} of ${String(scale.revocations)} revocations`);
        await trial();
      }
    }

    await Promise.all(Array.from({ length: LANES }, lane));
    const promises = new Promises();
    const due = gateways.length * scale.revocations;
    promises.keep(first.count('200') === due, `before the revocation: ${first.toString()}`);
    promises.keep(late.count('200') === 0, `${number(late.count('200'))} late successes`);
    promises.keep(late.count('401 unauthenticated') === due, `after the revocation: ${late.toString()}`);
    return {
      notes: [
        `Before: ${first.toString()}. After the acknowledgement: ${late.toString()}; late successes: ${number(late.count('200'))}.`,
        `A revocation took ${milliseconds(quantile(durations, 0.5))} (median), ${milliseconds(Math.max(...durations))} (max).`,
      ],
      broken: promises.broken,
    };
  },
};
