import { collectionNames } from '../../mongo/indexes';
import type { OrganisationData } from '../../tenant/organisationData';
import type { Feed } from '../../organisations/feeds';
import { HOUR } from '../../units';
import { type Found, momentOf } from './changes';

/** How long after a move the collections that it left behind may still be dropped, in milliseconds. */
const LEFT_FOR = HOUR;

/**
 * Leaves out the drops of what a move to another shard has left on the former one, which MongoDB logs like any other
 * (docs/decisions/shards.md): the organisation still has those collections.
 */
export async function withoutMoved(
  { database }: OrganisationData,
  { writeState, movedAt }: Feed,
  found: readonly Found[],
): Promise<readonly Found[]> {
  const isOfMove = ({ change }: Found): boolean =>
    change.operationType === 'drop' &&
    (writeState === 'moving' || (movedAt !== undefined && momentOf(change).getTime() < movedAt.getTime() + LEFT_FOR));
  if (!found.some(isOfMove)) return found;
  const there = await collectionNames(database);
  return found.filter((one) => !isOfMove(one) || !there.has(one.change.ns.coll ?? ''));
}
