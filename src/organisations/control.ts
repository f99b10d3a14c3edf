import type { Config } from '../config';
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

interface ControlOptions extends Pick<ApiKeysOptions, 'actor' | 'onError'> {
  readonly config: Pick<Config, 'KEY_PREFIX' | 'KEY_PEPPER' | 'KEY_PEPPER_PREVIOUS'>;
  readonly databases: Databases;
}

/** Opens the control data, and creates missing indexes. `onError` is called when a background write fails (the last use of a key). */
export async function openControl({ databases, config, ...options }: ControlOptions) {
  const { now } = databases;
  const models = controlModels(databases);
  await models.createIndexes();
  const pepper = pepperGuard(databases.control, models, config, now);
  const keys = apiKeys(models, { ...options, config, now, pepperNumber: pepper.number });
  const stores = { apiKeys: keys, audit: auditLog(models), usage: keyUsage(models) };
  return {
    ...stores,
    organisations: organisations({
      models,
      actor: options.actor,
      clusters: databases.clusters,
      prepare: async (organisation) => (await databases.open(organisation)).createIndexes(),
    }),
    sessions: sessions(models, now),
    pepper,
    /** The key operations of a signed-in user, acting from a network address. */
    integrations: (session: Session, from: string) => integrationsOf(session, from, stores),
  };
}
