import { isDeepStrictEqual } from 'node:util';
import { LRUCache } from 'lru-cache';
import { AppError, movingError } from '../errors';
import { digestOf } from './digest';
import { type ApiKey, beginsLike, isShapedLikeKey, matchesAny, parseKey, prefixOf, rangesOf, textState } from './keys';
import type { Plans } from './plans';
import { DEFAULT_MCP, type KeyPrincipal, type Organisation, STATES } from './principal';
import { isInRanges } from './addresses';
import { mayReadAhead, createSeenKeys } from './seenKeys';

interface KeySource {
  /** Reads a key by id from the primary. */
  readonly find: (id: string) => Promise<ApiKey | null>;
  /** Records a use; never delays the request. */
  readonly markUsed: (key: ApiKey, address: string) => void;
  /** Hashes an accepted key again with the current pepper, if it was hashed with an older one; never delays the request. */
  readonly rehash?: (key: ApiKey, secret: string) => void;
}

/** Why a request is not authenticated; for the log and metrics, never for the caller. */
export const REFUSAL_REASONS = [
  'missing',
  'malformed',
  'checksum',
  'unknown',
  'wrong_secret',
  'revoked',
  'expired',
  'address',
] as const;
export type RefusalReason = (typeof REFUSAL_REASONS)[number];

export interface Refusal {
  readonly reason: RefusalReason;
  /** Id in the key, if its checksum is right; not proof that the caller has that key. */
  readonly keyId?: string;
  /** The key and its organisation, once the secret has proved that the caller has the key. */
  readonly owner?: { readonly key: string; readonly organisation: string };
}

interface AuthenticatorOptions {
  readonly apiKeys: KeySource;
  /** The prefix that tokens of apps have, and nothing else. */
  readonly appPrefix?: string;
  readonly pepper: string;
  /** The previous pepper, while keys hashed with it are accepted. */
  readonly previousPepper?: string | undefined;
  /** Counts a failed authentication from an address. @throws AppError rate_limited */
  readonly countFailure: (address: string) => Promise<unknown>;
  /**
   * Counts a lookup of a key that was not accepted lately, so may be made up, and returns what gives it back. @throws AppError unavailable if its address
   * has too many
   */
  readonly holdLookup?: (address: string) => () => void;
  /** The clock that decides whether a key has expired, in milliseconds since 1970. */
  readonly now?: () => number;
  /** Called with the stored key of each request; null if there is none, undefined if it is malformed. */
  readonly onFound?: (storedKey: ApiKey | null | undefined) => void;
}

/** Called while a key is being looked up, if it was accepted before (seenKeys.ts), with the caller that it would identify. Must not throw. */
export type OnExpected = (caller: KeyPrincipal) => void;

export type Authenticate = ReturnType<typeof createAuthenticator>['authenticate'];
export type Recognise = ReturnType<typeof createAuthenticator>['recognise'];

/** What a key tells of its caller without being read, for the log. */
export interface KnownKey {
  /** Id in the key, if its checksum is right; not proof that the caller has that key. */
  readonly keyId: string;
  /** Its organisation, if this key was accepted before. */
  readonly organisationId: string | undefined;
}

/** The token of an Authorization header; undefined if it has none. */
export function bearerToken(header: string | undefined): string | undefined {
  return /^Bearer +([^\s]+) *$/i.exec(header ?? '')?.[1];
}

export function createAuthenticator(options: AuthenticatorOptions) {
  const { findKey, knownKey } = keyFinder(options, options.now ?? Date.now);

  async function findAllowedKey(
    authorization: string | undefined,
    address: string,
    onExpected?: OnExpected,
  ): Promise<PresentedKey | Refusal> {
    const lookup = await findKey(authorization, address, onExpected);
    if ('reason' in lookup || isInRanges(address, rangesOf(lookup.key))) return lookup;
    return { reason: 'address', keyId: lookup.key._id, ...ownerOf(lookup.key) };
  }

  return {
    /**
     * Turns an Authorization header into a principal. The key is read from the primary on every call, so a revocation takes
     * effect on every instance as soon as it is acknowledged. `onRefused` is called with the reason before a request is rejected.
     * @throws AppError unauthenticated, the same for every reason, including a disallowed address; rate_limited if the address failed too often.
     */
    authenticate: async (
      authorization: string | undefined,
      address: string,
      onRefused?: (refusal: Refusal) => void,
      onExpected?: OnExpected,
    ): Promise<KeyPrincipal> => {
      const lookup = await findAllowedKey(authorization, address, onExpected);
      if ('reason' in lookup) {
        onRefused?.(lookup);
        await options.countFailure(address);
        throw unauthenticated();
      }
      const { key, secret } = lookup;
      options.apiKeys.markUsed(key, address);
      options.apiKeys.rehash?.(key, secret);
      return toPrincipal(key);
    },
    /** What is known of the key in an Authorization header without reading it; undefined if there is none. */
    knownKey,
    /** Identifies the caller, or the reason why it is rejected, without recording anything. */
    recognise: async (authorization: string | undefined, address: string): Promise<KeyPrincipal | Refusal> => {
      const lookup = await findAllowedKey(authorization, address);
      return 'reason' in lookup ? lookup : toPrincipal(lookup.key);
    },
  };
}

/** Entries (about 1 MB) and TTL (ms) of the cache of rejected keys. */
const REFUSALS_KEPT = { max: 5000, ttl: 10_000 };
/**
 * After this many rejections within the TTL a key is rejected from the cache, so that hammering costs no database calls. Callers that ask less
 * often are looked up each time: after a restore of the database their keys work at once.
 */
const REPEATED_FROM = 100;

/**
 * Finds the active key of an Authorization header. A rejection is permanent (ids are never reused, keys are never reactivated, and the secret
 * of a key never changes but for an app's, to one that nobody has used), so it can be cached; the short TTL covers a restore or failover of the
 * database. Accepted keys are never cached. The cache is keyed by the whole key, not the id in it, so guessing secrets reveals nothing.
 */
function keyFinder(options: AuthenticatorOptions, now: () => number) {
  const { pepper, previousPepper } = options;
  const peppers = previousPepper === undefined ? [pepper] : [pepper, previousPepper];
  const refusals = new LRUCache<string, CachedRefusal>(REFUSALS_KEPT);
  const seen = createSeenKeys(peppers);

  function parse(header: string | undefined) {
    const token = bearerToken(header);
    // any, since keys keep the one that they were made with when KEY_PREFIX changes; the row says which that is
    const prefix = token === undefined ? undefined : prefixOf(token);
    const isShaped = token !== undefined && prefix !== undefined && isShapedLikeKey(token, prefix);
    return { token, prefix, isShaped, parsed: isShaped ? parseKey(token, prefix) : undefined };
  }

  function knownKey(header: string | undefined): KnownKey | undefined {
    const { parsed } = parse(header);
    return parsed && { keyId: parsed.id, organisationId: seen.of(parsed)?.key.organisation.id };
  }

  /**
   * Whether a secret is that of the stored key; without one it takes as long to say no. `rememberedKey` is the same key as read before, with
   * which the secret was just compared: its salt and hash, which also cover the customers.
   */
  function isSecretOf(storedKey: ApiKey | null, secret: string, rememberedKey: ApiKey | undefined): boolean {
    const isUnchanged =
      storedKey !== null &&
      storedKey.salt === rememberedKey?.salt &&
      storedKey.hash === rememberedKey.hash &&
      isDeepStrictEqual(storedKey.restricted, rememberedKey.restricted);
    return isUnchanged || matchesAny(secret, storedKey ?? undefined, peppers);
  }

  async function findKey(
    header: string | undefined,
    address: string,
    onExpected?: OnExpected,
  ): Promise<PresentedKey | Refusal> {
    const { token, prefix, isShaped, parsed } = parse(header);
    if (token === undefined || !parsed) {
      options.onFound?.(undefined);
      if (header === undefined) return { reason: 'missing' };
      return { reason: isShaped ? 'checksum' : 'malformed' };
    }
    // a hash costs a hundredth of a request
    const knownRefusal = refusals.size === 0 ? undefined : refusals.get(digestOf(token));
    if (knownRefusal && knownRefusal.times >= REPEATED_FROM) {
      options.onFound?.(knownRefusal.storedKey);
      return knownRefusal.refusal;
    }
    const remembered = seen.of(parsed);
    const rememberedKey = remembered?.key;
    const release = remembered ? undefined : options.holdLookup?.(address);
    const readsAhead =
      onExpected !== undefined && remembered !== undefined && mayReadAhead(remembered, token, address, new Date(now()));
    let stored: ApiKey | null;
    try {
      const reading = options.apiKeys.find(parsed.id);
      if (readsAhead) {
        remembered.isReadingAhead = true;
        onExpected(toPrincipal(remembered.key));
      }
      stored = await reading;
    } finally {
      release?.();
      // from here, nothing is awaited until the key that was read is noted, so that the next request reads ahead with that one
      if (readsAhead) remembered.isReadingAhead = false;
    }
    // the same id and secret under another prefix, with a matching checksum, is another key; and a token of an app whose row has lost its app
    // would work for as long as the key, instead of an hour
    const isOfApp = prefix === options.appPrefix;
    const storedKey = stored && beginsLike(stored, token) && (stored.app !== undefined) === isOfApp ? stored : null;
    options.onFound?.(storedKey);
    const isRight = isSecretOf(storedKey, parsed.secret, rememberedKey);
    const result = checkKey(storedKey, parsed, isRight, new Date(now()));
    if ('key' in result) {
      seen.note(result.key);
      return result;
    }
    // not for a wrong secret or prefix: ids are no secret, so a stranger could make requests with the real key slower
    if (remembered || isRight || stored === null) seen.forget(parsed.id);
    if (knownRefusal) knownRefusal.times += 1;
    else refusals.set(digestOf(token), { storedKey, refusal: result, times: 1 });
    return result;
  }

  return { findKey, knownKey };
}

interface CachedRefusal {
  readonly storedKey: ApiKey | null;
  readonly refusal: Refusal;
  times: number;
}

interface PresentedKey {
  readonly key: ApiKey;
  readonly secret: string;
}

/** The key if it is accepted (its ranges are checked later), and otherwise why it is not. `isRight` is whether the caller has its secret. */
function checkKey(
  key: ApiKey | null,
  { id, secret }: NonNullable<ReturnType<typeof parseKey>>,
  isRight: boolean,
  now: Date,
): PresentedKey | Refusal {
  if (!key) return { reason: 'unknown', keyId: id };
  if (!isRight) return { reason: 'wrong_secret', keyId: id };
  const state = textState(key, now);
  return state === 'active' ? { key, secret } : { reason: state, keyId: id, ...ownerOf(key) };
}

function ownerOf({ _id: key, organisation }: ApiKey): Pick<Refusal, 'owner'> {
  return { owner: { key, organisation: organisation.id } };
}

function toPrincipal(key: ApiKey): KeyPrincipal {
  return {
    kind: 'key',
    organisation: organisationOf(key),
    scopes: new Set(key.scopes),
    key: {
      id: key._id,
      name: key.name,
      displayPrefix: key.prefix,
      expiresAt: key.expires_at,
      mcp: key.mcp ?? DEFAULT_MCP,
      customerIds: key.restricted?.customer_ids,
    },
  };
}

/** A key's copy of its organisation. Rows from before 0.9 may lack the state, as those of organisations may; they count as active. */
function organisationOf({ organisation }: ApiKey): Organisation {
  return (organisation as Partial<Organisation>).state === undefined
    ? { ...organisation, state: 'active' }
    : organisation;
}

/** @throws AppError organisation_suspended unless the organisation's state allows requests; unavailable while it is being moved */
export function requireState({ state, moving }: Pick<Organisation, 'state' | 'moving'>): void {
  if (!STATES[state].requests) throw new AppError('organisation_suspended', 'The organisation is suspended.');
  if (moving) throw movingError();
}

/** @throws AppError plan_required unless the organisation's plan includes API access, which a sandbox has on every plan */
export function requirePlan(plans: Plans, organisation: Organisation): void {
  if (plans.hasApi(organisation)) return;
  const { plan } = organisation;
  throw new AppError(
    'plan_required',
    plans.has(plan)
      ? "The organisation's plan does not include API access."
      : `The organisation's plan, ${plan}, is not among those of this gateway, so it does not include API access.`,
  );
}

export function unauthenticated(): AppError {
  return new AppError('unauthenticated', 'A valid API key is required: Authorization: Bearer <key>.');
}
