import type { Databases } from '../database/connect';
import { apiKeys, type ApiKeysOptions } from './apiKeys';
import { auditLog } from './audit';
import type { AuditAction } from './auditEvents';
import { erasing } from './erasing';
import { importKeys } from './keyRecords';
import { integrationsOf } from './integrations';
import { keyUsage } from './keyUsage';
import { controlModels } from './models';
import { organisations, standingIn } from './organisations';
import { pepperGuard } from './pepper';
import { type Session, sessions } from './sessions';

export type Control = Awaited<ReturnType<typeof openControl>>;

/** Opens the control data, and creates missing indexes. `onError` is called when a background write fails (the last use of a key). */
export async function openControl({ databases, ...options }: ApiKeysOptions & { readonly databases: Databases }) {
  const models = controlModels(databases.control);
  await models.createIndexes();
  const open = organisations({
    models,
    actor: options.actor,
    clusters: databases.clusters,
    prepare: async (organisation) => (await databases.open(organisation)).createIndexes(),
    drop: async (organisation) => (await databases.open(organisation)).drop(),
  });
  databases.openedBy(async (id) => standingIn(await open.stateOf(id)));
  const stores = { apiKeys: apiKeys(models, options), audit: auditLog(models), usage: keyUsage(models) };
  return {
    ...stores,
    organisations: open,
    erasing: erasing(models, options.actor),
    /** Stores keys of an export. */
    importKeys: importKeys(models, options.actor),
    /** Writes an audit event of a change to an organisation's data. */
    record: (action: AuditAction, organisationId: string, details: Record<string, unknown>) =>
      models.change((_session, record) => record(options.actor, action, organisationId, details)),
    sessions: sessions(models),
    pepper: pepperGuard(databases.control, models, options.config.KEY_PEPPER),
    /** The key operations of a signed-in user, acting from a network address. */
    integrations: (session: Session, from: string) => integrationsOf(session, from, stores),
  };
}
