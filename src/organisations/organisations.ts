import { randomUUID } from 'node:crypto';
import { type ClientSession, trusted } from 'mongoose';
import type { Organisation, OrganisationState } from '../auth/principal';
import type { WriteState } from '../tenant/tenantContext';
import { isDuplicateKey } from '../mongo/faults';
import { nativeCollection } from '../mongo/native';
import { findPage, type ListArguments, type Page } from '../tenant/pagination';
import type { Actor, AuditAction } from './auditEvents';
import { changeInKeys } from './endedKeys';
import type { NoteId } from './creations';
import { escapeRegExp } from './keyDocuments';
import type { ControlModels } from './models';
import { NotImportedError, RefTakenError, SharedByOwnerError, StillErasingError } from './organisationErrors';
import {
  CHANGEABLE,
  FOR_EARLIER_VERSIONS,
  type OrganisationForOperators,
  type OrganisationDocument,
  forOperators,
  writeStateOf,
} from './organisationRows';
import { requireUnused, reusedMembers } from './reusedIds';

export interface NewOrganisation {
  /** That of an organisation that was erased, or of another installation; by default a new one. */
  readonly id?: string | undefined;
  readonly name: string;
  readonly plan: string;
  /** ISO 4217; by default {@link DEFAULT_CURRENCY}. */
  readonly currency?: string | undefined;
  /** The shard for its database; by default the one with the fewest organisations. */
  readonly shard?: string | undefined;
  readonly demo?: boolean;
  /** The operator's own id for it, unique. */
  readonly external_ref?: string | undefined;
}

export interface OrganisationPageQuery extends ListArguments {
  /** Part of the name, or the external_ref. */
  readonly q?: string | null;
  readonly plan?: string | null;
  readonly state?: OrganisationState | null;
  readonly external_ref?: string | null;
  readonly shard?: string | null;
  /** Only these: those on the shard. */
  readonly ids?: readonly string[] | undefined;
}

export interface OrganisationQuery {
  readonly ids?: readonly string[] | undefined;
  readonly plan?: string | undefined;
}

/** Creates the database of a new organisation on a shard, if there are shards. @throws ShardRefused */
export type Place = (id: string, shard: string | undefined) => Promise<void>;

const DEFAULT_CURRENCY = 'USD';

/** Organisations per database reply when all are listed. */
const BATCH = 1000;

/** What a sandbox shares with its organisation. */
type SharedWithSandbox = Pick<Organisation, 'plan' | 'state'>;

/** `now` is the database's time. */
export function createOrganisations(models: ControlModels, actor: Actor, place: Place, now: () => number) {
  const rows = nativeCollection(models.organisations);

  async function findByRef(external_ref: string): Promise<OrganisationForOperators | undefined> {
    const row = await rows.findOne({ external_ref }, { readPreference: 'primary' });
    return row ? forOperators(row) : undefined;
  }

  /** @throws RefTakenError */
  async function requireFreeRef(external_ref: string | undefined): Promise<void> {
    if (external_ref !== undefined && (await findByRef(external_ref))) throw refTaken();
  }

  /** The organisation with an external_ref, if any. @throws StillErasingError */
  async function findOpenByRef(external_ref: string | undefined): Promise<OrganisationForOperators | undefined> {
    const organisation = external_ref === undefined ? undefined : await findByRef(external_ref);
    if (organisation?.state === 'erasing')
      throw new StillErasingError(
        `organisation ${organisation.id} has this external_ref and is being erased; retry when it is gone`,
      );
    return organisation;
  }

  async function insert(input: NewOrganisation, noteId?: NoteId): Promise<OrganisationForOperators> {
    const { id, name, plan, currency = DEFAULT_CURRENCY, shard, demo, external_ref } = input;
    const members = { name, plan, currency, ...(external_ref !== undefined && { external_ref }) };
    const _id = id ?? randomUUID();
    const time = now();
    const document: OrganisationDocument = {
      _id,
      ...members,
      ...FOR_EARLIER_VERSIONS,
      state: 'active',
      created_at: new Date(time),
      ...(demo && { demo }),
      ...(id !== undefined && reusedMembers(time)),
    };
    await place(_id, shard);
    await models.change(async (session, record) => {
      await noteId?.(session, _id);
      await models.organisations.create([document], { session });
      await record(actor, 'organisation.created', _id, { ...members, ...(shard !== undefined && { shard }) });
    });
    return forOperators(document);
  }

  /**
   * Changes an organisation, the copies of it in its active keys, and its sandbox's plan and state, in one transaction. Resolves with it as it
   * is then; undefined if there is none or it is being erased. @throws SharedByOwnerError; RefTakenError; NotImportedError
   */
  function change(
    id: string,
    set: Partial<
      Pick<OrganisationForOperators, 'name' | 'plan' | 'currency' | 'state' | 'external_ref' | 'created_at'>
    >,
    eventsOf: (before: OrganisationForOperators) => readonly (readonly [AuditAction, Record<string, unknown>])[],
  ): Promise<OrganisationForOperators | undefined> {
    const change = models.change(async (session, record) => {
      const row = await models.organisations
        .findOneAndUpdate({ _id: id, state: CHANGEABLE }, { $set: set }, { session, returnDocument: 'before' })
        .lean();
      if (!row) return undefined;
      const before = forOperators(row);
      const { cluster = FOR_EARLIER_VERSIONS.cluster } = row;
      if (set.state === 'active' && cluster !== FOR_EARLIER_VERSIONS.cluster) throw new NotImportedError(id, cluster);
      const changed = { ...before, ...set };
      if (before.external_ref !== null && changed.external_ref !== before.external_ref) {
        const refText = JSON.stringify(before.external_ref);
        throw new RefTakenError(`the external_ref of the organisation is ${refText} and cannot be changed`);
      }
      const members = Object.keys(set) as (keyof typeof set)[];
      if (members.every((member) => before[member] === changed[member])) return before;
      const { plan, state } = changed;
      const isShared = plan !== before.plan || state !== before.state;
      if (before.sandbox_of !== undefined && isShared) throw new SharedByOwnerError(before);
      await changeInKeys(models, { organisationId: id, set: asKeyMembers(set), now: now() }, session);
      if (isShared) await changeSandbox(id, { plan, state }, session);
      for (const [action, details] of eventsOf(before)) await record(actor, action, id, details);
      return changed;
    });
    return change.catch((error: unknown) => {
      throw isDuplicateKey(error) ? refTaken() : error;
    });
  }

  /** Changes what the sandbox of an organisation shares with it, if it has one. */
  async function changeSandbox(of: string, set: SharedWithSandbox, session: ClientSession): Promise<void> {
    const sandbox = await models.organisations
      .findOneAndUpdate({ sandbox_of: of, state: CHANGEABLE }, { $set: set }, { session })
      .lean();
    if (!sandbox) return;
    await changeInKeys(models, { organisationId: sandbox._id, set: asKeyMembers(set), now: now() }, session);
  }

  /** Changes the given members in one transaction, with an audit event for each. */
  const update = (
    id: string,
    set: Partial<Pick<OrganisationForOperators, 'name' | 'plan' | 'state' | 'external_ref'>>,
  ) =>
    change(id, set, (before) => {
      const fromTo = (member: keyof typeof set) => ({ from: before[member], to: set[member] });
      const { name = before.name, plan = before.plan, state = before.state, external_ref = before.external_ref } = set;
      const action = state === 'active' ? 'organisation.resumed' : 'organisation.suspended';
      return [
        ...(name === before.name ? [] : [['organisation.renamed', fromTo('name')] as const]),
        ...(plan === before.plan ? [] : [['organisation.plan_changed', fromTo('plan')] as const]),
        ...(state === before.state ? [] : [[action, {}] as const]),
        ...(external_ref === before.external_ref ? [] : [['organisation.ref_set', { external_ref }] as const]),
      ];
    });

  return {
    /** Creates an organisation. Its first write creates its database, or the first collection there. @throws ShardRefused; RefTakenError */
    async create(input: NewOrganisation): Promise<OrganisationForOperators> {
      // before its database is placed on a shard, which stays if the rest is refused
      await requireFreeRef(input.external_ref);
      return insert(input).catch(async (error: unknown) => {
        // another call made it meanwhile; else it is the id that exists
        if (isDuplicateKey(error)) await requireFreeRef(input.external_ref);
        throw error;
      });
    },
    /** Call it before {@link create} with an id. Resolves with whether an organisation with this id was erased here. @throws IdTakenError */
    requireUnused: (id: string) => requireUnused(models, id, now()),
    /**
     * Creates an organisation, unless one has its external_ref. Concurrent calls create only one.
     * @throws StillErasingError; ShardRefused
     */
    async createOnce(
      input: NewOrganisation,
      noteId?: NoteId,
    ): Promise<{ organisation: OrganisationForOperators; isNew: boolean }> {
      const organisation = await findOpenByRef(input.external_ref);
      if (organisation) return { organisation, isNew: false };
      try {
        return { organisation: await insert(input, noteId), isNew: true };
      } catch (error) {
        // another call made it meanwhile
        const rival = isDuplicateKey(error) ? await findOpenByRef(input.external_ref) : undefined;
        if (rival) return { organisation: rival, isNew: false };
        throw error;
      }
    },
    /** Records that an organisation has its data here now, wherever an earlier version stored it: it can be resumed. */
    async noteImported(id: string): Promise<void> {
      const elsewhere = trusted({ $nin: [FOR_EARLIER_VERSIONS.cluster, null] });
      await models.organisations.updateOne({ _id: id, cluster: elsewhere }, { $set: FOR_EARLIER_VERSIONS });
    },
    /** The organisations with these ids or external_refs that exist, in any order. */
    async findAll(ids: readonly string[], refs: readonly string[]): Promise<OrganisationForOperators[]> {
      const named = [
        ...(ids.length > 0 ? [{ _id: { $in: [...ids] } }] : []),
        ...(refs.length > 0 ? [{ external_ref: { $in: [...refs] } }] : []),
      ];
      const rowsByFilter = await Promise.all(
        named.map((filter) => rows.find(filter, { readPreference: 'primary' }).toArray()),
      );
      return rowsByFilter.flat().map(forOperators);
    },
    /** Those of the organisations that exist, by id. */
    async byIds(ids: readonly string[]): Promise<ReadonlyMap<string, OrganisationForOperators>> {
      return new Map((await this.findAll(ids, [])).map((organisation) => [organisation.id, organisation]));
    },
    findByRef,
    /** Records that keys of an organisation read changes with `updated_since`. */
    async noteFollowed(id: string): Promise<void> {
      await models.organisations.updateOne({ _id: id, followed_at: null }, { $set: { followed_at: new Date(now()) } });
    },
    /** Whether keys of an organisation have read changes with `updated_since`. */
    async isFollowed(id: string): Promise<boolean> {
      return (await rows.findOne({ _id: id }, { projection: { followed_at: 1 } }))?.followed_at !== undefined;
    },
    async find(id: string): Promise<OrganisationForOperators | undefined> {
      const row = await rows.findOne({ _id: id });
      return row ? forOperators(row) : undefined;
    },
    page({
      q,
      external_ref,
      plan,
      state,
      shard,
      ids,
      ...args
    }: OrganisationPageQuery): Promise<Page<OrganisationDocument>> {
      const filters = Object.entries({ q, external_ref, plan, state, shard }).filter(([, value]) => value);
      return findPage(rows, {
        organisationId: '',
        operation: 'organisations',
        args,
        filters: Object.fromEntries(filters),
        conditions: [
          ...(external_ref ? [{ external_ref }] : []),
          ...(plan ? [{ plan }] : []),
          ...(ids ? [{ _id: trusted({ $in: [...ids] }) }] : []),
          // a missing state means active
          ...(state ? [{ state: state === 'active' ? trusted({ $in: [state, null] }) : state }] : []),
          ...(q ? [{ $or: [{ name: trusted({ $regex: escapeRegExp(q), $options: 'i' }) }, { external_ref: q }] }] : []),
        ],
      });
    },
    async findDemo(): Promise<OrganisationForOperators | undefined> {
      const demo = await models.organisations.findOne({ demo: true, state: CHANGEABLE }).sort({ created_at: 1 }).lean();
      return demo ? forOperators(demo) : undefined;
    },
    /** Whether an organisation's database may be written, as read from the primary. */
    writeStateOf: async (id: string): Promise<WriteState> => {
      const projection = { state: 1, 'move.to': 1 } as const;
      const row = await rows.findOne({ _id: id }, { projection, readPreference: 'primary' });
      return row ? writeStateOf(row) : 'gone';
    },
    count: (): Promise<number> => models.organisations.countDocuments().exec(),
    /** Organisations, oldest first, one batch in memory at a time. */
    async *each({ plan, ids }: OrganisationQuery = {}): AsyncGenerator<OrganisationForOperators> {
      const filter = { ...(plan && { plan }), ...(ids && { _id: trusted({ $in: ids }) }) };
      const query = models.organisations.find(filter).sort({ created_at: 1, _id: 1 }).lean();
      for await (const row of query.cursor({ batchSize: BATCH })) yield forOperators(row);
    },
    /** Which of these ids are those of organisations, in any state. */
    async existing(ids: readonly string[]): Promise<Set<string>> {
      const storedRows = await models.organisations.find({ _id: trusted({ $in: ids }) }, { _id: 1 }).lean();
      return new Set(storedRows.map(({ _id }) => _id));
    },
    update,
    rename: (id: string, name: string) => update(id, { name }),
    /** How many organisations are on each plan but these; at most 50 plans, those with the most first. */
    countOnOtherPlans(names: readonly string[]): Promise<{ readonly _id: string; readonly count: number }[]> {
      const counts = { $group: { _id: '$plan', count: { $sum: 1 } } };
      const first = [{ $sort: { count: -1, _id: 1 } }, { $limit: 50 }];
      return rows
        .aggregate<{ _id: string; count: number }>([{ $match: { plan: { $nin: names } } }, counts, ...first])
        .toArray();
    },
    setPlan: (id: string, plan: string) => update(id, { plan }),
    /** Once this resolves, no gateway serves a new request from its keys or users. */
    suspend: (id: string) => update(id, { state: 'suspended' }),
    resume: (id: string) => update(id, { state: 'active' }),
    /** Gives an organisation what an export says of it. @throws RefTakenError */
    restore: (id: string, set: Restored) =>
      change(id, set, ({ name, plan, currency, state, external_ref }) => {
        const to = { name: set.name, plan: set.plan, currency: set.currency };
        const { external_ref: ref = external_ref } = set;
        return [
          ['organisation.restored', { from: { name, plan, currency }, to }],
          ...((set.state ?? state) === state ? [] : [['organisation.suspended', {}] as const]),
          ...(ref === external_ref ? [] : [['organisation.ref_set', { external_ref: ref }] as const]),
        ];
      }),
  };
}

const refTaken = (): RefTakenError => new RefTakenError('another organisation has this external_ref');

/** What an export says of an organisation: `suspended` only, since an active one needs nothing. */
type Restored = Pick<Organisation, 'name' | 'plan' | 'currency'> &
  Partial<Pick<OrganisationForOperators, 'external_ref' | 'created_at'>> & { readonly state?: 'suspended' };

/** Turns a change of an organisation into a change of the copies of it in keys. */
const asKeyMembers = ({ external_ref: _ref, created_at: _at, ...set }: Partial<OrganisationForOperators>): object =>
  Object.fromEntries(Object.entries(set).map(([member, value]) => [`organisation.${member}`, value]));
