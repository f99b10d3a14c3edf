import type { Config } from '../config';
import type { Databases } from '../database/connect';
import { apiKeys, type ApiKeys } from './apiKeys';
import { type AuditLog, auditLog } from './audit';
import type { Actor } from './auditEvents';
import { controlModels } from './models';
import { organisations, type Organisations } from './organisations';

/** Everything the control database holds, behind its rules. */
export interface Control {
  readonly organisations: Organisations;
  readonly apiKeys: ApiKeys;
  readonly audit: AuditLog;
}

export interface ControlOptions {
  readonly config: Pick<Config, 'KEY_PREFIX' | 'KEY_PEPPER'>;
  readonly databases: Databases;
  /** Who does what is done through this control; told in the audit log. */
  readonly actor: Actor;
  /** Told of writes that fail beside a request (last use of a key). */
  readonly onError: (error: unknown) => void;
}

/** Opens the control data, making its indexes where they are missing. */
export async function openControl({ config, databases, actor, onError }: ControlOptions): Promise<Control> {
  const models = controlModels(databases.control);
  await models.apiKeys.createIndexes();
  await models.auditEvents.createIndexes();
  return {
    organisations: organisations({
      control: databases.control,
      models,
      actor,
      clusters: databases.clusters,
      prepare: (organisation) => databases.organisationData(organisation).createIndexes(),
    }),
    apiKeys: apiKeys(models, { keyPrefix: config.KEY_PREFIX, pepper: config.KEY_PEPPER, actor, onError }),
    audit: auditLog(models),
  };
}
