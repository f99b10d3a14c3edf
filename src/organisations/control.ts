import type { Databases } from '../database/connect';
import { apiKeys, type ApiKeysOptions } from './apiKeys';
import { auditLog } from './audit';
import { integrationsOf } from './integrations';
import { keyUsage } from './keyUsage';
import { controlModels } from './models';
import { organisations } from './organisations';
import { pepperGuard } from './pepper';
import { type Session, sessions } from './sessions';

export type Control = Awaited<ReturnType<typeof openControl>>;

/** Opens the control data, and creates missing indexes. `onError` is called when a background write fails (the last use of a key). */
export async function openControl({ databases, ...options }: ApiKeysOptions & { readonly databases: Databases }) {
  const models = controlModels(databases);
  await models.createIndexes();
  const stores = { apiKeys: apiKeys(models, options), audit: auditLog(models), usage: keyUsage(models) };
  return {
    ...stores,
    organisations: organisations({
      models,
      actor: options.actor,
      clusters: databases.clusters,
      prepare: async (organisation) => (await databases.open(organisation)).createIndexes(),
    }),
    sessions: sessions(models),
    pepper: pepperGuard(databases.control, models, options.config.KEY_PEPPER),
    /** The key operations of a signed-in user, acting from a network address. */
    integrations: (session: Session, from: string) => integrationsOf(session, from, stores),
  };
}
