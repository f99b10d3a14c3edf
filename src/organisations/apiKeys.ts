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
  /** CIDR ranges it may be used from; anywhere if omitted or empty. */
  readonly allowedRanges?: readonly string[];
}

export interface Rotation {
  /** How long the old key keeps working, in milliseconds; its own expiry still applies. */
  readonly overlap: number;
  /** When the new key expires; by default it gets the same lifetime as the old one. */
  readonly expiresAt?: Date | null | undefined;
}

/** Who changes keys, and in which organisation; in all of them if omitted, for the operator. */
export interface Authority {
  readonly actor: Actor;
  readonly organisationId?: string;
}

/** A page of an organisation's keys, newest first: active ones, ended ones, or all. */
export interface KeyPageQuery extends ListArguments {
  readonly organisationId: string;
  readonly state?: 'active' | 'ended' | null;
}

/** A new key; the only time its text is available. */
export interface MadeKey {
  readonly document: ApiKey;
  readonly key: string;
}

export interface ApiKeys {
  /** Undefined if the organisation does not exist. */
  create(input: NewApiKey, by?: Authority): Promise<MadeKey | undefined>;
  /** Reads a key by id from the primary, batched with other reads in the same turn of the event loop. */
  find(id: string): Promise<ApiKey | null>;
  list(organisationId: string): Promise<ApiKey[]>;
  page(query: KeyPageQuery): Promise<Page<ApiKey>>;
  /** Revokes a key: once this resolves, no new request succeeds with it. False if the key does not exist. */
  revoke(id: string, by?: Authority): Promise<boolean>;
  /** Replaces a key with a new one that has the same name, scopes and ranges. Undefined if there is no such active key. */
  rotate(id: string, rotation: Rotation, by?: Authority): Promise<(MadeKey & { readonly old: ApiKey }) | undefined>;
  /** Records the time and address of a use, at most once a minute, without delaying the request. */
  markUsed(key: ApiKey, address: string): void;
  /** Resolves when all recorded uses are written. */
  settle(): Promise<void>;
}

export interface ApiKeysOptions {
  readonly keyPrefix: string;
  readonly pepper: string;
  /** The actor in audit events. */
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

  /** Stores a key; undefined if its organisation no longer exists. */
  async function store(input: NewApiKey, made: NewKey, session: ClientSession): Promise<ApiKey | undefined> {
    // a write, not just a read, so that a concurrent plan change cannot miss the new key
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
        // a key that is already revoked keeps its revocation time
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

/** Restricts a user to keys of their own organisation. */
function ownKeys({ organisationId }: Authority): Record<string, string> {
  return organisationId === undefined ? {} : { 'organisation.id': organisationId };
}

function stateCondition(state: 'active' | 'ended', now: Date): Record<string, unknown> {
  return state === 'active'
    ? { revoked_at: null, $or: [{ expires_at: null }, { expires_at: trusted({ $gt: now }) }] }
    : { $or: [{ revoked_at: trusted({ $ne: null }) }, { expires_at: trusted({ $lte: now }) }] };
}

/** The replacement of a key: the same settings and, by default, the same lifetime. */
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

/** The audit details of a new key. */
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
