import { STATES } from '../auth/principal';
import type { Config } from '../config';
import type { OrganisationForOperators } from '../organisations/organisationRows';
import { CommandFailure, notFound, usageFailure } from './ending';
import type { Store } from './store';
import { note } from './terminal';

/**
 * Opens the database for one command, and closes it even if the command fails; `signal` cancels the opening, and with `asIs` it adds no indexes to
 * the control database. Loads its modules only here, which keeps --help fast.
 */
export async function withStore<T>(
  work: (store: Store, config: Config) => Promise<T>,
  signal?: AbortSignal,
  asIs = false,
): Promise<T> {
  const [{ readConfig }, { openStore }] = await Promise.all([import('../config/index.js'), import('./store.js')]);
  const config = readConfig();
  const store = await openStore(config, note, { signal, asIs });
  try {
    if (store.lacking.length > 0) (await import('./ownNames.js')).warnOfNames(store.lacking);
    return await work(store, config);
  } finally {
    await store.close();
  }
}

/** @throws CommandFailure if the organisation does not exist, or is being erased. */
export async function requireOrganisation({ control }: Store, id: string): Promise<OrganisationForOperators> {
  const organisation = await control.organisations.find(id);
  if (!organisation) throw notFound('organisation', id);
  if (organisation.state === 'erasing') {
    throw new CommandFailure(`organisation ${id} is being erased; to finish that, run scopegate org erase again`);
  }
  return organisation;
}

/** As {@link requireOrganisation}, for a command that reads or writes its data. @throws CommandFailure also if it is being moved */
export async function requireData(store: Store, id: string): Promise<OrganisationForOperators> {
  const organisation = await requireOrganisation(store, id);
  refuseMoving(organisation);
  return organisation;
}

/** @throws CommandFailure if the organisation is being moved */
export function refuseMoving({ id, moving }: OrganisationForOperators): void {
  if (moving)
    throw new CommandFailure(`organisation ${id} is being moved to another shard; try again once that has ended`);
}

/** Whether an organisation's data may be read: it is neither being erased nor moved. */
export function isReadable({ state, moving }: OrganisationForOperators): boolean {
  return STATES[state].data && !moving;
}

/** @throws CommandFailure if the value of `--confirm` is not the name */
export function requireConfirmed(kind: 'organisation' | 'customer', confirm: string, name: string): void {
  if (confirm === name) return;
  throw usageFailure(`--confirm must be the name of the ${kind}, which is ${JSON.stringify(name)}`);
}
