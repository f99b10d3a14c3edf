import { isUnavailable } from '../../mongo/faults';
import { collectionNames } from '../../mongo/indexes';
import type { OrganisationData } from '../../tenant/organisationData';
import type { Feed } from '../../organisations/feeds';
import { HOUR } from '../../units';
import type { LoggedChange } from './changes';

/**
 * How long after a move the collections that it left behind may still be dropped, in milliseconds: MongoDB drops them before it answers, so this
 * is for the two clocks, and for a mover that learned of the end from `config.databases`.
 */
const LEFT_FOR = HOUR;

/**
 * Leaves out the drops of what a move to another shard has left on the former one, which MongoDB logs like any other
 * (docs/decisions/shards.md): the organisation still has those collections. Any other drop until then is taken for one of these if
 * the collection is there again once it is read, and there is no gap: accepted, since nothing in the log tells the two apart.
 */
export async function withoutMoved(
  { database }: OrganisationData,
  { writeState, movedAt }: Feed,
  changes: readonly LoggedChange[],
): Promise<readonly LoggedChange[]> {
  const isOfMove = ({ change }: LoggedChange): boolean =>
    change.operationType === 'drop' &&
    (writeState === 'moving' || (movedAt !== undefined && change.wallTime.getTime() < movedAt.getTime() + LEFT_FOR));
  if (!changes.some(isOfMove)) return changes;
  const there = await collectionNames(database).catch((error: unknown) => {
    if (isUnavailable(error)) throw error;
    // refused, perhaps because the move goes on: the drops are then a gap
    return new Set<string>();
  });
  return changes.filter((logged) => !isOfMove(logged) || !there.has(logged.change.ns.coll ?? ''));
}
