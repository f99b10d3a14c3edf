import { type ClientSession, type Model, Schema, trusted } from 'mongoose';
import { PLAN_NAME } from '../auth/plans';
import { type Organisation, type OrganisationState, STATES } from '../auth/principal';
import type { WriteState } from '../tenant/tenantContext';
import { optional, PART, required, ROW, type RowOf } from './schemas';

/** The options of `state`, to which organisations and the copies in keys add whether it is required. */
export const STATE = { type: String, enum: Object.keys(STATES) as OrganisationState[] } as const;

/** Members of an organisation that its keys have copies of, since a request reads its key alone. */
export const COPIED_TO_KEYS = {
  name: required.text,
  /** A name, since gateways may have different plans while PLANS_FILE changes. */
  plan: { ...required.text, match: PLAN_NAME },
  currency: required.text,
  /** Of a sandbox: the id of its organisation. */
  sandbox_of: optional.text,
  /** Where an earlier version stored its data: `default` is here. */
  cluster: optional.text,
} as const;

const move = Schema.create(
  {
    /** Name of the shard. */
    to: required.text,
    /** Id of the process that moves it. */
    mover: required.text,
    begun_at: required.time,
    /** When that process last showed that it runs (moving.ts). */
    seen_at: required.time,
  },
  PART,
);

/** `epoch` and `owed` of a Feed (feeds.ts). */
const feed = Schema.create({ epoch: optional.number, owed: optional.time }, PART);

export type MoveDocument = RowOf<typeof move>;
export type OrganisationDocument = RowOf<typeof organisationSchema>;

export const organisationSchema = Schema.create(
  {
    /** UUID. */
    _id: required.text,
    ...COPIED_TO_KEYS,
    /** Active if it is missing. */
    state: { ...STATE, allowNull: false },
    /** While it is being erased: the export is complete, or was not wanted. */
    exported: optional.flag,
    /** The move to another shard in progress, during which no request begins. */
    move: { type: move, allowNull: false },
    /** When its last move ended. */
    moved_at: optional.time,
    /** State of its event feed; missing if it lost no events, its id was not used before, and no earlier version moved it to another cluster (`epoch`). */
    feed: { type: feed, allowNull: false },
    /** Since when its keys read changes with `updated_since`; missing if they never did. */
    followed_at: optional.time,
    /** The operator's own id for it. */
    external_ref: optional.text,
    /** Of a sandbox or the demo whose sample is not complete: a mark that is new each time it is created, begins to be emptied or is emptied (sandboxes.ts). */
    unseeded: optional.text,
    /** Set on the organisation created by `demo`. */
    demo: optional.flag,
    /** Incremented so that concurrent changes conflict (holdOrganisation). */
    holds: optional.number,
    created_at: required.time,
  } as const,
  { ...ROW, collection: 'organisations' },
);
// all, oldest first
organisationSchema.index({ created_at: 1, _id: 1 });
// those that are being moved
organisationSchema.index({ 'move.to': 1 }, { sparse: true });
// at most one sandbox of each organisation, and one organisation with each external_ref
organisationSchema.index({ sandbox_of: 1 }, { unique: true, sparse: true });
organisationSchema.index({ external_ref: 1 }, { unique: true, sparse: true });

export interface OrganisationForOperators extends Organisation {
  readonly external_ref: string | null;
  readonly created_at: Date;
}

/** Matches the states in which an organisation may be changed: all but `erasing`. */
export const CHANGEABLE = trusted<{ $ne: OrganisationState }>({ $ne: 'erasing' });

/** Whether an organisation's database can be written (`open`), or it is being moved to another shard, or erased (`closed`). */
export function writeStateOf({
  state,
  move,
}: Pick<OrganisationDocument, 'state' | 'move'>): Exclude<WriteState, 'gone'> {
  if (!STATES[state ?? 'active'].data) return 'closed';
  return move ? 'moving' : 'open';
}

export function toOrganisation(document: OrganisationDocument): Organisation {
  const { _id: id, name, plan, currency, state = 'active', move, sandbox_of } = document;
  const organisation = { id, name, plan, currency, state, ...(sandbox_of !== undefined && { sandbox_of }) };
  return move ? { ...organisation, moving: true } : organisation;
}

export function forOperators(document: OrganisationDocument): OrganisationForOperators {
  const { external_ref = null, created_at } = document;
  return { ...toOrganisation(document), external_ref, created_at };
}

/** What the command line and the operator API show of an organisation. `shard` is null if the database is a replica set, or it is not known. */
export function shownOrganisation(organisation: OrganisationForOperators, shard: string | null) {
  const { id, name, plan, currency, state, external_ref, sandbox_of = null, created_at } = organisation;
  return { id, name, plan, currency, shard, state, external_ref, sandbox_of, created_at };
}

/** A member that gateways of earlier versions need in organisations and in their copies in keys, while gateways are upgraded one by one. */
export const FOR_EARLIER_VERSIONS = { cluster: 'default' } as const;

interface OrganisationModel {
  readonly organisations: Model<OrganisationDocument>;
}

/**
 * Reads an organisation, and writes to its row: a concurrent change of its plan or state then conflicts with this transaction, and so cannot
 * miss what it stores. Undefined if there is none, or it is being erased.
 */
export async function holdOrganisation(
  { organisations }: OrganisationModel,
  id: string,
  session: ClientSession,
): Promise<Organisation | undefined> {
  const row = await organisations
    .findOneAndUpdate({ _id: id, state: CHANGEABLE }, { $inc: { holds: 1 } }, { session })
    .lean();
  return row ? toOrganisation(row) : undefined;
}

/*
 * Gateways gather usage and logged requests in memory before they write them, and an organisation may be erased meanwhile. Writers
 * check that it exists before they write, and again afterwards, in case it was erased in between
 * (docs/decisions/organisation-life.md).
 */

/** Which of these organisations exist and are not being erased. */
export async function presentOrganisations(
  { organisations }: OrganisationModel,
  ids: Iterable<string>,
): Promise<Set<string>> {
  const rows = await organisations.find({ _id: trusted({ $in: [...ids] }), state: CHANGEABLE }, { _id: 1 }).lean();
  return new Set(rows.map(({ _id }) => _id));
}
