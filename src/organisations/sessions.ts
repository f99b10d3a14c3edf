import { type ClientSession, trusted } from 'mongoose';
import { requireState } from '../auth/authenticate';
import { digestOf } from '../auth/digest';
import type { Organisation, User } from '../auth/principal';
import type { Role } from '../auth/roles';
import { HOUR, MINUTE } from '../units';
import type { Actor } from './auditEvents';
import type { RecordEvent } from './auditRecorder';
import type { ControlModels } from './models';
import { CHANGEABLE, holdOrganisation, toOrganisation } from './organisationRows';
import type { SessionRow } from './sessionRows';
import { isToken, makeToken } from './signInTokens';

export interface NewSession {
  readonly organisationId: string;
  readonly user: User;
  readonly role: Role;
  /** The URL that the settings lead back to; undefined for none. */
  readonly returnTo?: string | undefined;
}

/** A user of an organisation, or everyone in it. */
interface SignedIn {
  readonly organisationId: string;
  readonly userId?: string | undefined;
}

export interface Session {
  /** The organisation it acts for: the one its user signed in to, or its sandbox. */
  readonly organisation: Organisation;
  /** Id of the organisation its user signed in to. */
  readonly home: string;
  readonly user: User;
  readonly role: Role;
  /** The URL that the settings lead back to; undefined for none. */
  readonly returnTo: string | undefined;
  /** When it expires if it is not used again. */
  readonly endsAt: Date;
}

export interface SignInToken {
  readonly token: string;
  readonly endsAt: Date;
}

/** How long a sign-in link works, in milliseconds. */
export const LINK_LIFE = 15 * MINUTE;
/** A session ends after this idle time, and at the latest after this absolute time, in milliseconds. */
export const SESSION_LIMITS = { idle: HOUR, absolute: 12 * HOUR } as const;
/** Sessions of a user at once; another one ends the oldest. */
const MAX_SESSIONS = 50;
/** How often the use of a session is stored, in milliseconds. */
const RECORD_USE_EVERY = MINUTE;

/** What a sign-in link or an invitation offers. */
export interface Offer {
  /** Name of the organisation. */
  readonly organisation: string;
  readonly user: User;
  readonly role: Role;
  /** Name of who invited; undefined of a link that an operator made. */
  readonly invitedBy: string | undefined;
}

export type Sessions = ReturnType<typeof createSessions>;

/**
 * Sessions, and the links that begin them, which expire by `clock`, the database's time. With an identity provider (`hasProvider`) invitations from before
 * it sign nobody in, since it decides who may. `from` is the user's network address, for the audit log. A `session: ClientSession` is that of a transaction.
 */
export function createSessions(models: ControlModels, clock: () => number, hasProvider: boolean) {
  const { organisations, links, sessions: sessionRows, members } = models;

  /** Matches the link of a token, if it may be used. */
  const usable = (token: string) => ({
    _id: digestOf(token),
    ends_at: trusted({ $gt: new Date(clock()) }),
    ...(hasProvider && { invitation: null }),
  });

  /** Begins a session in a transaction; resolves with its token. */
  async function startIn(
    { organisationId, user, role, returnTo }: NewSession,
    from: string,
    session: ClientSession,
    record: RecordEvent,
  ): Promise<string | undefined> {
    const organisation = await holdOrganisation(models, organisationId, session);
    if (!organisation) return undefined;
    requireState(organisation);
    const token = makeToken();
    const now = new Date(clock());
    const ends_at = new Date(now.getTime() + SESSION_LIMITS.idle);
    const owner = { organisation_id: organisationId, user, role };
    const times = { created_at: now, used_at: now, ends_at };
    // whoever is no admin any more has no session of one
    if (role !== 'admin')
      await sessionRows.deleteMany({ organisation_id: organisationId, 'user.id': user.id, role: 'admin' }, { session });
    await sessionRows.create([{ _id: digestOf(token), ...owner, ...times, ...returnToMember(returnTo) }], { session });
    await endOldest(owner, session);
    const member = { $set: { ...owner, last_sign_in_at: now, from } };
    await members.updateOne({ _id: `${organisationId}:${user.id}` }, member, { session, upsert: true });
    await record(userActor(user, from), 'user.signed_in', organisationId, { role });
    return token;
  }

  /** Ends a user's oldest sessions beyond {@link MAX_SESSIONS}, at most as many at a time, which bounds the transaction. */
  async function endOldest(
    { organisation_id, user }: Pick<SessionRow, 'organisation_id' | 'user'>,
    session: ClientSession,
  ) {
    const surplus = await sessionRows
      .find({ organisation_id, 'user.id': user.id }, { _id: 1 }, { session })
      .sort({ created_at: -1 })
      .skip(MAX_SESSIONS)
      .limit(MAX_SESSIONS)
      .lean();
    if (surplus.length === 0) return;
    await sessionRows.deleteMany({ _id: trusted({ $in: surplus.map(({ _id }) => _id) }) }, { session });
  }

  /** Matches what is a user's, or everyone's, in an organisation and its sandbox; if it is one, also the sessions that act for it. */
  async function filtersOf({ organisationId, userId }: SignedIn, session?: ClientSession) {
    const sandboxes = await organisations
      .find({ sandbox_of: organisationId }, { _id: 1 })
      .session(session ?? null)
      .lean();
    const ids = [organisationId, ...sandboxes.map(({ _id }) => _id)];
    const byUser = userId === undefined ? {} : { 'user.id': userId };
    const own = { organisation_id: trusted({ $in: ids }), ...byUser };
    return { sessions: { $or: [own, { acts_for: organisationId, ...byUser }] }, links: own };
  }

  return {
    /**
     * Signs in and returns the session's token, which is not stored. Undefined if the organisation does not exist, or is being erased.
     * @throws AppError organisation_suspended; unavailable during a move; rate_limited if the user signs in too often. A link is not consumed then
     */
    start: (input: NewSession, from: string): Promise<string | undefined> =>
      models.change((session, record) => startIn(input, from, session, record)),
    /**
     * Creates a token that signs in once, within 15 minutes. Undefined if the organisation does not exist, or is being erased.
     * @throws AppError rate_limited if there were too many for this organisation (auditRecorder.ts)
     */
    makeLink({ organisationId, user, role, returnTo }: NewSession, actor: Actor): Promise<SignInToken | undefined> {
      const token = makeToken();
      const now = clock();
      const endsAt = new Date(now + LINK_LIFE);
      return models.change(async (session, record) => {
        if (!(await holdOrganisation(models, organisationId, session))) return undefined;
        const owner = { organisation_id: organisationId, user, role };
        const times = { created_at: new Date(now), ends_at: endsAt };
        const link = { _id: digestOf(token), ...owner, ...times, ...returnToMember(returnTo) };
        await links.create([link], { session });
        await record(actor, 'link.created', organisationId, { user: user.id, role, ends_at: endsAt });
        return { token, endsAt };
      });
    },
    /** What the token of a link or an invitation offers; undefined as for {@link useLink}. It stays unused. */
    async offerOf(token: string): Promise<Offer | undefined> {
      const link = await links.findOne(usable(token)).lean();
      const organisation = link && (await organisations.findById(link.organisation_id).lean());
      if (!organisation) return undefined;
      const { user, role, invitation } = link;
      return { organisation: organisation.name, user, role, invitedBy: invitation?.created_by };
    },
    /** Consumes the token of a link or an invitation, and resolves with a session's, as `start` does. Undefined also if it was used or revoked, has expired, never existed, or is an invitation beside an identity provider. */
    async useLink(token: string, from: string): Promise<string | undefined> {
      if (!isToken(token)) return undefined;
      return models.change(async (session, record) => {
        const link = await links.findOneAndDelete(usable(token), { session }).lean();
        if (!link) return undefined;
        const { organisation_id: organisationId, user, role, invitation, return_to: returnTo } = link;
        const sessionToken = await startIn({ organisationId, user, role, returnTo }, from, session, record);
        if (sessionToken !== undefined && invitation)
          await record(userActor(user, from), 'invitation.accepted', organisationId, {
            invited_by: invitation.created_by,
          });
        return sessionToken;
      });
    },
    /**
     * The session of a token, read from the primary; its use is recorded at most once a minute. Undefined if it has expired or never existed,
     * or its organisation is being erased.
     */
    async find(token: string): Promise<Session | undefined> {
      if (!isToken(token)) return undefined;
      const id = digestOf(token);
      const now = clock();
      // the TTL index deletes up to a minute late
      const row = await sessionRows.findOne({ _id: id, ends_at: trusted({ $gt: new Date(now) }) }).lean();
      const home = row && (await organisations.findById(row.organisation_id).lean());
      if (!home || home.state === 'erasing') return undefined;
      const { acts_for: sandboxId } = row;
      const sandbox = sandboxId
        ? await organisations.findOne({ _id: sandboxId, sandbox_of: home._id, state: CHANGEABLE }).lean()
        : null;
      const { user, role, return_to: returnTo } = row;
      let endsAt = row.ends_at;
      if (now - row.used_at.getTime() >= RECORD_USE_EVERY) {
        endsAt = new Date(Math.min(now + SESSION_LIMITS.idle, row.created_at.getTime() + SESSION_LIMITS.absolute));
        await sessionRows.updateOne({ _id: id }, { $set: { used_at: new Date(now), ends_at: endsAt } });
      }
      return { organisation: toOrganisation(sandbox ?? home), home: home._id, user, role, returnTo, endsAt };
    },
    /** Makes a session act for a sandbox of its organisation, or, with null, for the organisation itself. `find` ignores any other id. */
    async enter(token: string, sandboxId: string | null): Promise<void> {
      await sessionRows.updateOne({ _id: digestOf(token) }, { $set: { acts_for: sandboxId } });
    },
    async end(token: string, from: string): Promise<void> {
      if (!isToken(token)) return;
      await models.change(async (session, record) => {
        const ended = await sessionRows.findOneAndDelete({ _id: digestOf(token) }, { session }).lean();
        if (ended) await record(userActor(ended.user, from), 'user.signed_out', ended.organisation_id, {});
      });
    },
    /** Whether a user, or anyone in an organisation, has a session, link or invitation from before a time. */
    async hasFrom(whose: SignedIn, before: Date): Promise<boolean> {
      const own = await filtersOf(whose);
      const earlier = { created_at: trusted({ $lt: before }) };
      const session = await sessionRows.exists({ ...own.sessions, ...earlier });
      return session !== null || (await links.exists({ ...own.links, ...earlier })) !== null;
    },
    /** Ends the sessions, links and invitations of a user, or of everyone in an organisation and its sandbox. Returns how many sessions ended. */
    endAll: (whose: SignedIn, actor: Actor): Promise<number> =>
      models.change(async (session, record) => {
        const own = await filtersOf(whose, session);
        const { deletedCount } = await sessionRows.deleteMany(own.sessions, { session });
        const { deletedCount: unused } = await links.deleteMany(own.links, { session });
        // or an admin could fill the audit log with people who were never signed in; operators' calls are few
        if (deletedCount + unused === 0 && actor.who.startsWith('user:')) return 0;
        const details = { everywhere: whose.userId ?? 'everyone', sessions: deletedCount };
        await record(actor, 'user.signed_out', whose.organisationId, details);
        return deletedCount;
      }),
  };
}

const returnToMember = (returnTo: string | undefined) => (returnTo === undefined ? {} : { return_to: returnTo });

/** The admin of the organisation that `demo` creates. */
export const demoAdmin = (organisationId: string): NewSession => ({
  organisationId,
  user: { id: 'link:demo', name: 'demo' },
  role: 'admin',
});

export function userActor(user: User, from: string): Actor {
  return { who: `user:${user.id}`, name: user.name, from };
}
