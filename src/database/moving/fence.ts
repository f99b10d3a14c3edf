import { makeIndexes } from '../making';
import { databaseTime } from '../openWrites';
import type { OrganisationData } from '../organisationData';
import { openWrites } from '../slots';

/**
 * Waits for writes under way, once no other can begin, and holds back the times that lists give out. Resolves with a time, in
 * milliseconds since 1970, which none of those is past.
 */
export async function fenceSource(source: OrganisationData): Promise<number> {
  await source.slots.fence();
  // an organisation without data gives out times too
  await makeIndexes(source.connection, openWrites, []);
  await source.slots.hold();
  return databaseTime(source);
}
