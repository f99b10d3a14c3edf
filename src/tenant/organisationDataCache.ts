import { LRUCache } from 'lru-cache';
import type { Yield } from '../async/yield';
import type { TenantContext } from './tenantContext';
import { type OpenDeployment, OrganisationData } from './organisationData';

/** Maximum organisations whose data stay in memory. If one in use is evicted, it has two sets of semaphores, and so twice its limits, until that use ends. */
const WARM_ORGANISATIONS = 1000;

/** Without `plan`, as for what no quota limits (the feed, moves), the data keep the plan that the last caller knew. */
export type OrganisationDataCache = (organisation: {
  readonly id: string;
  readonly plan?: string | undefined;
}) => OrganisationData;

/** Opens an organisation's data; the most recently used are cached. */
export function organisationDataCache(
  open: () => OpenDeployment,
  collections: OrganisationData['collections'],
  yielding: Yield,
  context: TenantContext,
): OrganisationDataCache {
  const warm = new LRUCache<string, OrganisationData>({ max: WARM_ORGANISATIONS });
  return ({ id, plan }) => {
    let data = warm.get(id);
    if (!data) {
      data = new OrganisationData(id, open(), collections, yielding, context);
      warm.set(id, data);
    }
    if (plan !== undefined) data.plan = plan;
    return data;
  };
}
