import type { OrganisationData } from '../../tenant/organisationData';
import type { PublicCollection } from '../../schema/eventTypes';
import { customerColumn } from '../../schema/restricted';
import { idText, MINUTE } from '../../units';
import type { EventRow } from '../collection';

/* What the database still says of changes whose history was lost: which objects changed since, but not how, and none that was deleted. */

/** Maximum objects of a type that get an event after a gap; more may have changed, as the gap event says. */
const MAX_AFTER_GAP = 10_000;
/**
 * How long before its commit a write of a gateway may be dated, in milliseconds: longer than one can be in progress (tenant/openWrites.ts). Rows
 * that others date are missed if they say earlier: those of an import with `--stamp file`, and of programs that keep `updated_at` themselves.
 */
const DATED_BEFORE = 2 * MINUTE;

/** An `.updated` event for each object of a collection changed since a time. */
export async function changedSince(
  data: OrganisationData,
  { collection, object: type, members, hasStatus, restriction }: PublicCollection,
  from: Date,
): Promise<Omit<EventRow, '_id' | 'at'>[]> {
  // not of parts, such as messages: their ids are not those of the objects that events are about
  if (!members.has('updated_at')) return [];
  const since = { updated_at: { $gte: new Date(from.getTime() - DATED_BEFORE) } };
  const column = customerColumn(restriction);
  const options = {
    projection: { status: 1, ...(column !== undefined && { [column]: 1 }) },
    sort: { updated_at: 1, _id: 1 },
    limit: MAX_AFTER_GAP,
  } as const;
  const rows = data.database.collection(collection).find(since, options);
  return rows
    .map(({ status, ...row }) => {
      const text = hasStatus && typeof status === 'string' ? status : null;
      const customer: unknown = row[column ?? ''];
      const whose = typeof customer === 'string' && { customers: [customer] };
      return { type: `${type}.updated`, object: { type, id: idText(row._id) }, changes: [], status: text, ...whose };
    })
    .toArray();
}
