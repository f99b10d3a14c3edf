import { randomUUID } from 'node:crypto';
import { trusted } from 'mongoose';
import type { Organisation } from '../access/principal';
import type { Plan } from '../access/plans';
import type { Place } from '../database/keeper';
import type { Actor } from './auditEvents';
import type { ControlModels, OrganisationDocument } from './models';

export interface NewOrganisation {
  readonly name: string;
  readonly plan: Plan;
  readonly currency: string;
  /** The cluster for its database; by default the one with the most room. */
  readonly cluster?: string | undefined;
  readonly demo?: boolean;
}

export interface OrganisationsOptions {
  readonly models: ControlModels;
  /** The actor in audit events. */
  readonly actor: Actor;
  /** Chooses the cluster of a new organisation. @throws if it is full or does not respond */
  readonly place: (cluster: string | undefined) => Promise<string>;
}

/** Organisations to look up in one command. */
const BATCH = 1000;

export function organisations({ models, actor, place }: OrganisationsOptions) {
  return {
    /** Creates an organisation. Its database comes with its first write. @throws FullClusterError */
    async create(input: NewOrganisation): Promise<Organisation> {
      const cluster = await place(input.cluster);
      const { name, plan, currency, demo } = input;
      const organisation = { id: randomUUID(), name, plan, currency, cluster };
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
    /** Whether an organisation is on a cluster, so that its collections may be made there. */
    isThere: async ({ id, cluster }: Place): Promise<boolean> =>
      (await models.organisations.exists({ _id: id, cluster })) !== null,
    /** How many there are, for a progress bar. */
    count: (): Promise<number> => models.organisations.countDocuments().exec(),
    /** All of them, oldest first, without holding them all. */
    async *each(): AsyncGenerator<Organisation> {
      for await (const one of models.organisations
        .find()
        .sort({ created_at: 1, _id: 1 })
        .lean()
        .cursor({ batchSize: BATCH }))
        yield toOrganisation(one);
    },
    /** The clusters of those that exist, by id. */
    async clustersOf(ids: readonly string[]): Promise<Map<string, string>> {
      const found = new Map<string, string>();
      for (let at = 0; at < ids.length; at += BATCH) {
        const some = trusted({ $in: ids.slice(at, at + BATCH) });
        for (const { _id, cluster } of await models.organisations.find({ _id: some }, { cluster: 1 }).lean())
          found.set(_id, cluster);
      }
      return found;
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
