import { randomUUID } from 'node:crypto';
import { trusted } from 'mongoose';
import { digestOf } from '../auth/digest';
import type { Role } from '../auth/roles';
import { validationFailed } from '../errors';
import { DAY } from '../units';
import type { Actor } from './auditEvents';
import type { NoteId } from './creations';
import type { ControlModels } from './models';
import { holdOrganisation } from './organisationRows';
import type { LinkRow } from './sessionRows';
import { makeToken } from './signInTokens';

/*
 * Invitations are sign-in links that an organisation's admins make: they work for longer, and are listed and can be revoked until they are
 * used (docs/decisions/settings-and-sessions.md). Being links, they end with those of their user, and with the organisation.
 */

/** How long an invitation works, in milliseconds. */
export const INVITATION_LIFE = 7 * DAY;
/** The most invitations of an organisation that are not used yet. */
const MAX_PENDING = 100;

/** What the id of an invited user begins with. Their name follows, so that a person who is invited again under it is the same member. */
const PREFIX = 'invited:';
/** Sorts right after all ids with the prefix, as `;` is the character after `:`. */
const AFTER = 'invited;';

export interface NewInvitation {
  readonly organisationId: string;
  readonly name: string;
  readonly role: Role;
  /** Name of who invites. */
  readonly created_by: string;
}

export function createInvitations(models: ControlModels, clock: () => number) {
  const { links } = models;

  /** Matches invitations that can be used, by the index on user ids: no other links are for users with such an id. */
  const pending = (organisationId: string) => ({
    organisation_id: organisationId,
    'user.id': trusted({ $gt: PREFIX, $lt: AFTER }),
    // the TTL index deletes up to a minute late
    ends_at: trusted({ $gt: new Date(clock()) }),
  });

  return {
    /**
     * Invites a person, and resolves with the token of the link, which is not stored. Undefined if the organisation does not exist or
     * is being erased. @throws AppError validation_failed beyond {@link MAX_PENDING}
     */
    create({ organisationId, name, role, created_by }: NewInvitation, actor: Actor, noteId?: NoteId) {
      const id = randomUUID();
      const token = makeToken();
      return models.change(async (session, record) => {
        await noteId?.(session, id);
        // writes the organisation's row, so that two invitations at once cannot both be the last
        if (!(await holdOrganisation(models, organisationId, session))) return undefined;
        const others = await links.find(pending(organisationId), { _id: 1 }, { session }).limit(MAX_PENDING).lean();
        if (others.length >= MAX_PENDING) {
          const detail = `the organisation has ${String(MAX_PENDING)} invitations that are not used yet; revoke one first`;
          throw validationFailed([{ pointer: '', code: 'too_many', detail }]);
        }
        const created_at = new Date(clock());
        const ends_at = new Date(created_at.getTime() + INVITATION_LIFE);
        const user = { id: `${PREFIX}${name}`, name };
        const row: LinkRow = {
          _id: digestOf(token),
          organisation_id: organisationId,
          user,
          role,
          created_at,
          ends_at,
          invitation: { id, created_by },
        };
        await links.create([row], { session });
        await record(actor, 'invitation.created', organisationId, { user: user.id, role, ends_at });
        return { token, invitation: shownInvitation(row) };
      });
    },
    /** The invitations of an organisation that are not used yet, newest first. */
    async list(organisationId: string) {
      const rows = await links.find(pending(organisationId)).sort({ created_at: -1 }).limit(MAX_PENDING).lean();
      return rows.map(shownInvitation);
    },
    /** Ends an invitation; undefined if there is none that is not used yet. */
    revoke: (organisationId: string, id: string, actor: Actor) =>
      models.change(async (session, record) => {
        const row = await links
          .findOneAndDelete({ ...pending(organisationId), 'invitation.id': id.toLowerCase() }, { session })
          .lean();
        if (!row) return undefined;
        await record(actor, 'invitation.revoked', organisationId, { user: row.user.id, role: row.role });
        return shownInvitation(row);
      }),
  };
}

function shownInvitation({ user, role, created_at, ends_at, invitation }: LinkRow) {
  // optional, since other links lack it
  const { id = '', created_by = '' } = invitation ?? {};
  return { id, name: user.name, role, created_by, created_at, expires_at: ends_at };
}
