import { createPlans, type PlanVariables } from '../auth/plans';
import type { Config } from '../config';
import type { Databases } from '../tenant/databases';
import { ShardRefused } from '../mongo/shards';
import { createApiKeys, type ApiKeysOptions } from './apiKeys';
import { createAppClients } from './appClients';
import { createAuditLog } from './audit';
import type { Actor } from './auditEvents';
import type { UnbudgetedAction } from './auditRecorder';
import { createConnectedApps } from './connectedApps';
import { createCreations } from './creations';
import { createErasures } from './erasing';
import { createFeeds } from './feeds';
import { createOrganisations, type Place } from './organisations';
import { createInvitations } from './invitations';
import { createJobs } from './jobs';
import { importKeys } from './keyRecords';
import { createKeyUsage } from './keyUsage';
import { openSchema, readSchema, recordAdded } from './controlSchema';
import { createMembers } from './members';
import { createSessions } from './sessions';
import { controlCollections, createControlModels } from './models';
import { createMoves } from './moving';
import { createPepperGuard } from './pepper';
import { createRequestLog } from './requestLog';
import { createSandboxes } from './sandboxes';
import { createWebhookEndpoints } from './webhookEndpoints';
import { createWebhookLeases } from './webhookLeases';
import { importEndpoints } from './webhookRecords';

export type Control = Awaited<ReturnType<typeof openControl>>;

export interface ControlOptions extends Pick<ApiKeysOptions, 'actor' | 'onError'> {
  readonly config: ApiKeysOptions['config'] & PlanVariables & Pick<Config, 'OIDC_ISSUER'>;
  readonly databases: Databases;
  /** Whether opening changes nothing, and leaves out indexes that the database lacks; no by default. */
  readonly asIs?: boolean;
}

/**
 * Opens the control database, and adds the indexes of this version if an earlier one made it. `onError` is called when a background write, such as a
 * key's last use, fails. @throws NewerSchemaError; OlderSchemaError; OtherClusterError
 */
export async function openControl({ databases, config, asIs = false, ...options }: ControlOptions) {
  const { now } = databases;
  const models = createControlModels(databases);
  const { control } = databases;
  const { added = [] } = (asIs ? await readSchema(control) : await openSchema(control, controlCollections)) ?? {};
  const place: Place = async (id, shard) => {
    if (databases.shards) await databases.shards.place(id, shard, databases.isShardDown);
    else if (shard !== undefined) throw new ShardRefused('the database is a replica set, without shards');
  };
  /** The stores that change organisations, on behalf of an actor. */
  const storesFor = (actor: Actor) => ({
    organisations: createOrganisations(models, actor, place, now),
    erasing: createErasures(models, actor, now),
    moving: createMoves(models, actor, now),
    record: (action: UnbudgetedAction, organisationId: string, details: Record<string, unknown>): Promise<void> =>
      models.record(actor, action, organisationId, details),
  });
  const store = storesFor(options.actor);
  // these say from now on whether an organisation's database may be written
  databases.openedBy(store.organisations);
  const plans = createPlans(config);
  const pepper = createPepperGuard(databases.control, models, config, now);
  const keyOptions = { config, now, pepperNumber: pepper.number };
  const apiKeys = createApiKeys(models, { ...options, ...keyOptions, plans });
  const clients = createAppClients(models, now);
  return {
    ...store,
    now,
    plans,
    apiKeys,
    /** Registered apps, and the keys of those that are connected. */
    apps: { ...createConnectedApps(models, { ...keyOptions, apiKeys, clients }), clients },
    audit: createAuditLog(models),
    usage: createKeyUsage(models, now),
    requests: createRequestLog(models, now),
    sessions: createSessions(models, now, config.OIDC_ISSUER !== undefined),
    invitations: createInvitations(models, now),
    members: createMembers(models, now),
    /** Those of the stores above that change organisations, for another actor. */
    as: storesFor,
    sandboxes: createSandboxes(models, place, now),
    jobs: createJobs(models, {
      now,
      beginErasure: (actor, ...begun) => createErasures(models, actor, now).beginIn(...begun),
    }),
    feeds: createFeeds(models),
    importKeys: importKeys(models, options.actor),
    importEndpoints: importEndpoints(models, options.actor, plans, now),
    creations: createCreations(models, now),
    webhooks: createWebhookEndpoints(models, plans, now),
    webhookLeases: createWebhookLeases(models, now),
    pepper,
    /** What the SCHEMA_DIR of gateways adds to the schema, as recorded when this was opened. */
    added,
    recordAdded: (names: readonly string[], only = false): Promise<void> => recordAdded(databases.control, names, only),
  };
}
