import { type ClientSession, trusted } from 'mongoose';
import { type Organisation, type OrganisationState, STATES } from '../auth/principal';
import type { WriteState } from '../database/indexMaintenance';
import type { ControlModels, OrganisationDocument } from './models';

/** An organisation as operators see it. */
export interface Listed extends Organisation {
  readonly external_ref: string | null;
  readonly created_at: Date;
}

/** Matches the states in which an organisation may be changed: all but `erasing`. */
export const CHANGEABLE = trusted<{ $ne: OrganisationState }>({ $ne: 'erasing' });

/** Whether an organisation's database can be written, or is being moved to another shard or erased. */
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

export function toListed(document: OrganisationDocument): Listed {
  const { external_ref = null, created_at } = document;
  return { ...toOrganisation(document), external_ref, created_at };
}

/** What the command line and the operator API show of an organisation, which is on a shard unless the database is a replica set. */
export function shownOrganisation(organisation: Listed, shard: string | null) {
  const { id, name, plan, currency, state, external_ref, sandbox_of = null, created_at } = organisation;
  return { id, name, plan, currency, shard, state, external_ref, sandbox_of, created_at };
}

/** A member that gateways of the version before need in organisations and in their copies in keys, while gateways are upgraded one by one. */
export const FOR_EARLIER = { cluster: 'default' } as const;

/**
 * Reads an organisation, unless it is being erased, and writes to its row: a concurrent change of its plan or state then
 * conflicts with this transaction, and so cannot miss what it stores.
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

/*
 * Gateways gather usage and logged requests in memory before they write them, and an organisation may be erased meanwhile. Writers
 * check that it exists before they write, and again afterwards, in case it was erased in between
 * (docs/decisions/organisation-life.md).
 */

/** Which of these organisations exist and are not being erased. */
export async function presentOrganisations(
  { organisations }: Pick<ControlModels, 'organisations'>,
  ids: Iterable<string>,
): Promise<Set<string>> {
  const found = await organisations.find({ _id: trusted({ $in: [...ids] }), state: CHANGEABLE }, { _id: 1 }).lean();
  return new Set(found.map(({ _id }) => _id));
}
