import { type ClientSession, trusted } from 'mongoose';
import { type ApiKey, generateKey, keyState, type KeySecret, matchesAny, type NewKey } from '../auth/keys';
import type { Plans } from '../auth/plans';
import { type Mode, modeOf, type Organisation } from '../auth/principal';
import type { Config } from '../config';
import { coalescedReads } from '../tenant/coalesce';
import { nativeCollection } from '../mongo/native';
import { findPage, type ListArguments, type Page } from '../tenant/pagination';
import type { Actor, Authority } from './auditEvents';
import { trimEndedKeys } from './endedKeys';
import type { NoteId } from './creations';
import {
  asStored,
  changesOf,
  keyDescription,
  keyIdentity,
  keySearchCondition,
  KeyRefused,
  type KeyUpdate,
  type NewApiKey,
  ownKeys,
  refuseForApp,
  sameLifetime,
  unusedConditions,
  stateCondition,
  successorOf,
  toDocument,
} from './keyDocuments';
import { activeIn, createKeyLimits } from './keyLimits';
import { createKeyWriter, type KeyWriterOptions } from './keyWriter';
import type { ControlModels } from './models';
import { FOR_EARLIER_VERSIONS, holdOrganisation } from './organisationRows';

export interface Rotation {
  /** How long the old key keeps working, in milliseconds; its own expiry still applies. */
  readonly overlap: number;
  /** When the new key expires; by default it gets the same lifetime as the old one. */
  readonly expiresAt?: Date | null | undefined;
}

/** A page of an organisation's keys, newest first: active ones, ended ones, or all. */
export interface KeyPageQuery extends ListArguments {
  readonly organisationId: string;
  readonly state?: 'active' | 'ended' | null;
  /** Part of the name, the start of the key's text, or its last four characters. */
  readonly search?: string | null;
  /** Only keys that were replaced by the key with this id. */
  readonly replaced_by?: string | null;
  /** Only keys that expire, or expired, before this time (ISO 8601) and were not replaced, and active ones whose successors have ended. */
  readonly expires_before?: string | null;
  /** Only keys that were created before this time (ISO 8601) and not used since. */
  readonly unused_since?: string | null;
}

/** A new key with its text, which is not available later. */
export interface KeyWithSecret {
  readonly document: ApiKey;
  readonly key: string;
}

export interface RotatedKey extends KeyWithSecret {
  readonly old: ApiKey;
}

/** The most keys that one command reads, for the requests of one turn of the event loop. */
const KEY_READ_BATCH = 100;
/** Keys per database reply when an organisation's keys are listed. */
const KEYS_AT_ONCE = 200;

export interface ApiKeysOptions extends Omit<KeyWriterOptions, 'pepper'> {
  readonly config: Pick<
    Config,
    'KEY_PREFIX' | 'KEY_PREFIX_TEST' | 'KEY_PREFIX_APP' | 'KEY_PEPPER' | 'KEY_PEPPER_PREVIOUS'
  >;
  readonly plans: Plans;
  readonly actor: Actor;
}

export type ApiKeys = ReturnType<typeof createApiKeys>;

export function createApiKeys(
  models: ControlModels,
  { config, plans, actor, onError, now, pepperNumber }: ApiKeysOptions,
) {
  // for callers that name no authority: the command line, which may change every organisation's keys
  const anyOrganisation: Authority = { actor };
  const limits = createKeyLimits(models, plans, now);
  const writer = createKeyWriter(models, { onError, now, pepper: config.KEY_PEPPER, pepperNumber });
  const loader = coalescedReads(nativeCollection(models.apiKeys), { maxBatchSize: KEY_READ_BATCH });

  const { KEY_PEPPER: pepper, KEY_PEPPER_PREVIOUS: previousPepper } = config;
  const peppers = previousPepper === undefined ? [pepper] : [pepper, previousPepper];
  const prefixes: Readonly<Record<Mode, string>> = { live: config.KEY_PREFIX, test: config.KEY_PREFIX_TEST };

  /** `test` for a sandbox, `live` for any other organisation; an organisation's mode never changes. */
  async function modeOfId(id: string): Promise<Mode> {
    return (await models.organisations.exists({ _id: id, sandbox_of: trusted({ $ne: null }) })) ? 'test' : 'live';
  }

  const oldestFirst = (organisationId: string) =>
    models.apiKeys.find({ 'organisation.id': organisationId }).sort({ created_at: 1, _id: 1 }).lean();

  const findOwn = (id: string, by: Authority, session: ClientSession) =>
    models.apiKeys.findOne({ _id: id, ...ownKeys(by) }, undefined, { session }).lean();

  /** Stores a key; undefined if its organisation no longer exists, or is being erased. */
  async function insertKey(input: NewApiKey, newKey: NewKey, session: ClientSession): Promise<ApiKey | undefined> {
    const organisation = await holdOrganisation(models, input.organisationId, session);
    if (!organisation) return undefined;
    // the number of KEY_PEPPER, which hashes it (pepper.ts); undefined for the first pepper
    const pepper = pepperNumber();
    const document = toDocument(input, newKey, {
      organisation: { ...organisation, ...FOR_EARLIER_VERSIONS },
      created_at: new Date(now()),
      ...(pepper !== undefined && { pepper }),
    });
    await models.apiKeys.create([document], { session });
    return document;
  }

  /** Conditions for keys that expire before a time and have no active successor: never replaced, or all that followed have ended (one that was lost is revoked). */
  async function endingConditions(organisationId: string, before: Date): Promise<Record<string, unknown>[]> {
    const at = new Date(now());
    const expires_at = trusted({ $lt: before });
    // requireRoomToReplace bounds how many there are
    const replaced = { ...activeIn(organisationId, at), rotated_to: trusted({ $ne: null }), expires_at };
    const rows = await models.apiKeys.find(replaced, { rotated_to: 1 }).lean();
    const abandoned: string[] = [];
    // one step along each chain of rotations at a time, until a key that is active or was not replaced
    for (let next = rows.map(({ _id, rotated_to }) => ({ _id, rotated_to })); next.length > 0;) {
      const ids = trusted({ $in: next.map(({ rotated_to }) => rotated_to) });
      const members = { rotated_to: 1, revoked_at: 1, expires_at: 1 };
      const successors = await models.apiKeys.find({ _id: ids }, members).lean();
      const byId = new Map(successors.map((key) => [key._id, key]));
      const ended = next.flatMap(({ _id, rotated_to }) => {
        const successor = byId.get(rotated_to ?? '');
        if (successor && keyState(successor, at) === 'active') return [];
        return [{ _id, rotated_to: successor?.rotated_to ?? null }];
      });
      abandoned.push(...ended.filter(({ rotated_to }) => rotated_to === null).map(({ _id }) => _id));
      next = ended.filter(({ rotated_to }) => rotated_to !== null);
    }
    return [{ expires_at }, { $or: [{ rotated_to: null }, { _id: trusted({ $in: abandoned }) }] }];
  }

  /** Deletes ended keys beyond what is kept. Never rejects: making or ending a key must not fail for that. */
  const trimEnded = (organisationId: string): Promise<void> =>
    trimEndedKeys(models, organisationId, now()).catch(onError);

  return {
    /** As whyFull of keyLimits.ts. */
    whyFull: (organisation: Organisation) => limits.whyFull(organisation),
    /**
     * Undefined if the organisation does not exist, or is being erased. `noteId` is the first write of the transaction (creations.ts).
     * @throws KeyRefused beyond the `active_keys` of its plan
     */
    async create(input: NewApiKey, by = anyOrganisation, noteId?: NoteId): Promise<KeyWithSecret | undefined> {
      const prefix = input.app ? config.KEY_PREFIX_APP : prefixes[await modeOfId(input.organisationId)];
      const newKey = generateKey(prefix, config.KEY_PEPPER, input.customerIds);
      const document = await models.change(async (session, record) => {
        await noteId?.(session, newKey.id);
        const stored = await insertKey(input, newKey, session);
        if (stored) await limits.requireRoom(stored.organisation, session);
        if (stored) await record(by.actor, 'key.created', stored.organisation.id, keyDescription(stored), stored._id);
        return stored;
      });
      if (document) await trimEnded(input.organisationId);
      return document && { document, key: newKey.key };
    },
    /** Reads a key by id from the primary, batched with other reads in the same turn of the event loop. */
    find: (id: string): Promise<ApiKey | null> => loader.load(id),
    list: (organisationId: string): Promise<ApiKey[]> => oldestFirst(organisationId).exec(),
    /** The same keys without those of apps, read one batch at a time. */
    eachOfPrograms: (organisationId: string): AsyncIterable<ApiKey> =>
      oldestFirst(organisationId).find({ app: null }).cursor({ batchSize: KEYS_AT_ONCE }),
    async page({ organisationId, ...query }: KeyPageQuery): Promise<Page<ApiKey>> {
      const { state, search, replaced_by, expires_before, unused_since, ...args } = query;
      const ending = expires_before ? await endingConditions(organisationId, new Date(expires_before)) : [];
      const conditions = [
        { 'organisation.id': organisationId },
        ...(state ? [stateCondition(state, new Date(now()))] : []),
        ...(search ? [keySearchCondition(search)] : []),
        ...(replaced_by ? [{ rotated_to: replaced_by.toLowerCase() }] : []),
        ...ending,
        ...(unused_since ? unusedConditions(new Date(unused_since)) : []),
      ];
      const given = Object.entries({ state, search, replaced_by, expires_before, unused_since });
      const filters = Object.fromEntries(given.filter(([, value]) => value));
      const request = { organisationId, operation: 'api_keys', args, filters, conditions };
      return findPage(nativeCollection(models.apiKeys), request);
    },
    /** Revokes a key: once this resolves, no new request succeeds with it. False if the key does not exist. */
    async revoke(id: string, by = anyOrganisation): Promise<boolean> {
      const key = await models.change(async (session, record) => {
        const storedKey = await findOwn(id, by, session);
        // a key that is already revoked keeps its revocation time
        if (storedKey?.revoked_at === null) {
          await models.apiKeys.updateOne({ _id: id }, { $set: { revoked_at: new Date(now()) } }, { session });
          await record(by.actor, 'key.revoked', storedKey.organisation.id, keyIdentity(storedKey), id);
        }
        return storedKey;
      });
      if (key) await trimEnded(key.organisation.id);
      return key !== null;
    },
    /**
     * Replaces a key with a new one that has the same name, scopes, ranges and customers. Undefined if there is no such active key.
     * @throws KeyRefused if it was replaced before and its replacement is active, or too many replaced keys work
     */
    async rotate(id: string, { overlap, expiresAt }: Rotation, by = anyOrganisation): Promise<RotatedKey | undefined> {
      // outside the transaction only what never changes is read: its mode and its customers
      const key = await loader.load(id);
      if (!key) return undefined;
      const prefix = prefixes[modeOf(key.organisation)];
      const newKey = generateKey(prefix, config.KEY_PEPPER, key.restricted?.customer_ids);
      const rotated = await models.change(async (session, record) => {
        const old = await findOwn(id, by, session);
        const at = new Date(now());
        if (!old || keyState(old, at) !== 'active') return undefined;
        const ofApp = 'is that of a connected app, which renews its own tokens; revoke it if they leaked';
        refuseForApp(old, '/key_id', ofApp);
        const successor =
          old.rotated_to === null ? null : await models.apiKeys.findById(old.rotated_to, null, { session }).lean();
        if (successor && keyState(successor, at) === 'active') {
          const replacement = `${successor.prefix}…${successor.last_four}`;
          const detail = `was already replaced by ${replacement}; rotate that key, or revoke it first if it was lost`;
          throw new KeyRefused({ pointer: '/key_id', code: 'replaced', detail }, `key ${id} ${detail}`);
        }
        // a replaced key's expiry is the end of its overlap, so the original lifetime is taken from its replacement
        const end = expiresAt === undefined ? sameLifetime(successor ?? old, at) : expiresAt;
        const document = await insertKey(successorOf(old, end, by.actor), newKey, session);
        if (!document) return undefined;
        const ends = new Date(Math.min(at.getTime() + overlap, old.expires_at?.getTime() ?? Infinity));
        const change = { expires_at: ends, rotated_to: document._id };
        await models.apiKeys.updateOne({ _id: id }, { $set: change }, { session });
        await limits.requireRoomToReplace(document.organisation, session);
        const details = { from: keyIdentity(old), to: document._id, old_expires_at: ends, ...keyDescription(document) };
        await record(by.actor, 'key.rotated', old.organisation.id, details, id);
        return { document, old: { ...old, ...change } };
      });
      if (rotated) await trimEnded(rotated.old.organisation.id);
      return rotated && { ...rotated, key: newKey.key };
    },
    /**
     * Changes an active key and resolves with it; its next request sees the change. Undefined if there is no such active key.
     * @throws KeyRefused for a new expiry if the key was replaced
     */
    update: (id: string, update: KeyUpdate, by = anyOrganisation): Promise<ApiKey | undefined> =>
      models.change(async (session, record) => {
        const before = await findOwn(id, by, session);
        if (!before || keyState(before, new Date(now())) !== 'active') return undefined;
        const { from, to } = changesOf(before, update);
        if (Object.keys(to).length === 0) return before;
        const ofApp = 'was decided when the app was connected; revoke the key, or connect the app again';
        if (to.expires_at !== undefined) refuseForApp(before, '/expires_at', ofApp);
        if (to.expires_at !== undefined && before.rotated_to !== null) {
          const detail = 'cannot be changed, because the key was replaced and ends with its overlap';
          const message = `the expiry of key ${id} cannot be changed: it was replaced, and stops working when its overlap with the new key ends`;
          throw new KeyRefused({ pointer: '/expires_at', code: 'replaced', detail }, message);
        }
        const set = asStored(before, to);
        await models.apiKeys.updateOne({ _id: id }, { $set: set }, { session });
        await record(by.actor, 'key.updated', before.organisation.id, { ...keyIdentity(before), from, to }, id);
        return { ...before, ...set };
      }),
    /** Keys that still work and that the keys with these ids replaced, directly or through others. */
    async replacedBy(organisationId: string, ids: readonly string[]): Promise<ApiKey[]> {
      const all: ApiKey[] = [];
      for (let next = ids; next.length > 0;) {
        const rotated = { ...activeIn(organisationId, new Date(now())), rotated_to: trusted({ $in: next }) };
        const predecessors = await models.apiKeys.find(rotated).lean();
        all.push(...predecessors);
        next = predecessors.map(({ _id }) => _id);
      }
      return all;
    },
    /** Whether a key is active by the database's time, and if not, why. */
    stateOf: (key: Pick<ApiKey, 'revoked_at' | 'expires_at'>) => keyState(key, new Date(now())),
    isSecretOf: (secret: string, key: KeySecret): boolean => matchesAny(secret, key, peppers),
    /** Records the time and address of a use, at most once a minute, without delaying the request. */
    markUsed: writer.noteUse,
    /** Hashes a used key with the current pepper if it has an older one, without delaying the request. */
    rehash: writer.rehash,
    /** Resolves when all recorded uses and new hashes are written, or a write has failed. */
    settle: writer.settle,
  };
}
