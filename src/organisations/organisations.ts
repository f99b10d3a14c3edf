import { randomUUID } from 'node:crypto';
import type { ClientSession, Connection } from 'mongoose';
import type { Organisation } from '../access/principal';
import type { Plan } from '../access/plans';
import { recordEvent } from './audit';
import type { Actor, AuditAction } from './auditEvents';
import type { ControlModels, OrganisationDocument } from './models';

export interface NewOrganisation {
  readonly name: string;
  readonly plan: Plan;
  readonly currency: string;
  /** The cluster for its database; by default the one with the fewest organisations. */
  readonly cluster?: string | undefined;
  readonly demo?: boolean;
}

export interface Organisations {
  /** Creates an organisation, and its database with all indexes. */
  create(input: NewOrganisation): Promise<Organisation>;
  find(id: string): Promise<Organisation | undefined>;
  findDemo(): Promise<Organisation | undefined>;
  list(): Promise<Organisation[]>;
  /** Changes the plan of the organisation and all its keys at once. Undefined if the organisation does not exist. */
  setPlan(id: string, plan: Plan): Promise<Organisation | undefined>;
}

export interface OrganisationsOptions {
  readonly control: Connection;
  readonly models: ControlModels;
  /** The actor in audit events. */
  readonly actor: Actor;
  readonly clusters: readonly string[];
  /** Creates an organisation's collections and indexes. */
  readonly prepare: (organisation: Organisation) => Promise<unknown>;
}

export function organisations({ control, models, actor, clusters, prepare }: OrganisationsOptions): Organisations {
  function transaction<T>(work: (session: ClientSession) => Promise<T>): Promise<T> {
    return control.getClient().withSession((session) => session.withTransaction(() => work(session)));
  }

  function record(
    action: AuditAction,
    organisationId: string,
    details: Record<string, unknown>,
    session: ClientSession,
  ): Promise<void> {
    return recordEvent(models, actor, { action, organisation_id: organisationId, key_id: null, details }, session);
  }

  return {
    async create(input) {
      const cluster = input.cluster ?? (await leastUsedCluster(models, clusters));
      const document: OrganisationDocument = {
        _id: randomUUID(),
        name: input.name,
        plan: input.plan,
        currency: input.currency,
        cluster,
        ...(input.demo && { demo: true }),
        created_at: new Date(),
      };
      const organisation = toOrganisation(document);
      // the indexes come first, so that a listed organisation is complete
      await prepare(organisation);
      const { name, plan, currency } = organisation;
      await transaction(async (session) => {
        await models.organisations.create([document], { session });
        await record('organisation.created', organisation.id, { name, plan, currency, cluster }, session);
      });
      return organisation;
    },
    async find(id) {
      const found = await models.organisations.findById(id).lean();
      return found ? toOrganisation(found) : undefined;
    },
    async findDemo() {
      const found = await models.organisations.findOne({ demo: true }).sort({ created_at: 1 }).lean();
      return found ? toOrganisation(found) : undefined;
    },
    async list() {
      return (await models.organisations.find().sort({ created_at: 1, _id: 1 }).lean()).map(toOrganisation);
    },
    setPlan: (id, plan) =>
      transaction(async (session) => {
        const before = await models.organisations
          .findOneAndUpdate({ _id: id }, { $set: { plan } }, { session, returnDocument: 'before' })
          .lean();
        if (!before) return undefined;
        await models.apiKeys.updateMany(
          { 'organisation.id': id },
          { $set: { 'organisation.plan': plan } },
          { session },
        );
        await record('organisation.plan_changed', id, { from: before.plan, to: plan }, session);
        return toOrganisation({ ...before, plan });
      }),
  };
}

export function toOrganisation(document: OrganisationDocument): Organisation {
  const { _id: id, name, plan, currency, cluster } = document;
  return { id, name, plan, currency, cluster };
}

async function leastUsedCluster(models: ControlModels, clusters: readonly string[]): Promise<string> {
  const counts = await Promise.all(clusters.map((cluster) => models.organisations.countDocuments({ cluster })));
  const fewest = Math.min(...counts);
  return clusters[counts.indexOf(fewest)] ?? 'default';
}
