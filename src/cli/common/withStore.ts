import type { Organisation } from '../../access/principal';
import { type Config, readConfig } from '../../config';
import { thereIsNo } from './failure';
import { openStore, type Store } from './open';
import { note } from './terminal';

/** Opens the database for one command and closes it again, whatever happens. */
export async function withStore<T>(
  work: (store: Store, config: Config) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const config = readConfig();
  const store = await openStore(config, note, signal);
  try {
    return await work(store, config);
  } finally {
    await store.close();
  }
}

/** @throws CommandFailure when there is no such organisation. */
export async function requireOrganisation({ control }: Store, id: string): Promise<Organisation> {
  const organisation = await control.organisations.find(id);
  if (!organisation) throw thereIsNo('organisation', id, 'scopegate org list shows those there are');
  return organisation;
}
