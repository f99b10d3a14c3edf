import type { Config } from '../config';
import type { Databases } from '../database/connect';
import { apiKeys, type ApiKeys } from './apiKeys';
import { type AuditLog, auditLog } from './audit';
import type { Actor } from './auditEvents';
import { integrationsOf, type Integrations } from './integrations';
import { type KeyUsage, openKeyUsage } from './keyUsage';
import { controlModels } from './models';
import { organisations, type Organisations } from './organisations';
import { openSessions, type Session, type Sessions } from './sessions';

/** Access to the control database. */
export interface Control {
  readonly organisations: Organisations;
  readonly apiKeys: ApiKeys;
  readonly audit: AuditLog;
  readonly sessions: Sessions;
  readonly usage: KeyUsage;
  /** The key operations of a signed-in user, acting from a network address. */
  integrations(session: Session, from: string): Integrations;
}

export interface ControlOptions {
  readonly config: Pick<Config, 'KEY_PREFIX' | 'KEY_PEPPER'>;
  readonly databases: Databases;
  /** The actor in audit events. */
  readonly actor: Actor;
  /** Called when a background write fails (the last use of a key). */
  readonly onError: (error: unknown) => void;
}

/** Opens the control data, and creates missing indexes. */
export async function openControl({ config, databases, actor, onError }: ControlOptions): Promise<Control> {
  const models = controlModels(databases.control);
  // in parallel, because every command waits for them
  const [usage, sessions] = await Promise.all([
    openKeyUsage(databases.control),
    openSessions(databases.control, models),
    models.apiKeys.createIndexes(),
    models.auditEvents.createIndexes(),
  ]);
  const keys = apiKeys(models, { keyPrefix: config.KEY_PREFIX, pepper: config.KEY_PEPPER, actor, onError });
  const audit = auditLog(models);
  return {
    organisations: organisations({
      control: databases.control,
      models,
      actor,
      clusters: databases.clusters,
      prepare: async (organisation) => (await databases.open(organisation)).createIndexes(),
    }),
    apiKeys: keys,
    audit,
    sessions,
    usage,
    integrations: (session, from) => integrationsOf(session, from, { apiKeys: keys, audit, usage }),
  };
}
