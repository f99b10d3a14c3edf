import type { Config } from '../config';
import type { Databases } from '../database/connect';
import { apiKeys, type ApiKeysOptions } from './apiKeys';
import { auditLog } from './audit';
import type { AuditAction } from './auditEvents';
import { erasing } from './erasing';
import { feeds, organisations } from './organisations';
import { importKeys } from './keyRecords';
import { integrationsOf } from './integrations';
import type { Attempt } from './keyAnswers';
import { keyUsage } from './keyUsage';
import { adoptSchema } from './controlSchema';
import { type Session, sessions } from './sessions';
import { controlCollections, controlModels } from './models';
import { moving } from './moving';
import { pepperGuard } from './pepper';
import { placement } from './placement';
import { requestLog } from './requestLog';
import { sandboxes } from './sandboxes';
import { webhookEndpointsOf } from './webhookEndpoints';
import { webhookLeases } from './webhookLeases';

export type Control = Awaited<ReturnType<typeof openControl>>;

export interface ControlOptions extends Pick<ApiKeysOptions, 'actor' | 'onError'> {
  readonly config: Pick<
    Config,
    'KEY_PREFIX' | 'KEY_PREFIX_TEST' | 'KEY_PEPPER' | 'KEY_PEPPER_PREVIOUS' | 'MAX_KEYS' | 'CLUSTER_FILES'
  >;
  readonly databases: Databases;
}

/**
 * Opens the control data, and makes its indexes if its schema is older. `onError` is called when a background write fails (the
 * last use of a key). @throws NewerSchemaError
 */
export async function openControl({ databases, config, ...options }: ControlOptions) {
  const { now } = databases;
  const models = controlModels(databases);
  await adoptSchema(databases.control, controlCollections);
  const { CLUSTER_FILES } = config;
  const capacityOf = (cluster: string): number => CLUSTER_FILES.of[cluster] ?? CLUSTER_FILES.each;
  const places = placement(models, databases.clusters, capacityOf, databases.filesOfOrganisation);
  const place = async (cluster: string | undefined): Promise<string> => {
    const chosen = await places.choose(cluster);
    await databases.reach(chosen);
    return chosen;
  };
  const store = organisations(models, options.actor, place);
  databases.openedBy(store.standingOf);
  const pepper = pepperGuard(databases.control, models, config, now);
  const keys = apiKeys(models, { ...options, config, now, pepperNumber: pepper.number });
  const stores = {
    ...{ apiKeys: keys, audit: auditLog(models), usage: keyUsage(models), requests: requestLog(models) },
    sessions: sessions(models, now),
  };
  return {
    ...stores,
    organisations: store,
    sandboxes: sandboxes(models, place),
    erasing: erasing(models, options.actor, now),
    feeds: feeds(models),
    moving: moving(models, options.actor, now),
    /** Stores keys of an export. */
    importKeys: importKeys(models, options.actor),
    record: (action: AuditAction, organisationId: string, details: Record<string, unknown>) =>
      models.change((_session, record) => record(options.actor, action, organisationId, details)),
    placement: places,
    webhooks: webhookEndpointsOf(models, now),
    webhookLeases: webhookLeases(models, now),
    pepper,
    /** The key operations of a signed-in user, acting from a network address, with the Idempotency-Key of the request. */
    integrations: (session: Session, from: string, attempt?: Attempt) => integrationsOf(session, from, stores, attempt),
  };
}
