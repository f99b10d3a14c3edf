import type { OrganisationData } from '../tenant/organisationData';
import { MovingError } from '../organisations/erasing';
import { JobRefused } from '../organisations/jobs';
import type { OrganisationForOperators } from '../organisations/organisationRows';
import { SETTLED_AFTER } from '../organisations/reusedIds';
import type { Stores } from './stores';

export interface ErasureHooks {
  /** Called before anything is changed; throws to prevent the erasure. */
  readonly check?: (organisation: OrganisationForOperators) => Promise<void>;
  /**
   * Exports the data; without this function nothing is exported. Not called if an earlier attempt exported them or need not. It calls
   * `requireWhole` once it has read everything, before it replaces anything: that throws JobRefused if data may have been dropped meanwhile.
   */
  readonly exportTo?: (
    organisation: OrganisationForOperators,
    data: OrganisationData,
    requireWhole: () => Promise<void>,
  ) => Promise<void>;
  /** Called before data is deleted; throws to prevent that. */
  readonly mayDrop?: () => void;
}

/**
 * Erases an organisation, or what an attempt of the last two minutes left (docs/decisions/organisation-life.md). False if there never
 * was one. May be repeated after a failure.
 * @throws MovingError while the organisation or its sandbox is being moved; JobRefused if it was erased during the export, or its database keeps
 * being created; what the hooks throw
 */
export async function eraseOrganisation(stores: Stores, id: string, how: ErasureHooks = {}): Promise<boolean> {
  const { control, databases } = stores;
  const data = databases.organisationData({ id });
  const { organisation: before, move } = (await control.moving.moveOf(id)) ?? {};
  if (move) throw new MovingError(id, move.to);
  if (before) await how.check?.(before);
  const erasure = before && (await control.erasing.begin(id));
  if (!erasure) {
    const erasedAt = await control.erasing.erasedAt(id);
    if (!erasedAt) return false;
    // later, a database by this name may be that of another installation on this server
    if (data.now() - erasedAt.getTime() > SETTLED_AFTER) return true;
    how.mayDrop?.();
    await dropUntilGone(data);
    return true;
  }
  // nothing of a sandbox is exported
  for (const { id: sandbox } of await control.sandboxes.allOf(id)) {
    await eraseOrganisation(stores, sandbox, how.mayDrop && { mayDrop: how.mayDrop });
  }
  // from here on, no write that has begun stores anything
  await data.slots.fence();
  // another process that erases it drops the database once it has noted that it exported, or was not to, as an operator's job
  const requireWhole = async (): Promise<void> => {
    if (await control.erasing.isExported(id))
      throw new JobRefused(
        `nothing was written: another process went on to erase organisation ${id} while this one was exporting, so the export may lack objects`,
      );
  };
  if (!erasure.exported) await how.exportTo?.(before, data, requireWhole);
  // before it is noted, so that after an interruption the next attempt exports again
  how.mayDrop?.();
  await control.erasing.noteExported(id);
  await dropUntilGone(data);
  await control.erasing.finish(erasure.organisation);
  // again, for what was created before the row was deleted
  await dropUntilGone(data);
  return true;
}

/** How many times a database is dropped at most: a request in progress may create it again, and then drops it itself, too. Chosen. */
const DROPS = 20;

/** Drops an organisation's database until the server no longer lists it. @throws JobRefused after {@link DROPS} attempts */
async function dropUntilGone(data: OrganisationData): Promise<void> {
  for (let attempt = 1; attempt <= DROPS; attempt += 1) {
    await data.drop();
    if (!(await data.exists())) return;
  }
  throw new JobRefused('the database of the organisation keeps being created again; stop whatever writes to it');
}
