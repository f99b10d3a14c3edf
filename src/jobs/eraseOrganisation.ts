import type { OrganisationData } from '../database/organisationData';
import { MovingError } from '../organisations/erasing';
import type { Listed } from '../organisations/organisationRows';
import { dropUntilGone } from './copies';
import type { Stores } from './stores';

export interface Erasing {
  /** Called before anything is changed; throws to prevent the erasure. */
  readonly check?: (organisation: Listed) => Promise<void>;
  /** Exports the data; without this function nothing is exported. */
  readonly exportTo?: (organisation: Listed, data: OrganisationData) => Promise<void>;
  /** Called before data is deleted; throws to prevent that. */
  readonly mayDrop?: () => void;
}

/**
 * Erases an organisation, or what an earlier attempt left (docs/decisions/organisation-life.md). Undefined if there never was one.
 * @throws MovingError while the organisation or its sandbox is being moved
 */
export async function eraseOrganisation(
  stores: Stores,
  id: string,
  how: Erasing = {},
): Promise<'erased' | 'leftovers' | undefined> {
  const { control, databases } = stores;
  const before = await control.organisations.find(id);
  if (!before) {
    const cluster = await control.erasing.clusterOf(id);
    if (cluster === undefined) return undefined;
    await dropUntilGone(await databases.open({ id, cluster }));
    return 'leftovers';
  }
  const { move, copies = [] } = (await control.moving.movesOf(id)) ?? {};
  if (move) throw new MovingError(id, move.to);
  await how.check?.(before);
  const data = await databases.open(before);
  const old = await Promise.all(copies.map(({ cluster }) => databases.open({ id, cluster })));
  const erasure = await control.erasing.begin(id);
  if (!erasure) return undefined;
  for (const { id: sandbox } of await control.sandboxes.allOf(id)) {
    await eraseOrganisation(stores, sandbox, how.mayDrop && { mayDrop: how.mayDrop });
  }
  await data.slots.fence();
  if (!erasure.exported) {
    await how.exportTo?.(before, data);
    how.mayDrop?.();
    await control.erasing.noteExported(id);
  }
  for (const one of [data, ...old]) await dropUntilGone(one);
  await control.erasing.finish(erasure.organisation);
  // again, for what was created before the row was deleted
  await dropUntilGone(data);
  return 'erased';
}
