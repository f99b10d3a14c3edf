import type { Organisation } from '../../auth/principal';
import type { Moves } from '../../organisations/moving';

/** What commands show of an organisation, as --help describes it. */
export const SHAPE = '{id, name, plan, cluster, state}';

export type ShownOrganisation = Pick<Organisation, 'id' | 'name' | 'plan' | 'cluster' | 'state'>;

export function shown({ id, name, plan, cluster, state }: Organisation): ShownOrganisation & Record<string, string> {
  return { id, name, plan, cluster, state };
}

/** The same of one organisation, with its move and the copies of earlier ones if there are any. */
export function shownWith({ organisation, move, copies }: Moves): ShownOrganisation & Record<string, unknown> {
  const { mover: _mover, ...begun } = move ?? { mover: '' };
  return { ...shown(organisation), ...(move && { move: begun }), ...(copies.length > 0 && { copies }) };
}

/** {@link shownWith} for a terminal. */
export function described({ organisation, move, copies }: Moves): Record<string, string> {
  const left = copies.map(
    ({ cluster, left_at, complete }) => `on ${cluster} since ${left_at.toISOString()}${complete ? '' : ', unfinished'}`,
  );
  return {
    ...shown(organisation),
    ...(move && { move: `to ${move.to} since ${move.begun_at.toISOString()}` }),
    ...(left.length > 0 && { copies: left.join('; ') }),
  };
}
