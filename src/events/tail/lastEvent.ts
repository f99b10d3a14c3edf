import type { OrganisationData } from '../../tenant/organisationData';
import { type EventRow, events } from '../collection';

/**
 * A member of an object's last event, of those that the filter `among` finds, or if there was a gap since, of that, which lacks it. Undefined if neither is
 * kept: events are for 30 days.
 */
export async function lastEvent<K extends keyof EventRow>(
  data: OrganisationData,
  { type, id }: { readonly type: string; readonly id: string },
  member: K,
  among: object = {},
): Promise<Pick<EventRow, K> | undefined> {
  const rows = data.database.collection<EventRow>(events.name);
  // null finds gaps, after which the object may be another one with the same id
  const of = { 'object.id': { $in: [id, null] }, 'object.type': { $in: [type, null] }, ...among } as object;
  const options = { sort: { _id: -1 }, projection: { [member]: 1 } } as const;
  return (await data.reads(() => rows.findOne(of, options))) ?? undefined;
}
