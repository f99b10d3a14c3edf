import type { Config } from '../config';
import type { Databases } from '../database/connect';
import { apiKeys, type ApiKeys } from './apiKeys';
import { controlModels } from './models';
import { organisations, type Organisations } from './organisations';

/** Everything the control database holds, behind its rules. */
export interface Control {
  readonly organisations: Organisations;
  readonly apiKeys: ApiKeys;
}

export interface ControlOptions {
  readonly config: Pick<Config, 'KEY_PREFIX' | 'KEY_PEPPER'>;
  readonly databases: Databases;
  /** Told of writes that fail beside a request (last use of a key). */
  readonly onError: (error: unknown) => void;
}

/** Opens the control data, making its indexes where they are missing. */
export async function openControl({ config, databases, onError }: ControlOptions): Promise<Control> {
  const models = controlModels(databases.control);
  await models.apiKeys.createIndexes();
  return {
    organisations: organisations({
      control: databases.control,
      models,
      clusters: databases.clusters,
      prepare: (organisation) => databases.organisationData(organisation).createIndexes(),
    }),
    apiKeys: apiKeys(models, { keyPrefix: config.KEY_PREFIX, pepper: config.KEY_PEPPER, onError }),
  };
}
