import { nativeCollection } from '../database/native';
import type { OrganisationData } from '../database/organisationData';
import { timeOf } from '../database/clock';
import { SETTLED_READ } from '../database/slots';
import { type EventRow, events, KEPT_FOR } from '../events/collection';
import { BEGINNING, lastPosition } from '../events/feed';

/* Where in its organisation's feed an endpoint goes on. */

/** How long a look at the events may take the database, in milliseconds. */
const READ_WITHIN = 10_000;

/** Whether events since a time are still kept. */
export function isKept(data: OrganisationData, from: Date): boolean {
  return from.getTime() >= timeOf(data.connection) - KEPT_FOR;
}

/** The position before the first event since a time; behind the last event if there is none. */
export async function positionBefore(data: OrganisationData, from: Date): Promise<string> {
  const rows = nativeCollection(data.collection(events));
  const options = { ...SETTLED_READ, projection: { _id: 1 }, maxTimeMS: READ_WITHIN } as const;
  const first = await data.reads(() => rows.findOne({ at: { $gte: from } }, { ...options, sort: { at: 1, _id: 1 } }));
  if (!first) return lastPosition(data);
  const before = await data.reads(() => rows.findOne({ _id: { $lt: first._id } }, { ...options, sort: { _id: -1 } }));
  return before?._id ?? BEGINNING;
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
