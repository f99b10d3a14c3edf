import type { OrganisationData } from '../../tenant/organisationData';
import { type EventRow, events } from '../collection';

/** The statuses that objects have by their last events, by id; none for an object without events, which are kept for 30 days. */
export async function lastStatuses(data: OrganisationData, ids: readonly string[]): Promise<Map<string, string>> {
  const rows = data.database.collection<EventRow>(events.name);
  const options = { sort: { _id: -1 }, projection: { status: 1 } } as const;
  const statuses = new Map<string, string>();
  await Promise.all(
    ids.map(async (id) => {
      const last = await data.reads(() => rows.findOne({ 'object.id': id }, options));
      if (typeof last?.status === 'string') statuses.set(id, last.status);
    }),
  );
  return statuses;
}
