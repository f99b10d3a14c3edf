import { randomUUID } from 'node:crypto';
import { type ClientSession, trusted } from 'mongoose';
import type { Organisation } from '../access/principal';
import type { Plan } from '../access/plans';
import { type OrganisationState, STATES } from '../access/states';
import type { Standing } from '../database/organisationData';
import { MINUTE } from '../units';
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

/** Which organisations to list; all if nothing is given. */
export interface OrganisationQuery {
  readonly cluster?: string | undefined;
  readonly plan?: Plan | undefined;
}

export interface OrganisationsOptions {
  readonly models: ControlModels;
  /** The actor in audit events. */
  readonly actor: Actor;
  readonly clusters: readonly string[];
  /** Creates an organisation's collections and indexes. */
  readonly prepare: (organisation: Organisation) => Promise<unknown>;
  /** Drops an organisation's database. */
  readonly drop: (organisation: Pick<Organisation, 'id' | 'cluster'>) => Promise<unknown>;
}

/** After this time (ms) an organisation that is still being created was abandoned; creating one takes seconds. */
const ABANDONED_AFTER = 2 * MINUTE;
/** Abandoned organisations that one command removes, so that none takes long. */
const REMOVED_AT_ONCE = 10;
/** Rows per reply of the database, while organisations are listed. */
const LISTED_AT_ONCE = 200;

/** A state in which an organisation is its operator's to change. */
const CHANGEABLE = trusted({ $nin: ['creating', 'erasing'] as OrganisationState[] });
const LISTED = { state: trusted<{ $ne: OrganisationState }>({ $ne: 'creating' }) };

export function organisations({ models, actor, clusters, prepare, drop }: OrganisationsOptions) {
  /** Changes an organisation and the copies that its keys have, at once. Undefined if there is none that can be changed. */
  function change(
    id: string,
    set: Partial<Pick<Organisation, 'name' | 'plan' | 'currency' | 'state'>>,
    action: AuditAction,
    detailsOf: (before: Organisation) => Record<string, unknown>,
  ): Promise<Organisation | undefined> {
    return models.change(async (session, record) => {
      const found = await models.organisations
        .findOneAndUpdate({ _id: id, state: CHANGEABLE }, { $set: set }, { session, returnDocument: 'before' })
        .lean();
      if (!found) return undefined;
      const before = toOrganisation(found);
      const changed = { ...before, ...set };
      const members = Object.keys(set) as (keyof typeof set)[];
      if (members.every((member) => before[member] === changed[member])) return before;
      const ofAllKeys = Object.fromEntries(members.map((member) => [`organisation.${member}`, set[member]]));
      await models.apiKeys.updateMany({ 'organisation.id': id }, { $set: ofAllKeys }, { session });
      await record(actor, action, id, detailsOf(before));
      return changed;
    });
  }

  /** Removes what was left by a creation that was killed. */
  async function removeAbandoned(): Promise<void> {
    const before = new Date(Date.now() - ABANDONED_AFTER);
    const rows = await models.organisations
      .find({ state: 'creating', created_at: trusted({ $lt: before }) })
      .limit(REMOVED_AT_ONCE)
      .lean();
    await Promise.allSettled(rows.map((row) => remove(toOrganisation(row))));
  }

  /** The row goes first, so that a creation that is only slow fails; the database again after it, if that made more. */
  async function remove(organisation: Organisation): Promise<void> {
    await drop(organisation);
    await models.organisations.deleteOne({ _id: organisation.id, state: 'creating' });
    await drop(organisation);
  }

  return {
    /** Creates an organisation, and its database with all indexes; removes those whose creation was killed. */
    async create(input: NewOrganisation): Promise<Organisation> {
      await removeAbandoned().catch(() => undefined);
      const cluster = input.cluster ?? (await leastUsedCluster(models, clusters));
      const { name, plan, currency, demo } = input;
      const organisation: Organisation = { id: randomUUID(), name, plan, currency, cluster, state: 'active' };
      const { id, ...stored } = organisation;
      const document = { _id: id, ...stored, ...(demo && { demo }), created_at: new Date() };
      // a row before anything else, so that the database of a killed creation is known
      await models.organisations.create([{ ...document, state: 'creating' }]);
      try {
        // the indexes come before it is listed, so that a listed organisation is complete
        await prepare(organisation);
        await models.change(async (session, record) => {
          const begun = { _id: id, state: 'creating' as const };
          const done = await models.organisations.updateOne(begun, { $set: { state: 'active' } }, { session });
          if (done.matchedCount === 0) throw new Error('creating the organisation took too long; nothing was kept');
          const { state: _state, ...details } = stored;
          await record(actor, 'organisation.created', id, details);
        });
      } catch (error) {
        await remove(organisation).catch(() => undefined);
        throw error;
      }
      return organisation;
    },
    async find(id: string): Promise<Organisation | undefined> {
      const found = await models.organisations.findOne({ _id: id, ...LISTED }).lean();
      return found ? toOrganisation(found) : undefined;
    },
    async findDemo(): Promise<Organisation | undefined> {
      const found = await models.organisations
        .findOne({ demo: true, state: CHANGEABLE })
        .sort({ created_at: 1 })
        .lean();
      return found ? toOrganisation(found) : undefined;
    },
    /** Organisations, oldest first, read as they are used. */
    async *each({ cluster, plan }: OrganisationQuery = {}): AsyncGenerator<Organisation> {
      const filter = { ...LISTED, ...(cluster !== undefined && { cluster }), ...(plan && { plan }) };
      const rows = models.organisations.find(filter).sort({ created_at: 1, _id: 1 }).lean();
      for await (const row of rows.cursor({ batchSize: LISTED_AT_ONCE })) yield toOrganisation(row);
    },
    /** All organisations that have data: those being erased are left out. */
    async list(): Promise<Organisation[]> {
      const found = await models.organisations.find({ state: CHANGEABLE }).sort({ created_at: 1, _id: 1 }).lean();
      return found.map(toOrganisation);
    },
    /** The state of an organisation; undefined if there is none. Read before its database may be created. */
    async stateOf(id: string): Promise<OrganisationState | undefined> {
      const found = await models.organisations.findById(id, { state: 1 }).lean();
      return found ? (found.state ?? 'active') : undefined;
    },
    rename: (id: string, name: string) =>
      change(id, { name }, 'organisation.renamed', (before) => ({ from: before.name, to: name })),
    setPlan: (id: string, plan: Plan) =>
      change(id, { plan }, 'organisation.plan_changed', (before) => ({ from: before.plan, to: plan })),
    /** From when this resolves, no new request of its keys and users is served, on any instance. */
    suspend: (id: string) => change(id, { state: 'suspended' }, 'organisation.suspended', () => ({})),
    resume: (id: string) => change(id, { state: 'active' }, 'organisation.resumed', () => ({})),
    /** Gives an organisation the name, plan and currency of an export. */
    restore: (id: string, set: Pick<Organisation, 'name' | 'plan' | 'currency'>) =>
      change(id, set, 'organisation.restored', ({ name, plan, currency }) => ({
        from: { name, plan, currency },
        to: set,
      })),
  };
}

export function toOrganisation(document: OrganisationDocument): Organisation {
  const { _id: id, name, plan, currency, cluster, state = 'active' } = document;
  return { id, name, plan, currency, cluster, state };
}

/**
 * Reads an organisation whose state allows it, so that a concurrent change of its plan or state cannot miss what is stored
 * for it in the same transaction: this writes to its row, which conflicts with that change.
 */
export async function holdOrganisation(
  { organisations }: Pick<ControlModels, 'organisations'>,
  id: string,
  session: ClientSession,
): Promise<Organisation | undefined> {
  const found = await organisations
    .findOneAndUpdate({ _id: id, state: CHANGEABLE }, { $inc: { holds: 1 } }, { session })
    .lean();
  return found ? toOrganisation(found) : undefined;
}

/** Whether the database of an organisation in this state may be written. */
export function standingIn(state: OrganisationState | undefined): Standing {
  if (state === undefined) return 'gone';
  return STATES[state].data ? 'open' : 'closed';
}

async function leastUsedCluster(models: ControlModels, clusters: readonly string[]): Promise<string> {
  const counts = await Promise.all(clusters.map((cluster) => models.organisations.countDocuments({ cluster })));
  const fewest = Math.min(...counts);
  return clusters[counts.indexOf(fewest)] ?? 'default';
}
