import { randomUUID } from 'node:crypto';
import type { Organisation } from '../access/principal';
import type { Plan } from '../access/plans';
import type { Actor } from './auditEvents';
import type { ControlModels, OrganisationDocument } from './models';

export interface NewOrganisation {
  readonly name: string;
  readonly plan: Plan;
  readonly currency: string;
  /** The cluster for its database; by default the one with the fewest organisations. */
  readonly cluster?: string | undefined;
  readonly demo?: boolean;
}

export interface OrganisationsOptions {
  readonly models: ControlModels;
  /** The actor in audit events. */
  readonly actor: Actor;
  readonly clusters: readonly string[];
  /** Creates an organisation's collections and indexes. */
  readonly prepare: (organisation: Organisation) => Promise<unknown>;
}

export function organisations({ models, actor, clusters, prepare }: OrganisationsOptions) {
  return {
    /** Creates an organisation, and its database with all indexes. */
    async create(input: NewOrganisation): Promise<Organisation> {
      const cluster = input.cluster ?? (await leastUsedCluster(models, clusters));
      const { name, plan, currency, demo } = input;
      const organisation = { id: randomUUID(), name, plan, currency, cluster };
      // the indexes come first, so that a listed organisation is complete
      await prepare(organisation);
      await models.change(async (session, record) => {
        const { id, ...stored } = organisation;
        const document = { _id: id, ...stored, ...(demo && { demo }), created_at: new Date() };
        await models.organisations.create([document], { session });
        await record(actor, 'organisation.created', id, stored);
      });
      return organisation;
    },
    async find(id: string): Promise<Organisation | undefined> {
      const found = await models.organisations.findById(id).lean();
      return found ? toOrganisation(found) : undefined;
    },
    async findDemo(): Promise<Organisation | undefined> {
      const found = await models.organisations.findOne({ demo: true }).sort({ created_at: 1 }).lean();
      return found ? toOrganisation(found) : undefined;
    },
    async list(): Promise<Organisation[]> {
      return (await models.organisations.find().sort({ created_at: 1, _id: 1 }).lean()).map(toOrganisation);
    },
    /** Changes the plan of the organisation and all its keys at once. Undefined if the organisation does not exist. */
    setPlan: (id: string, plan: Plan): Promise<Organisation | undefined> =>
      models.change(async (session, record) => {
        const before = await models.organisations
          .findOneAndUpdate({ _id: id }, { $set: { plan } }, { session, returnDocument: 'before' })
          .lean();
        if (!before) return undefined;
        const ofAllKeys = { 'organisation.plan': plan };
        await models.apiKeys.updateMany({ 'organisation.id': id }, { $set: ofAllKeys }, { session });
        await record(actor, 'organisation.plan_changed', id, { from: before.plan, to: plan });
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
