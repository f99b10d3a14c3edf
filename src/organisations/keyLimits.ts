import type { ClientSession } from 'mongoose';
import type { Plans } from '../auth/plans';
import type { Organisation } from '../auth/principal';
import { atMost } from '../mongo/native';
import { KeyRefused, stateCondition } from './keyDocuments';
import type { ControlModels } from './models';

/* How many keys of an organisation may be active, by the `active_keys` of its plan. `now` is the database's time. */

export const activeIn = (organisationId: string, now: Date): Record<string, unknown> => ({
  'organisation.id': organisationId,
  ...stateCondition('active', now),
});

export function createKeyLimits({ apiKeys }: Pick<ControlModels, 'apiKeys'>, plans: Plans, now: () => number) {
  /** The number of an organisation's active keys, counted up to `most`. */
  async function countActive({ id }: Organisation, most: number, session?: ClientSession): Promise<number> {
    const options = { ...(session && { session }), ...atMost(most) };
    return (await apiKeys.find(activeIn(id, new Date(now())), { _id: 1 }, options).lean()).length;
  }

  return {
    /** Why an organisation may have no more keys now, as a clause whose subject is the organisation; undefined if it may. */
    async whyFull(organisation: Organisation): Promise<string | undefined> {
      const most = plans.of(organisation).active_keys;
      return (await countActive(organisation, most)) < most ? undefined : mayHave(most);
    },

    /**
     * Call it once the organisation's row (holdOrganisation) and the new key, which it counts, are written: then two concurrent creations cannot
     * both take the last place. @throws KeyRefused beyond the `active_keys` of its plan
     */
    async requireRoom(organisation: Organisation, session: ClientSession): Promise<void> {
      const most = plans.of(organisation).active_keys;
      if ((await countActive(organisation, most + 1, session)) <= most) return;
      const detail = `the organisation ${mayHave(most)}`;
      throw new KeyRefused(
        { pointer: '', code: 'too_many', detail },
        `${detail}, or raise ${plans.settingOfActiveKeys(organisation)}`,
      );
    },

    /**
     * A rotation may exceed `active_keys`, since every key must be replaceable. But at most as many replaced keys may still work as `active_keys`, or
     * as there are other active keys, if those are more. Call it when both rows are written, like `requireRoom`. @throws KeyRefused
     */
    async requireRoomToReplace(organisation: Organisation, session: ClientSession): Promise<void> {
      const activeKeys = await apiKeys
        .find(activeIn(organisation.id, new Date(now())), { rotated_to: 1 }, { session })
        .lean();
      const replaced = activeKeys.filter(({ rotated_to }) => rotated_to !== null).length;
      const most = Math.max(plans.of(organisation).active_keys, activeKeys.length - replaced);
      if (replaced <= most) return;
      const detail = `the organisation has ${String(most)} replaced keys that still work, the most it may have; revoke one first, or wait for the end of its overlap`;
      throw new KeyRefused({ pointer: '', code: 'too_many', detail }, detail);
    },
  };
}

/** It says `at least`, since there may be more: from before the organisation was on this plan, or by rotations. */
const mayHave = (most: number): string =>
  `has at least ${String(most)} active ${most === 1 ? 'key' : 'keys'}, the most it may have; revoke one first`;
