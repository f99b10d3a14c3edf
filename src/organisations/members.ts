import type { ControlModels } from './models';
import { atMost } from '../mongo/native';

/** The most members in an answer. */
const MAX_LISTED = 200;

/** Who has signed in. `clock` is the database's time. */
export function createMembers({ members, sessions }: ControlModels, clock: () => number) {
  return {
    /** Who signed in last, newest first, and whether there are more. */
    async list(organisationId: string) {
      const rows = await members
        .find({ organisation_id: organisationId })
        .sort({ last_sign_in_at: -1, _id: -1 })
        .setOptions(atMost(MAX_LISTED + 1))
        .lean();
      const listed = rows.slice(0, MAX_LISTED);
      const ids = { $in: listed.map(({ user }) => user.id) };
      const current = { organisation_id: organisationId, 'user.id': ids, ends_at: { $gt: new Date(clock()) } };
      const users = await sessions.aggregate<{ _id: string }>([{ $match: current }, { $group: { _id: '$user.id' } }]);
      const signedIn = new Set(users.map(({ _id }) => _id));
      return {
        data: listed.map(({ user: { id, name }, role, last_sign_in_at, from }) => {
          return { id, name, role, last_sign_in_at, from, signed_in: signedIn.has(id) };
        }),
        has_more: rows.length > MAX_LISTED,
      };
    },
  };
}
