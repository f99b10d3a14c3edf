import { createHash, randomBytes } from 'node:crypto';
import { type ClientSession, type Connection, type Model, Schema, trusted } from 'mongoose';
import type { Organisation, User } from '../access/principal';
import type { Role } from '../access/roles';
import { recordEvent } from './audit';
import type { Actor, AuditAction } from './auditEvents';
import type { ControlModels } from './models';
import { toOrganisation } from './organisations';

/** Who signs in, to which organisation, and with which role. */
export interface NewSession {
  readonly organisationId: string;
  readonly user: User;
  readonly role: Role;
}

/** A current session. */
export interface Session {
  readonly organisation: Organisation;
  readonly user: User;
  readonly role: Role;
  /** When it expires if it is not used again. */
  readonly endsAt: Date;
}

export interface Sessions {
  /** Signs in and returns the session's token, which is not stored. Undefined if the organisation does not exist. */
  start(session: NewSession, from: string): Promise<string | undefined>;
  /** Creates a token that signs in once, within 15 minutes. Undefined if the organisation does not exist. */
  makeLink(session: NewSession, actor: Actor): Promise<{ token: string; endsAt: Date } | undefined>;
  /** Consumes a link's token and signs in. Undefined if it was used, has expired or never existed. */
  useLink(token: string, from: string): Promise<string | undefined>;
  /** The session of a token, read from the primary; its use is recorded at most once a minute. */
  find(token: string): Promise<Session | undefined>;
  /** Ends one session. */
  end(token: string, from: string): Promise<void>;
  /** Ends the sessions and links of a user, or of everyone in an organisation. Returns how many sessions ended. */
  endAll(of: { readonly organisationId: string; readonly userId?: string }, actor: Actor): Promise<number>;
}

interface SessionDocument {
  /** SHA-256 of the token, base64url, so that reading the database does not allow signing in. */
  readonly _id: string;
  readonly organisation_id: string;
  readonly user: User;
  readonly role: Role;
  readonly created_at: Date;
  readonly used_at: Date;
  readonly ends_at: Date;
}

type LinkDocument = Omit<SessionDocument, 'used_at'>;

const MINUTE = 60_000;
const LINK_LIFE = 15 * MINUTE;
/** A session ends after this idle time, and at the latest after this absolute time, in milliseconds. */
export const SESSION_LIMITS = { idle: 60 * MINUTE, absolute: 12 * 60 * MINUTE } as const;
/** How often a session's use is recorded. */
const NOTE_EVERY = MINUTE;

const text = { type: String, required: true } as const;
const date = { type: Date, required: true } as const;
const whose = {
  _id: text,
  organisation_id: text,
  user: { type: new Schema({ id: text, name: text }, { _id: false }), required: true },
  role: text,
  created_at: date,
  ends_at: date,
} as const;
const sessionSchema = new Schema({ ...whose, used_at: date }, { versionKey: false })
  .index({ ends_at: 1 }, { expireAfterSeconds: 0 })
  .index({ organisation_id: 1, 'user.id': 1 });
const linkSchema = new Schema(whose, { versionKey: false })
  .index({ ends_at: 1 }, { expireAfterSeconds: 0 })
  .index({ organisation_id: 1, 'user.id': 1 });

/** Opens the sessions and sign-in links in the control database, and creates missing indexes. */
export async function openSessions(control: Connection, models: ControlModels): Promise<Sessions> {
  const stored = control.model('sessions', sessionSchema, 'sessions') as unknown as Model<SessionDocument>;
  const links = control.model('sign_in_links', linkSchema, 'sign_in_links') as unknown as Model<LinkDocument>;
  await Promise.all([stored.createIndexes(), links.createIndexes()]);

  function transaction<T>(work: (session: ClientSession) => Promise<T>): Promise<T> {
    return control.getClient().withSession((session) => session.withTransaction(() => work(session)));
  }

  function record(
    action: AuditAction,
    { organisationId, ...details }: { readonly organisationId: string } & Record<string, unknown>,
    actor: Actor,
    session: ClientSession,
  ): Promise<void> {
    return recordEvent(models, actor, { action, organisation_id: organisationId, key_id: null, details }, session);
  }

  async function begin(
    { organisationId, user, role }: NewSession,
    from: string,
    session: ClientSession,
  ): Promise<string> {
    const token = makeToken();
    const now = Date.now();
    const document: SessionDocument = {
      ...{ _id: digest(token), organisation_id: organisationId, user, role, created_at: new Date(now) },
      ...{ used_at: new Date(now), ends_at: new Date(now + SESSION_LIMITS.idle) },
    };
    await stored.create([document], { session });
    await record('user.signed_in', { organisationId, role }, userActor(user, from), session);
    return token;
  }

  return {
    start: (input, from) =>
      transaction(async (session) => {
        const organisation = await models.organisations.exists({ _id: input.organisationId }).session(session);
        return organisation ? begin(input, from, session) : undefined;
      }),
    makeLink: ({ organisationId, user, role }, actor) =>
      transaction(async (session) => {
        if (!(await models.organisations.exists({ _id: organisationId }).session(session))) return undefined;
        const token = makeToken();
        const now = Date.now();
        const endsAt = new Date(now + LINK_LIFE);
        const whose = { organisation_id: organisationId, user, role };
        await links.create([{ _id: digest(token), ...whose, created_at: new Date(now), ends_at: endsAt }], { session });
        await record('link.created', { organisationId, user: user.id, role, ends_at: endsAt }, actor, session);
        return { token, endsAt };
      }),
    async useLink(token, from) {
      if (!isToken(token)) return undefined;
      return transaction(async (session) => {
        const filter = { _id: digest(token), ends_at: trusted({ $gt: new Date() }) };
        const link = await links.findOneAndDelete(filter, { session }).lean();
        return link
          ? begin({ organisationId: link.organisation_id, user: link.user, role: link.role }, from, session)
          : undefined;
      });
    },
    async find(token) {
      if (!isToken(token)) return undefined;
      const id = digest(token);
      const now = Date.now();
      // the TTL index deletes up to a minute late
      const found = await stored.findOne({ _id: id, ends_at: trusted({ $gt: new Date(now) }) }).lean();
      const organisation = found && (await models.organisations.findById(found.organisation_id).lean());
      if (!organisation) return undefined;
      const { user, role } = found;
      let endsAt = found.ends_at;
      if (now - found.used_at.getTime() >= NOTE_EVERY) {
        endsAt = new Date(Math.min(now + SESSION_LIMITS.idle, found.created_at.getTime() + SESSION_LIMITS.absolute));
        await stored.updateOne({ _id: id }, { $set: { used_at: new Date(now), ends_at: endsAt } });
      }
      return { organisation: toOrganisation(organisation), user, role, endsAt };
    },
    async end(token, from) {
      if (!isToken(token)) return;
      await transaction(async (session) => {
        const ended = await stored.findOneAndDelete({ _id: digest(token) }, { session }).lean();
        if (!ended) return;
        await record(
          'user.signed_out',
          { organisationId: ended.organisation_id },
          userActor(ended.user, from),
          session,
        );
      });
    },
    endAll: ({ organisationId, userId }, actor) =>
      transaction(async (session) => {
        const filter = { organisation_id: organisationId, ...(userId !== undefined && { 'user.id': userId }) };
        const { deletedCount: sessions } = await stored.deleteMany(filter, { session });
        await links.deleteMany(filter, { session });
        const whom = userId ?? 'everyone';
        await record('user.signed_out', { organisationId, everywhere: whom, sessions }, actor, session);
        return sessions;
      }),
  };
}

/** A signed-in user as an actor in the audit log. */
export function userActor(user: User, from: string): Actor {
  return { who: `user:${user.id}`, name: user.name, from };
}

/** 256 random bits in 43 characters. */
function makeToken(): string {
  return randomBytes(32).toString('base64url');
}

/** Whether a text could be a token; anything else is rejected without a lookup. */
function isToken(text: string): boolean {
  return /^[\w-]{43}$/.test(text);
}

function digest(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}
