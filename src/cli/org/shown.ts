import type { Organisation } from '../../access/principal';

/** What commands show of an organisation, as --help describes it. */
export const SHAPE = '{id, name, plan, cluster, state}';

export type ShownOrganisation = Pick<Organisation, 'id' | 'name' | 'plan' | 'cluster' | 'state'>;

export function shown({ id, name, plan, cluster, state }: Organisation): ShownOrganisation & Record<string, string> {
  return { id, name, plan, cluster, state };
}
