import { trusted } from 'mongoose';
import type { OrganisationState } from '../auth/principal';
import { nativeCollection } from '../mongo/native';
import type { WriteState } from '../tenant/tenantContext';
import { findPage, type ListArguments, type Page } from '../tenant/pagination';
import { escapeRegExp } from './keyDocuments';
import type { ControlModels } from './models';
import {
  CHANGEABLE,
  forOperators,
  type OrganisationDocument,
  type OrganisationForOperators,
  writeStateOf,
} from './organisationRows';

export interface OrganisationPageQuery extends ListArguments {
  /** Part of the name, or the external_ref. */
  readonly q?: string | null;
  readonly plan?: string | null;
  readonly state?: OrganisationState | null;
  readonly external_ref?: string | null;
  /** What the caller has turned into `ids`; cursors are bound to it. */
  readonly shard?: string | null;
  /** The organisations on the shard. */
  readonly ids?: readonly string[] | undefined;
}

interface OrganisationQuery {
  readonly ids?: readonly string[] | undefined;
  readonly plan?: string | undefined;
}

/** Organisations that `each` reads together. */
const BATCH = 1000;
/** The most plans in an answer of countOnOtherPlans. */
const MOST_PLANS = 50;

/** Finds, lists and counts organisations. Ids are in lower case, as stored; all is read from the primary, the only place that MONGODB_URI may name. */
export function createOrganisationReads(models: Pick<ControlModels, 'organisations'>) {
  const rows = nativeCollection(models.organisations);

  /** The organisations with these ids or external_refs that exist, in any order. */
  async function findAll(ids: readonly string[], refs: readonly string[]): Promise<OrganisationForOperators[]> {
    const named = [
      ...(ids.length > 0 ? [{ _id: { $in: [...ids] } }] : []),
      ...(refs.length > 0 ? [{ external_ref: { $in: [...refs] } }] : []),
    ];
    const rowsByFilter = await Promise.all(named.map((filter) => rows.find(filter).toArray()));
    return rowsByFilter.flat().map(forOperators);
  }

  /** Those of the organisations that exist, by id. */
  async function byIds(ids: readonly string[]): Promise<ReadonlyMap<string, OrganisationForOperators>> {
    return new Map((await findAll(ids, [])).map((organisation) => [organisation.id, organisation]));
  }

  return {
    findAll,
    byIds,
    async findByRef(external_ref: string): Promise<OrganisationForOperators | undefined> {
      const row = await rows.findOne({ external_ref });
      return row ? forOperators(row) : undefined;
    },
    /** Whether keys of an organisation have read changes with `updated_since`. */
    async isFollowed(id: string): Promise<boolean> {
      return (await rows.findOne({ _id: id }, { projection: { followed_at: 1 } }))?.followed_at !== undefined;
    },
    async find(id: string): Promise<OrganisationForOperators | undefined> {
      const row = await rows.findOne({ _id: id });
      return row ? forOperators(row) : undefined;
    },
    page(query: OrganisationPageQuery): Promise<Page<OrganisationDocument>> {
      const { q, external_ref, plan, state, shard, ids, ...args } = query;
      const filters = Object.entries({ q, external_ref, plan, state, shard }).filter(([, value]) => value);
      return findPage(rows, {
        // none, since the list is that of all
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
    /** The oldest organisation that `demo` created, unless it is being erased. */
    async findDemo(): Promise<OrganisationForOperators | undefined> {
      const demo = await models.organisations.findOne({ demo: true, state: CHANGEABLE }).sort({ created_at: 1 }).lean();
      return demo ? forOperators(demo) : undefined;
    },
    /** Whether an organisation's database may be written. */
    writeStateOf: async (id: string): Promise<WriteState> => {
      const row = await rows.findOne({ _id: id }, { projection: { state: 1, 'move.to': 1 } });
      return row ? writeStateOf(row) : 'gone';
    },
    count: (): Promise<number> => models.organisations.countDocuments().exec(),
    /** Organisations, oldest first, one batch in memory at a time, with the ids of all: a cursor ends if a caller takes half an hour for a batch. */
    async *each({ plan, ids }: OrganisationQuery = {}): AsyncGenerator<OrganisationForOperators> {
      const filter = { ...(plan && { plan }), ...(ids && { _id: { $in: [...ids] } }) };
      const all = await rows.find(filter, { projection: { _id: 1 }, sort: { created_at: 1, _id: 1 } }).toArray();
      for (let at = 0; at < all.length; at += BATCH) {
        const batch = all.slice(at, at + BATCH).map(({ _id }) => _id);
        const found = await byIds(batch);
        for (const id of batch) {
          const organisation = found.get(id);
          // unless it was erased meanwhile
          if (organisation) yield organisation;
        }
      }
    },
    /** Which of these ids are those of organisations, in any state. */
    async existing(ids: readonly string[]): Promise<Set<string>> {
      const storedRows = await models.organisations.find({ _id: trusted({ $in: ids }) }, { _id: 1 }).lean();
      return new Set(storedRows.map(({ _id }) => _id));
    },
    /** How many organisations are on each plan but these; those with the most first, at most {@link MOST_PLANS}. */
    countOnOtherPlans(names: readonly string[]): Promise<{ readonly _id: string; readonly count: number }[]> {
      const counts = { $group: { _id: '$plan', count: { $sum: 1 } } };
      const first = [{ $sort: { count: -1, _id: 1 } }, { $limit: MOST_PLANS }];
      return rows
        .aggregate<{ _id: string; count: number }>([{ $match: { plan: { $nin: names } } }, counts, ...first])
        .toArray();
    },
  };
}
