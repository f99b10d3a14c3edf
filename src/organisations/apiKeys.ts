import { type ClientSession, trusted } from 'mongoose';
import type { ApiKey } from '../access/apiKey';
import { generateKey, type NewKey } from '../access/keys';
import type { Organisation } from '../access/principal';
import type { Scope } from '../access/scopes';
import { coalescedReads } from '../database/coalesce';
import { findPage, type ListArguments, type Page } from '../database/pagination';
import { recordEvent } from './audit';
import type { Actor, AuditAction } from './auditEvents';
import { keyUses } from './keyUses';
import type { ControlModels } from './models';
import { toOrganisation } from './organisations';

export interface NewApiKey {
  readonly organisationId: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly createdBy: string;
  readonly expiresAt: Date | null;
  /** CIDR ranges it may be used from; from anywhere when left out or empty. */
  readonly allowedRanges?: readonly string[];
}

export interface Rotation {
  /** How long the old key goes on, in milliseconds; never longer than it would have. */
  readonly overlap: number;
  /** When the new key ends; as long after its making as the old one's end was after its own when left out. */
  readonly expiresAt?: Date | null | undefined;
}

/** Who changes keys, and of which organisation; the operator, of every one, when left out. */
export interface Authority {
  readonly actor: Actor;
  readonly organisationId?: string;
}

/** A page of an organisation's keys, newest first: those that are live, those that have ended, or all. */
export interface KeyPageQuery extends ListArguments {
  readonly organisationId: string;
  readonly state?: 'active' | 'ended' | null;
}

/** A key that was just made: the only time its text is there. */
export interface MadeKey {
  readonly document: ApiKey;
  readonly key: string;
}

export interface ApiKeys {
  /** Undefined when there is no such organisation. */
  create(input: NewApiKey, by?: Authority): Promise<MadeKey | undefined>;
  /** Reads a key by id from the primary, joined with others of the same turn. */
  find(id: string): Promise<ApiKey | null>;
  list(organisationId: string): Promise<ApiKey[]>;
  page(query: KeyPageQuery): Promise<Page<ApiKey>>;
  /** Ends a key; once this resolves no request that starts later succeeds with it. False when there is no such key. */
  revoke(id: string, by?: Authority): Promise<boolean>;
  /** Makes a key in the place of another with its name, scopes and ranges. Undefined when there is no such live key. */
  rotate(id: string, rotation: Rotation, by?: Authority): Promise<(MadeKey & { readonly old: ApiKey }) | undefined>;
  /** Notes the use of a key and from where, at most once a minute, without holding the request up. */
  markUsed(key: ApiKey, address: string): void;
  /** Resolves when the uses that were noted are written. */
  settle(): Promise<void>;
}

export interface ApiKeysOptions {
  readonly keyPrefix: string;
  readonly pepper: string;
  /** Who does what is done here. */
  readonly actor: Actor;
  readonly onError: (error: unknown) => void;
}

const KEY_READ_BATCH = 100;

export function apiKeys(models: ControlModels, options: ApiKeysOptions): ApiKeys {
  const operator: Authority = { actor: options.actor };
  const uses = keyUses(models, options.onError);
  const loader = coalescedReads(models.apiKeys, { maxBatchSize: KEY_READ_BATCH });

  function transaction<T>(work: (session: ClientSession) => Promise<T>): Promise<T> {
    const client = models.apiKeys.db.getClient();
    return client.withSession((session) => session.withTransaction(() => work(session)));
  }

  function record(
    action: AuditAction,
    key: ApiKey,
    details: Record<string, unknown>,
    by: Authority,
    session: ClientSession,
  ): Promise<void> {
    const event = { action, organisation_id: key.organisation.id, key_id: key._id, details };
    return recordEvent(models, by.actor, event, session);
  }

  /** Stores a key; undefined when its organisation is gone. */
  async function store(input: NewApiKey, made: NewKey, session: ClientSession): Promise<ApiKey | undefined> {
    // written, not only read, so that a plan change at the same moment cannot miss the new key
    const organisation = await models.organisations
      .findOneAndUpdate({ _id: input.organisationId }, { $inc: { keys_made: 1 } }, { session })
      .lean();
    if (!organisation) return undefined;
    const document = toDocument(input, made, toOrganisation(organisation));
    await models.apiKeys.create([document], { session });
    return document;
  }

  return {
    async create(input, by = operator) {
      const made = generateKey(options.keyPrefix, options.pepper);
      const document = await transaction(async (session) => {
        const stored = await store(input, made, session);
        if (stored) await record('key.created', stored, describe(stored), by, session);
        return stored;
      });
      return document && { document, key: made.key };
    },
    find: (id) => loader.load(id),
    list: (organisationId) =>
      models.apiKeys.find({ 'organisation.id': organisationId }).sort({ created_at: 1, _id: 1 }).lean(),
    page({ organisationId, state, ...args }) {
      const conditions = [{ 'organisation.id': organisationId }, ...(state ? [stateCondition(state, new Date())] : [])];
      const filters = state ? { state } : {};
      return findPage(models.apiKeys, { organisationId, operation: 'api_keys', args, filters, conditions });
    },
    revoke: (id, by = operator) =>
      transaction(async (session) => {
        const own = { _id: id, ...ownKeys(by) };
        // a key that was revoked before keeps its first moment
        const revoked = await models.apiKeys
          .findOneAndUpdate({ ...own, revoked_at: null }, { $set: { revoked_at: new Date() } }, { session })
          .lean();
        if (revoked) await record('key.revoked', revoked, { name: revoked.name }, by, session);
        return revoked !== null || (await models.apiKeys.exists(own).session(session)) !== null;
      }),
    async rotate(id, { overlap, expiresAt }, by = operator) {
      const made = generateKey(options.keyPrefix, options.pepper);
      const rotated = await transaction(async (session) => {
        const old = await models.apiKeys.findOne({ _id: id, ...ownKeys(by) }, undefined, { session }).lean();
        const now = new Date();
        if (!old || old.revoked_at || (old.expires_at && old.expires_at <= now)) return undefined;
        const document = await store(successorOf(old, now, expiresAt), made, session);
        if (!document) return undefined;
        const ends = new Date(Math.min(now.getTime() + overlap, old.expires_at?.getTime() ?? Infinity));
        await models.apiKeys.updateOne(
          { _id: id },
          { $set: { expires_at: ends, rotated_to: document._id } },
          { session },
        );
        const details = { to: document._id, old_expires_at: ends, ...describe(document) };
        await record('key.rotated', old, details, by, session);
        return { document, old: { ...old, expires_at: ends, rotated_to: document._id } };
      });
      return rotated && { ...rotated, key: made.key };
    },
    markUsed: (key, address) => {
      uses.note(key, address);
    },
    settle: () => uses.settle(),
  };
}

/** Another organisation's key is not there. */
function ownKeys({ organisationId }: Authority): Record<string, string> {
  return organisationId === undefined ? {} : { 'organisation.id': organisationId };
}

function stateCondition(state: 'active' | 'ended', now: Date): Record<string, unknown> {
  return state === 'active'
    ? { revoked_at: null, $or: [{ expires_at: null }, { expires_at: trusted({ $gt: now }) }] }
    : { $or: [{ revoked_at: trusted({ $ne: null }) }, { expires_at: trusted({ $lte: now }) }] };
}

/** The key that takes another's place: the same but for its text, and as long a life as the old one was given. */
function successorOf(old: ApiKey, now: Date, expiresAt: Date | null | undefined): NewApiKey {
  const sameLifetime = (end: Date): Date => new Date(now.getTime() + end.getTime() - old.created_at.getTime());
  return {
    organisationId: old.organisation.id,
    name: old.name,
    scopes: old.scopes,
    createdBy: old.created_by,
    expiresAt: expiresAt === undefined ? old.expires_at && sameLifetime(old.expires_at) : expiresAt,
    allowedRanges: old.allowed_ranges,
  };
}

/** What the audit log says of a new key. */
function describe(key: ApiKey): Record<string, unknown> {
  const { name, prefix, scopes, expires_at, allowed_ranges } = key;
  return { name, prefix, scopes, expires_at, allowed_ranges };
}

function toDocument(input: NewApiKey, made: NewKey, organisation: Organisation): ApiKey {
  return {
    _id: made.id,
    organisation,
    name: input.name,
    prefix: made.displayPrefix,
    last_four: made.lastFour,
    salt: made.salt,
    hash: made.hash,
    scopes: [...new Set(input.scopes)],
    created_by: input.createdBy,
    created_at: new Date(),
    expires_at: input.expiresAt,
    revoked_at: null,
    last_used_at: null,
    last_used_from: null,
    allowed_ranges: input.allowedRanges ?? [],
    rotated_to: null,
  };
}
