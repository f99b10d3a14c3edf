import { randomUUID } from 'node:crypto';
import type { Connection } from 'mongoose';
import type { Organisation } from '../access/principal';
import type { Plan } from '../access/plans';
import type { ControlModels, OrganisationDocument } from './models';

export interface NewOrganisation {
  readonly name: string;
  readonly plan: Plan;
  readonly currency: string;
  /** Where its database is placed; the cluster with the fewest organisations when left out. */
  readonly cluster?: string | undefined;
  readonly demo?: boolean;
}

export interface Organisations {
  /** Makes an organisation, and its database with every index. */
  create(input: NewOrganisation): Promise<Organisation>;
  find(id: string): Promise<Organisation | undefined>;
  findDemo(): Promise<Organisation | undefined>;
  list(): Promise<Organisation[]>;
  /** Changes the plan, on the organisation and on each of its keys at once. Undefined when there is no such organisation. */
  setPlan(id: string, plan: Plan): Promise<Organisation | undefined>;
}

export interface OrganisationsOptions {
  readonly control: Connection;
  readonly models: ControlModels;
  readonly clusters: readonly string[];
  /** Makes an organisation's collections and indexes. */
  readonly prepare: (organisation: Organisation) => Promise<unknown>;
}

export function organisations({ control, models, clusters, prepare }: OrganisationsOptions): Organisations {
  return {
    async create(input) {
      const cluster = input.cluster ?? (await emptiest(models, clusters));
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
      // the indexes come first: an organisation that is listed is whole
      await prepare(organisation);
      await models.organisations.create([document]);
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
    async setPlan(id, plan) {
      return control.getClient().withSession((session) =>
        session.withTransaction(async () => {
          const changed = await models.organisations
            .findOneAndUpdate({ _id: id }, { $set: { plan } }, { session, returnDocument: 'after' })
            .lean();
          if (!changed) return undefined;
          await models.apiKeys.updateMany(
            { 'organisation.id': id },
            { $set: { 'organisation.plan': plan } },
            { session },
          );
          return toOrganisation(changed);
        }),
      );
    },
  };
}

export function toOrganisation(document: OrganisationDocument): Organisation {
  const { _id: id, name, plan, currency, cluster } = document;
  return { id, name, plan, currency, cluster };
}

async function emptiest(models: ControlModels, clusters: readonly string[]): Promise<string> {
  const counts = await Promise.all(clusters.map((cluster) => models.organisations.countDocuments({ cluster })));
  const fewest = Math.min(...counts);
  return clusters[counts.indexOf(fewest)] ?? 'default';
}
