import type { Organisation } from '../auth/principal';
import type { Config } from '../config';
import type { Databases } from '../database/connect';
import { apiKeys, type ApiKeysOptions } from './apiKeys';
import { auditLog } from './audit';
import type { Actor, AuditAction } from './auditEvents';
import { erasing } from './erasing';
import { feeds } from './feeds';
import { organisations } from './organisations';
import { jobs } from './jobs';
import { importKeys } from './keyRecords';
import { integrationsOf } from './integrations';
import { type Attempt, keyAnswers } from './keyAnswers';
import { keyUsage } from './keyUsage';
import { adoptSchema } from './controlSchema';
import { type Session, sessions, userActor } from './sessions';
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
 * Opens the control database, and creates its indexes if its schema version is older. `onError` is called when a background write, such as a
 * key's last use, fails. @throws NewerSchemaError
 */
export async function openControl({ databases, config, ...options }: ControlOptions) {
  const { now } = databases;
  const models = controlModels(databases);
  await adoptSchema(databases.control, controlCollections);
  const { CLUSTER_FILES } = config;
  const capacityOf = (cluster: string): number => CLUSTER_FILES.of[cluster] ?? CLUSTER_FILES.each;
  const places = placement(models, databases, capacityOf);
  const place = async (cluster: string | undefined): Promise<string> => {
    const chosen = await places.choose(cluster);
    await databases.reach(chosen);
    return chosen;
  };
  const answers = keyAnswers(models, now);
  /** The stores that change organisations, on behalf of an actor. */
  const ofActor = (actor: Actor) => ({
    organisations: organisations(models, actor, place, answers, now),
    erasing: erasing(models, actor, now),
    moving: moving(models, actor, now),
  });
  const store = ofActor(options.actor);
  databases.openedBy(store.organisations);
  const pepper = pepperGuard(databases.control, models, config, now);
  const keys = apiKeys(models, { ...options, config, now, answers, pepperNumber: pepper.number });
  const stores = {
    ...{ apiKeys: keys, audit: auditLog(models), usage: keyUsage(models), requests: requestLog(models) },
    sessions: sessions(models, now, answers),
  };
  return {
    ...stores,
    ...store,
    /** The stores that change organisations, for another actor. */
    as: ofActor,
    sandboxes: sandboxes(models, place),
    jobs: jobs(models, {
      now,
      beginErasure: (actor, ...begun) => erasing(models, actor, now).beginIn(...begun),
      requireRoom: (cluster, files) => places.choose(cluster, files),
    }),
    feeds: feeds(models),
    importKeys: importKeys(models, options.actor),
    record: (action: AuditAction, organisationId: string, details: Record<string, unknown>) =>
      models.change((_session, record) => record(options.actor, action, organisationId, details)),
    placement: places,
    webhooks: webhookEndpointsOf(models, now, answers),
    webhookLeases: webhookLeases(models, now),
    pepper,
    /** The operations of a signed-in user who acts from a network address; `attempt` has the request's Idempotency-Key. */
    integrations: ({ organisation, home, user }: Session, from: string, attempt?: Attempt) =>
      integrationsOf({ organisation, home, name: user.name, actor: userActor(user, from) }, stores, attempt),
    integrationsOf: (organisation: Organisation, actor: Actor, attempt?: Attempt) =>
      integrationsOf({ organisation, home: organisation.id, name: actor.who, actor }, stores, attempt),
  };
}
