import { type ClientSession, trusted } from 'mongoose';
import { HOUR } from '../units';
import { stateCondition } from './keyDocuments';
import type { ControlModels } from './models';

/* Keys that have ended, that is expired or been revoked (docs/decisions/bounded-control-data.md); an index (keyRows.ts) deletes them 90 days later. */

/** Revoked keys kept per organisation, and as many expired ones: those that ended last. */
export const MAX_ENDED_KEYS = 1000;
/** Keys of each kind deleted after a change, so that none waits long. A change adds or ends one key, so this catches up. */
const AT_ONCE = 100;
/** A key that expired within this time, in milliseconds, may be active by the clock of another gateway. */
const MAX_CLOCK_DIFFERENCE = HOUR;
/** Earlier than every date: a range from it on matches dates alone, which null is not. */
const LONG_AGO = new Date(0);

/** Matches active keys, and those that expired so lately that another gateway may still accept them. A revoked one no clock accepts. */
export const perhapsActive = (now: number): Record<string, unknown> =>
  stateCondition('active', new Date(now - MAX_CLOCK_DIFFERENCE));

interface ChangeInKeys {
  readonly organisationId: string;
  readonly now: number;
  /** Members to set or remove, by their paths in a key. */
  readonly set?: object;
  readonly unset?: string;
}

/** Changes the copies of an organisation in its keys; those in ended keys stay as they are, since no request is served with them. */
export async function changeInKeys(
  { apiKeys }: Pick<ControlModels, 'apiKeys'>,
  { organisationId, now, set, unset }: ChangeInKeys,
  session: ClientSession,
): Promise<void> {
  await apiKeys.updateMany(
    { 'organisation.id': organisationId, ...perhapsActive(now) },
    { ...(set && { $set: set }), ...(unset !== undefined && { $unset: { [unset]: 1 } }) },
    { session },
  );
}

/** Deletes an organisation's ended keys other than the last {@link MAX_ENDED_KEYS}, with their usage, {@link AT_ONCE} at a time. */
export async function trimEndedKeys(
  { apiKeys, usage }: Pick<ControlModels, 'apiKeys' | 'usage'>,
  organisationId: string,
  now: number,
): Promise<void> {
  const kinds = [
    { revoked_at: trusted({ $gt: LONG_AGO }) },
    { revoked_at: null, expires_at: trusted({ $gt: LONG_AGO, $lte: new Date(now) }) },
  ] as const;
  for (const kind of kinds) {
    const surplus = await apiKeys
      .find({ 'organisation.id': organisationId, ...kind }, { _id: 1 })
      // in the order of an index
      .sort('expires_at' in kind ? { expires_at: -1 } : { revoked_at: -1, expires_at: -1 })
      .skip(MAX_ENDED_KEYS)
      .limit(AT_ONCE)
      .lean();
    if (surplus.length === 0) continue;
    const ids = trusted({ $in: surplus.map(({ _id }) => _id) });
    // first, so that an interruption leaves no usage without its key
    await usage.deleteMany({ key_id: ids });
    await apiKeys.deleteMany({ _id: ids });
  }
}
