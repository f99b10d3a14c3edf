import { nativeCollection } from '../database/native';
import type { OrganisationData } from '../database/organisationData';
import { timeOf } from '../database/clock';
import { SETTLED_READ } from '../database/slots';
import { type EventRow, events, KEPT_FOR } from '../events/collection';

/* Events that are sent again. */

/** Whether events since a time are still kept. */
export function isKept(data: OrganisationData, from: Date): boolean {
  return from.getTime() >= timeOf(data.connection) - KEPT_FOR;
}

/** Events by position; those that are no longer kept are missing. */
export async function eventsAt(
  data: OrganisationData,
  positions: readonly string[],
): Promise<ReadonlyMap<string, EventRow>> {
  const rows = nativeCollection(data.collection(events));
  const found = await rows.find({ _id: { $in: [...positions] } }, SETTLED_READ).toArray();
  return new Map(found.map((row) => [row._id, row]));
}
