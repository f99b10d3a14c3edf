import type { Organisation } from '../auth/principal';
import type { Config } from '../config';
import { CommandFailure, notFound, usageFailure } from './ending';
import type { Store } from './store';
import { note } from './terminal';

/** Opens the database for one command, and closes it even if the command fails. Loads its modules only here, which keeps --help fast. */
export async function withStore<T>(
  work: (store: Store, config: Config) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const [{ readConfig }, { openStore }] = await Promise.all([import('../config/index.js'), import('./store.js')]);
  const config = readConfig();
  const store = await openStore(config, note, signal);
  try {
    return await work(store, config);
  } finally {
    await store.close();
  }
}

/** @throws CommandFailure if the organisation does not exist, or is being erased. */
export async function requireOrganisation({ control }: Store, id: string): Promise<Organisation> {
  const organisation = await control.organisations.find(id);
  if (!organisation) throw notFound('organisation', id);
  if (organisation.state === 'erasing') {
    throw new CommandFailure(`organisation ${id} is being erased; to finish that, run scopegate org erase again`);
  }
  return organisation;
}

/** @throws CommandFailure unless the cluster is in MONGODB_CLUSTERS or is the default one. */
export function requireCluster({ clusters }: Store['databases'], name: string): void {
  if (clusters.includes(name)) return;
  throw usageFailure(`unknown cluster ${name}; clusters are ${clusters.join(', ')} (add more with MONGODB_CLUSTERS)`);
}

/** @throws CommandFailure if the value of `--confirm` is not the name */
export function requireConfirmed(kind: 'organisation' | 'customer', confirm: string, name: string): void {
  if (confirm === name) return;
  throw usageFailure(`--confirm must be the name of the ${kind}, which is ${JSON.stringify(name)}`);
}
