import { LRUCache } from 'lru-cache';
import { trusted } from 'mongoose';
import { generateKey, type NewKey } from '../access/keys';
import type { Organisation } from '../access/principal';
import type { Scope } from '../access/scopes';
import { coalescedReads } from '../database/coalesce';
import type { ApiKey, ControlModels } from './models';
import { toOrganisation } from './organisations';

export type { ApiKey } from './models';

export interface NewApiKey {
  readonly organisationId: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly createdBy: string;
  readonly expiresAt: Date | null;
}

export interface ApiKeys {
  /** Makes a key; `key` is the only time its value is seen. Undefined when there is no such organisation. */
  create(input: NewApiKey): Promise<{ document: ApiKey; key: string } | undefined>;
  /** Reads a key by id from the primary, joined with others of the same turn. */
  find(id: string): Promise<ApiKey | null>;
  list(organisationId: string): Promise<ApiKey[]>;
  /** Ends a key; once this resolves no request that starts later succeeds with it. False when there is no such key. */
  revoke(id: string): Promise<boolean>;
  /** Notes the use of a key, at most once a minute, without holding the request up. */
  markUsed(key: ApiKey): void;
}

/** last_used_at is written at most this often for a key, in milliseconds (contract, section 4). */
const LAST_USED_EVERY = 60_000;
const KEY_READ_BATCH = 100;

export function apiKeys(
  models: ControlModels,
  options: { keyPrefix: string; pepper: string; onError: (error: unknown) => void },
): ApiKeys {
  const loader = coalescedReads(models.apiKeys, { maxBatchSize: KEY_READ_BATCH });
  // when this instance last noted a use, so that a burst of requests writes once
  const written = new LRUCache<string, number>({ max: 10_000, ttl: LAST_USED_EVERY });
  return {
    async create(input) {
      const made = generateKey(options.keyPrefix, options.pepper);
      const document = await models.apiKeys.db.getClient().withSession((session) =>
        session.withTransaction(async () => {
          // written, not only read, so that a plan change at the same moment cannot miss the new key
          const organisation = await models.organisations
            .findOneAndUpdate({ _id: input.organisationId }, { $inc: { keys_made: 1 } }, { session })
            .lean();
          if (!organisation) return undefined;
          const stored = toDocument(input, made, toOrganisation(organisation));
          await models.apiKeys.create([stored], { session });
          return stored;
        }),
      );
      return document && { document, key: made.key };
    },
    find: (id) => loader.load(id),
    list: (organisationId) =>
      models.apiKeys.find({ 'organisation.id': organisationId }).sort({ created_at: 1, _id: 1 }).lean(),
    async revoke(id) {
      const key = await models.apiKeys.findById(id).lean();
      if (!key) return false;
      // a key that was revoked before keeps its first moment
      await models.apiKeys.updateOne({ _id: id, revoked_at: null }, { $set: { revoked_at: new Date() } });
      return true;
    },
    markUsed(key) {
      const now = Date.now();
      const last = Math.max(key.last_used_at?.getTime() ?? 0, written.get(key._id) ?? 0);
      if (now - last < LAST_USED_EVERY) return;
      written.set(key._id, now);
      const stale = trusted({ $lt: new Date(now - LAST_USED_EVERY) });
      models.apiKeys
        .updateOne(
          { _id: key._id, $or: [{ last_used_at: null }, { last_used_at: stale }] },
          { $set: { last_used_at: new Date(now) } },
        )
        .catch(options.onError);
    },
  };
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
  };
}
