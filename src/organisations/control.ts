import type { Config } from '../config';
import type { Databases } from '../database/connect';
import { apiKeys, type ApiKeysOptions } from './apiKeys';
import { auditLog } from './audit';
import { integrationsOf } from './integrations';
import { keyUsage } from './keyUsage';
import { adoptSchema } from './controlSchema';
import { controlCollections, controlModels } from './models';
import { organisations } from './organisations';
import { pepperGuard } from './pepper';
import { placement } from './placement';
import { type Session, sessions } from './sessions';

export type Control = Awaited<ReturnType<typeof openControl>>;

export interface ControlOptions extends ApiKeysOptions {
  readonly config: ApiKeysOptions['config'] & Pick<Config, 'CLUSTER_FILES'>;
  readonly databases: Databases;
}

/**
 * Opens the control data, and makes its indexes if its schema is older. `onError` is called when a background write fails (the
 * last use of a key). @throws NewerSchemaError
 */
export async function openControl({ databases, ...options }: ControlOptions) {
  const models = controlModels(databases.control);
  await adoptSchema(databases.control, controlCollections);
  const { CLUSTER_FILES } = options.config;
  const places = placement({
    models,
    clusters: databases.clusters,
    capacityOf: (cluster) => CLUSTER_FILES.of[cluster] ?? CLUSTER_FILES.each,
    filesEach: databases.filesOfOrganisation,
  });
  const store = organisations({
    models,
    actor: options.actor,
    place: async (cluster) => {
      const chosen = await places.choose(cluster);
      await databases.reach(chosen);
      return chosen;
    },
  });
  databases.makeOnlyIf(store.isThere);
  const stores = { apiKeys: apiKeys(models, options), audit: auditLog(models), usage: keyUsage(models) };
  return {
    ...stores,
    organisations: store,
    placement: places,
    sessions: sessions(models),
    pepper: pepperGuard(databases.control, models, options.config.KEY_PEPPER),
    /** The key operations of a signed-in user, acting from a network address. */
    integrations: (session: Session, from: string) => integrationsOf(session, from, stores),
  };
}
