import type { ClientSession } from 'mongoose';
import type { Role } from '../auth/roles';
import type { ControlModels, MemberRow } from './models';

/** Someone who has signed in, with what was true then. */
export interface Member {
  /** As the identity provider names them; `link:<name>` for a link. */
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly last_sign_in_at: Date;
  /** Network address. */
  readonly from: string;
  /** Whether they have a session that has not ended. */
  readonly signed_in: boolean;
}

export interface MemberList {
  readonly data: readonly Member[];
  /** Whether others have signed in before those. */
  readonly has_more: boolean;
}

const MOST_LISTED = 200;

export type Members = ReturnType<typeof membersOf>;

export function membersOf({ members, sessions }: ControlModels, now: () => number) {
  return {
    /** Who signed in last, newest first. */
    async list(organisationId: string): Promise<MemberList> {
      const found = await members
        .find({ organisation_id: organisationId })
        .sort({ last_sign_in_at: -1, _id: -1 })
        .limit(MOST_LISTED + 1)
        .lean();
      const listed = found.slice(0, MOST_LISTED);
      const ids = { $in: listed.map(({ user }) => user.id) };
      const current = { organisation_id: organisationId, 'user.id': ids, ends_at: { $gt: new Date(now()) } };
      const users = await sessions.aggregate<{ _id: string }>([{ $match: current }, { $group: { _id: '$user.id' } }]);
      const signedIn = new Set(users.map(({ _id }) => _id));
      return {
        data: listed.map(({ user: { id, name }, role, last_sign_in_at, from }) => ({
          ...{ id, name, role, last_sign_in_at, from, signed_in: signedIn.has(id) },
        })),
        has_more: found.length > MOST_LISTED,
      };
    },
  };
}

/** Notes a sign-in, in the transaction that begins its session and holds the organisation. */
export async function noteMember(
  { members }: Pick<ControlModels, 'members'>,
  { organisation_id, user, ...rest }: Omit<MemberRow, '_id'>,
  session: ClientSession,
): Promise<void> {
  const set = { $set: { organisation_id, user, ...rest } };
  await members.updateOne({ _id: `${organisation_id}:${user.id}` }, set, { session, upsert: true });
}
