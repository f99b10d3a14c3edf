import type { Config } from '../config';
import type { Databases } from '../tenant/databases';
import { ShardRefused } from '../mongo/shards';
import { apiKeys, type ApiKeysOptions } from './apiKeys';
import { auditLog } from './audit';
import type { Actor } from './auditEvents';
import type { Unbounded } from './auditRecorder';
import { creationsOf } from './creations';
import { erasing } from './erasing';
import { feeds } from './feeds';
import { organisations, type Place } from './organisations';
import { jobs } from './jobs';
import { importKeys } from './keyRecords';
import { keyUsage } from './keyUsage';
import { adoptSchema, recordAdded } from './controlSchema';
import { sessions } from './sessions';
import { controlCollections, controlModels } from './models';
import { moving } from './moving';
import { pepperGuard } from './pepper';
import { requestLog } from './requestLog';
import { sandboxes } from './sandboxes';
import { webhookEndpointsOf } from './webhookEndpoints';
import { webhookLeases } from './webhookLeases';

export type Control = Awaited<ReturnType<typeof openControl>>;

export interface ControlOptions extends Pick<ApiKeysOptions, 'actor' | 'onError'> {
  readonly config: Pick<Config, 'KEY_PREFIX' | 'KEY_PREFIX_TEST' | 'KEY_PEPPER' | 'KEY_PEPPER_PREVIOUS' | 'MAX_KEYS'>;
  readonly databases: Databases;
}

/**
 * Opens the control database, and creates its indexes if its schema version is older. `onError` is called when a background write, such as a
 * key's last use, fails. @throws NewerSchemaError
 */
export async function openControl({ databases, config, ...options }: ControlOptions) {
  const { now } = databases;
  const models = controlModels(databases);
  const added = await adoptSchema(databases.control, controlCollections);
  const place: Place = async (id, shard) => {
    if (databases.shards) await databases.shards.place(id, shard, databases.isShardDown);
    else if (shard !== undefined) throw new ShardRefused('the database is a replica set, without shards');
  };
  /** The stores that change organisations, on behalf of an actor. */
  const ofActor = (actor: Actor) => ({
    organisations: organisations(models, actor, place, now),
    erasing: erasing(models, actor, now),
    moving: moving(models, actor, now),
    record: (action: Unbounded, organisationId: string, details: Record<string, unknown>): Promise<void> =>
      models.record(actor, action, organisationId, details),
  });
  const store = ofActor(options.actor);
  databases.openedBy(store.organisations);
  const pepper = pepperGuard(databases.control, models, config, now);
  return {
    ...store,
    apiKeys: apiKeys(models, { ...options, config, now, pepperNumber: pepper.number }),
    audit: auditLog(models),
    usage: keyUsage(models),
    requests: requestLog(models),
    sessions: sessions(models, now),
    /** The stores that change organisations, for another actor. */
    as: ofActor,
    sandboxes: sandboxes(models, place),
    jobs: jobs(models, {
      now,
      beginErasure: (actor, ...begun) => erasing(models, actor, now).beginIn(...begun),
    }),
    feeds: feeds(models),
    importKeys: importKeys(models, options.actor),
    creations: creationsOf(models, now),
    webhooks: webhookEndpointsOf(models, now),
    webhookLeases: webhookLeases(models, now),
    pepper,
    /** What the folders of gateways add to the schema, as recorded when this was opened. */
    added,
    recordAdded: (names: readonly string[], only = false): Promise<void> => recordAdded(databases.control, names, only),
  };
}
