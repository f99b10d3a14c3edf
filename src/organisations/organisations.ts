import { randomUUID } from 'node:crypto';
import { type ClientSession, trusted } from 'mongoose';
import type { Organisation } from '../auth/principal';
import type { Plan } from '../auth/plans';
import { type OrganisationState, STATES } from '../auth/states';
import type { Place, Standing } from '../database/keeper';
import { nativeCollection } from '../database/native';
import type { Actor, AuditAction } from './auditEvents';
import type { ControlModels, OrganisationDocument } from './models';

export interface NewOrganisation {
  readonly name: string;
  readonly plan: Plan;
  readonly currency: string;
  /** The cluster for its database; by default the one with the most room. */
  readonly cluster?: string | undefined;
  readonly demo?: boolean;
}

export interface OrganisationQuery {
  readonly cluster?: string | undefined;
  readonly plan?: Plan | undefined;
}

const BATCH = 1000;

/** A state in which an organisation is its operator's to change. */
export const CHANGEABLE = trusted<{ $ne: OrganisationState }>({ $ne: 'erasing' });

/** What a sandbox shares with the organisation that it belongs to. */
type Shared = Pick<Organisation, 'plan' | 'state'>;

/** A sandbox cannot be changed in what it shares with the organisation that it belongs to. */
export class SharedByOwnerError extends Error {
  override readonly name = 'SharedByOwnerError';

  constructor({ id, sandbox_of = '' }: Organisation) {
    super(`${id} is the sandbox of ${sandbox_of}, and has its plan and state: change those of ${sandbox_of}`);
  }
}

/** `place` chooses the cluster of a new organisation. @throws if it is full or does not respond */
export function organisations(
  models: ControlModels,
  actor: Actor,
  place: (cluster: string | undefined) => Promise<string>,
) {
  const rows = nativeCollection(models.organisations);

  /**
   * Changes an organisation and the copies that its keys have, at once, and its sandbox's plan and state with it. Undefined if there is
   * none that can be changed. @throws SharedByOwnerError
   */
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
      const { plan, state } = changed;
      const isShared = plan !== before.plan || state !== before.state;
      if (before.sandbox_of !== undefined && isShared) throw new SharedByOwnerError(before);
      await models.apiKeys.updateMany({ 'organisation.id': id }, { $set: inKeys(set) }, { session });
      if (isShared) await share(id, { plan, state }, session);
      await record(actor, action, id, detailsOf(before));
      return changed;
    });
  }

  /** Gives the sandbox of an organisation what both have. */
  async function share(of: string, set: Shared, session: ClientSession): Promise<void> {
    const sandbox = await models.organisations
      .findOneAndUpdate({ sandbox_of: of, state: CHANGEABLE }, { $set: set }, { session })
      .lean();
    if (!sandbox) return;
    await models.apiKeys.updateMany({ 'organisation.id': sandbox._id }, { $set: inKeys(set) }, { session });
  }

  return {
    /** Creates an organisation. Its database comes with its first write. @throws FullClusterError */
    async create(input: NewOrganisation): Promise<Organisation> {
      const cluster = await place(input.cluster);
      const { name, plan, currency, demo } = input;
      const organisation: Organisation = { id: randomUUID(), name, plan, currency, cluster, state: 'active' };
      await models.change(async (session, record) => {
        const { id, ...stored } = organisation;
        const document = { _id: id, ...stored, ...(demo && { demo }), created_at: new Date() };
        await models.organisations.create([document], { session });
        const { state: _state, ...details } = stored;
        await record(actor, 'organisation.created', id, details);
      });
      return organisation;
    },
    async find(id: string): Promise<Organisation | undefined> {
      const found = await rows.findOne({ _id: id });
      return found ? toOrganisation(found) : undefined;
    },
    async findMoving(id: string): Promise<{ organisation: Organisation; isMoving: boolean } | undefined> {
      const found = await rows.findOne({ _id: id }, { readPreference: 'primary' });
      return found ? { organisation: toOrganisation(found), isMoving: Boolean(found.move) } : undefined;
    },
    async findDemo(): Promise<Organisation | undefined> {
      const found = await models.organisations
        .findOne({ demo: true, state: CHANGEABLE })
        .sort({ created_at: 1 })
        .lean();
      return found ? toOrganisation(found) : undefined;
    },
    /** Whether an organisation's database may be written on a cluster, from the primary. */
    standingOf: async ({ id, cluster }: Place): Promise<Standing> => {
      const projection = { cluster: 1, state: 1, 'move.to': 1 } as const;
      const found = await rows.findOne({ _id: id }, { projection, readPreference: 'primary' });
      const standing = found ? standingOf(found) : 'gone';
      return standing === 'open' && found?.cluster !== cluster ? 'moving' : standing;
    },
    count: (): Promise<number> => models.organisations.countDocuments().exec(),
    /** Organisations, oldest first, without holding them all. */
    async *each({ cluster, plan }: OrganisationQuery = {}): AsyncGenerator<Organisation> {
      const filter = { ...(cluster !== undefined && { cluster }), ...(plan && { plan }) };
      const found = models.organisations.find(filter).sort({ created_at: 1, _id: 1 }).lean();
      for await (const row of found.cursor({ batchSize: BATCH })) yield toOrganisation(row);
    },
    /** The clusters of those that exist, by id. */
    async clustersOf(ids: readonly string[]): Promise<Map<string, string>> {
      const found = await models.organisations.find({ _id: trusted({ $in: ids }) }, { cluster: 1 }).lean();
      return new Map(found.map(({ _id, cluster }) => [_id, cluster]));
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

/** What changes of an organisation, in the copies that its keys have. */
const inKeys = (set: object): object =>
  Object.fromEntries(Object.entries(set).map(([member, value]) => [`organisation.${member}`, value as unknown]));

function standingOf({ state, move }: Pick<OrganisationDocument, 'state' | 'move'>): Feed['standing'] {
  if (!STATES[state ?? 'active'].data) return 'closed';
  return move ? 'moving' : 'open';
}

export function toOrganisation(document: OrganisationDocument): Organisation {
  const { _id: id, name, plan, currency, cluster, state = 'active', sandbox_of } = document;
  return { id, name, plan, currency, cluster, state, ...(sandbox_of !== undefined && { sandbox_of }) };
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

/* What the control database has of an organisation's events (docs/decisions/events.md). */

export interface Feed {
  readonly cluster: string;
  /** Whether its database can be written: it is moving to another cluster, or being erased. */
  readonly standing: 'open' | 'moving' | 'closed';
  /** Raised by a move to another cluster. */
  readonly epoch: number;
  /** Up to this time of its cluster, as 16 hexadecimal digits, changes are the copy of a move. */
  readonly since: string;
  /** From when on history was lost, if its events do not say so yet. */
  readonly owed: Date | undefined;
}

const MEMBERS = { cluster: 1, state: 1, move: 1, feed: 1 } as const;

export type Feeds = ReturnType<typeof feeds>;

export function feeds({ organisations }: Pick<ControlModels, 'organisations'>) {
  return {
    /** From the primary; those that do not exist are missing. */
    async of(ids: readonly string[]): Promise<Map<string, Feed>> {
      const options = { projection: MEMBERS, readPreference: 'primary' } as const;
      const found = await nativeCollection(organisations)
        .find({ _id: { $in: [...ids] } }, options)
        .toArray();
      return new Map(
        found.map(({ _id, cluster, feed: { epoch = 0, since = '', owed } = {}, ...row }): [string, Feed] => [
          _id,
          { cluster, standing: standingOf(row), epoch, since, owed },
        ]),
      );
    },
    /** Notes that history was lost from a time on; an earlier one stays. */
    async oweGap(id: string, from: Date): Promise<void> {
      await organisations.updateOne({ _id: id }, { $min: { 'feed.owed': from } });
    },
    /** Notes that the loss has been told. */
    async settleGap(id: string, from: Date): Promise<void> {
      await organisations.updateOne({ _id: id, 'feed.owed': from }, { $unset: { 'feed.owed': 1 } });
    },
  };
}

/*
 * Gateways hold what they record of requests for some seconds, so it may come when its organisation is erased. What is written is
 * looked at once before, and once after, since the organisation may be erased in between (docs/decisions/organisation-life.md).
 */

/** Which of these organisations are there, and are not being erased. */
export async function presentOrganisations(
  { organisations }: Pick<ControlModels, 'organisations'>,
  ids: Iterable<string>,
): Promise<Set<string>> {
  const found = await organisations.find({ _id: trusted({ $in: [...ids] }), state: CHANGEABLE }, { _id: 1 }).lean();
  return new Set(found.map(({ _id }) => _id));
}
