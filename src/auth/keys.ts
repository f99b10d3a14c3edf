import { createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import baseX from 'base-x';
import type { ConnectedApp } from './connectedApp';
import { DEFAULT_MCP, type McpAccess, type Organisation } from './principal';
import type { Scope } from './scopes';

/*
 * The format of API keys: <prefix><key id>_<secret><checksum>, all base62. The key id is the key's UUID in 22 characters,
 * the secret is 256 random bits in 43, and the checksum is the CRC-32 of everything before it in 6, so that typos and
 * made-up keys are rejected without a lookup and secret scanners can recognise real keys.
 */
const base62 = baseX('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz');
const ID_LENGTH = 22;
const SECRET_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const SALT_BYTES = 16;
/** Characters of the id in {@link NewKey.displayPrefix}: too few to find the key by, enough to tell keys apart. */
const ID_CHARACTERS_SHOWN = 6;

export const DEFAULT_KEY_PREFIX = 'svc_live_';
/** The prefix of a sandbox's keys. */
export const DEFAULT_TEST_KEY_PREFIX = 'svc_test_';
/** The prefix of the access tokens of connected apps. */
export const DEFAULT_APP_KEY_PREFIX = 'svc_app_';

/** What is stored of a key's secret: enough to verify it, not to recover it. The customers of a restricted key are hashed with it. */
export interface KeySecret {
  /** 16 random bytes, base64. */
  readonly salt: string;
  /** HMAC-SHA-256 over salt and secret, keyed with the pepper (empty if not set), base64. */
  readonly hash: string;
  readonly restricted?: RestrictedKey;
}

/** What a key has that is restricted to customers (docs/decisions/restricted-keys.md). Never changed but for the ranges. */
interface RestrictedKey {
  readonly customer_ids: readonly string[];
  /** Its ranges; the key itself has {@link NOWHERE}. */
  readonly allowed_ranges: readonly string[];
}

/** The `allowed_ranges` of a restricted key, for versions that do not know `restricted`: no caller comes from there, so a rotation by them, which drops the restriction, gives a key that works nowhere. */
export const NOWHERE = '::/128';

export interface NewKey extends KeySecret {
  /** UUID. */
  readonly id: string;
  /** The whole key; shown once, never stored. */
  readonly key: string;
  /** Its configured prefix and the first characters of its id, to identify it in lists. */
  readonly displayPrefix: string;
  readonly lastFour: string;
}

/** Creates a key with a configured prefix (`svc_live_`), which may be restricted to customers. */
export function generateKey(prefix: string, pepper: string, customerIds?: readonly string[]): NewKey {
  const id = randomUUID();
  const secret = newSecret();
  const key = writeKey(prefix, id, secret);
  return {
    id,
    key,
    displayPrefix: key.slice(0, prefix.length + ID_CHARACTERS_SHOWN),
    lastFour: key.slice(-4),
    ...hashWithNewSalt(secret, pepper, customerIds),
  };
}

/** 256 bits as a secret. */
export const secretOf = (bits: Uint8Array): string => encode(bits, SECRET_LENGTH);

/** A secret of 256 random bits. */
export const newSecret = (): string => secretOf(randomBytes(32));

/** The text of a key. */
export function writeKey(prefix: string, id: string, secret: string): string {
  const body = `${prefix}${encode(uuidBytes(id), ID_LENGTH)}_${secret}`;
  return body + checksum(body);
}

export function hashWithNewSalt(secret: string, pepper: string, customerIds?: readonly string[]) {
  const salt = randomBytes(SALT_BYTES).toString('base64');
  return { salt, hash: hashSecret(boundTo(customerIds, secret), salt, pepper) };
}

/** What is hashed of a secret: with its customers, so that neither an earlier version nor a row that lost them accepts a restricted key. */
function boundTo(customerIds: readonly string[] | undefined, secret: string): string {
  return customerIds ? `${secret} ${customerIds.join()}` : secret;
}

/**
 * Matches keys with any prefix, up to five words of 40 characters (longer ones are left in part), and keys that were cut after 8 characters of the
 * secret: fewer tell nobody anything, and other texts look so. A match starts at a word boundary, or 40 characters before the end of its first
 * part: any other start would cost up to 400 steps and match less.
 */
export const KEY_TEXT =
  /(?:(?<![0-9A-Za-z])|(?=[0-9A-Za-z]{40}_))(?:[0-9A-Za-z]{1,40}_){1,5}?[0-9A-Za-z]{22}_[0-9A-Za-z_]{8,}/g;

/** Length from which {@link KEY_TEXT} matches whatever begins like a key, however it goes on: a text cut there cannot hide one. */
export const KEY_TEXT_SEEN = 5 * 41 + ID_LENGTH + 1 + 8;

const LENGTH_AFTER_PREFIX = ID_LENGTH + 1 + SECRET_LENGTH + CHECKSUM_LENGTH;

/** The prefix of a string, if that is a key of whatever gateway. */
export function prefixOf(text: string): string {
  return text.slice(0, -LENGTH_AFTER_PREFIX);
}

/** Whether a string has the length, the prefix and the separator of a key. */
export function isShapedLikeKey(text: string, prefix: string): boolean {
  const isLong = text.length === prefix.length + LENGTH_AFTER_PREFIX;
  return isLong && text.startsWith(prefix) && text[prefix.length + ID_LENGTH] === '_';
}

/** Parses a key, or undefined if its format or checksum is wrong. Needs no database. */
export function parseKey(text: string, prefix: string): { id: string; secret: string } | undefined {
  if (!isShapedLikeKey(text, prefix)) return undefined;
  const idEnd = prefix.length + ID_LENGTH;
  const secretEnd = idEnd + 1 + SECRET_LENGTH;
  const body = text.slice(0, secretEnd);
  if (checksum(body) !== text.slice(secretEnd)) return undefined;
  const idBytes = base62.decodeUnsafe(text.slice(prefix.length, idEnd));
  const secret = text.slice(idEnd + 1, secretEnd);
  if (idBytes === undefined || base62.decodeUnsafe(secret) === undefined) return undefined;
  const id = bytesToUuid(idBytes);
  return id === undefined ? undefined : { id, secret };
}

export function hashSecret(secret: string, salt: string, pepper: string): string {
  return createHmac('sha256', pepper).update(Buffer.from(salt, 'base64')).update(secret).digest('base64');
}

const DECOY: KeySecret = { salt: randomBytes(SALT_BYTES).toString('base64'), hash: randomBytes(32).toString('base64') };

/** Whether a secret matches the stored hash, in constant time. An unknown key is compared with a decoy, so that it costs the same. */
export function secretMatches(secret: string, stored: KeySecret | undefined, pepper: string): boolean {
  const target = stored ?? DECOY;
  const bound = boundTo(target.restricted?.customer_ids, secret);
  const actual = Buffer.from(hashSecret(bound, target.salt, pepper), 'base64');
  const expected = Buffer.from(target.hash, 'base64');
  return actual.length === expected.length && timingSafeEqual(actual, expected) && stored !== undefined;
}

/** Whether a secret was hashed with one of the peppers. All are tried, so that timing reveals neither which one, nor whether the key exists. */
export function matchesAny(secret: string, stored: KeySecret | undefined, peppers: readonly string[]): boolean {
  return peppers.map((pepper) => secretMatches(secret, stored, pepper)).includes(true);
}

/** The last characters of a key: the CRC-32 of `body`, which is all before them. */
export function checksum(body: string): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc32(body));
  return encode(bytes, CHECKSUM_LENGTH);
}

/** Base62 of a fixed length: leading zero bytes and short numbers are padded with 0. */
function encode(bytes: Uint8Array, length: number): string {
  const firstDigit = bytes.findIndex((byte) => byte !== 0);
  const digits = firstDigit === -1 ? '' : base62.encode(bytes.subarray(firstDigit));
  return digits.padStart(length, '0');
}

function uuidBytes(id: string): Uint8Array {
  return Buffer.from(id.replaceAll('-', ''), 'hex');
}

function bytesToUuid(bytes: Uint8Array): string | undefined {
  // base-x turns each leading 0 digit into a zero byte, so a padded number arrives with more than 16 bytes
  const digits = Buffer.from(bytes)
    .toString('hex')
    .replace(/^(00)+/, '');
  if (digits.length > 32) return undefined;
  const hex = digits.padStart(32, '0');
  // runs on every request, and a regular expression would take three times as long
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

export interface ApiKey {
  /** UUID. */
  readonly _id: string;
  readonly organisation: Organisation;
  readonly name: string;
  /** The start of its text that lists show: `displayPrefix` of {@link NewKey}. */
  readonly prefix: string;
  readonly last_four: string;
  readonly salt: string;
  readonly hash: string;
  /** Which of the peppers that the gateway has had, counted from 0, it is hashed with (organisations/pepper.ts). */
  readonly pepper?: number;
  readonly scopes: readonly Scope[];
  readonly created_by: string;
  readonly created_at: Date;
  readonly expires_at: Date | null;
  readonly revoked_at: Date | null;
  readonly last_used_at: Date | null;
  /** Network address of the last use. */
  readonly last_used_from: string | null;
  /** CIDR ranges it may be used from; empty means anywhere. Read them by {@link rangesOf}. */
  readonly allowed_ranges: readonly string[];
  /** Missing unless it is restricted to customers. */
  readonly restricted?: RestrictedKey;
  /** Id of the key that replaces it. */
  readonly rotated_to: string | null;
  /** What it may do over MCP; {@link DEFAULT_MCP} if missing. */
  readonly mcp?: McpAccess;
  /** The connected app that this key stands for, whose current access token `salt` and `hash` are of; missing of a key that somebody holds. */
  readonly app?: ConnectedApp;
}

/** Whether a text begins as a key is shown: with the configured prefix that it was made with, and the first characters of its id. */
export const beginsLike = ({ prefix: displayPrefix }: Pick<ApiKey, 'prefix'>, text: string): boolean =>
  text.startsWith(displayPrefix);

/** CIDR ranges that a key may be used from; empty means anywhere. */
export const rangesOf = ({ restricted, allowed_ranges }: Pick<ApiKey, 'restricted' | 'allowed_ranges'>) =>
  restricted?.allowed_ranges ?? allowed_ranges;

export type KeyState = 'active' | 'revoked' | 'expired';

/** Whether a key is active, and if not, why. */
export function keyState({ revoked_at, expires_at }: Pick<ApiKey, 'revoked_at' | 'expires_at'>, now: Date): KeyState {
  if (revoked_at !== null) return 'revoked';
  return expires_at !== null && expires_at <= now ? 'expired' : 'active';
}

/** Whether the text of a key, or the access token of an app, is accepted, and if not, why. */
export function textState(key: Pick<ApiKey, 'revoked_at' | 'expires_at' | 'app'>, now: Date): KeyState {
  const state = keyState(key, now);
  if (key.app === undefined || state !== 'active') return state;
  const { tokens } = key.app;
  return tokens !== undefined && tokens.access_ends_at > now ? 'active' : 'expired';
}

/**
 * Control characters, and invisible or bidirectional ones that would let a name pose as another; not the joiners (of graphemes, of zero width) and the
 * first 16 variation selectors, which scripts and emoji need. The others, and tags, could carry whole texts that nobody sees.
 */
const UNSAFE =
  /(?![\u034f\u200c\u200d\ufe00-\ufe0f])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u;
/** A letter, digit, punctuation mark or symbol: visible by itself, as spaces and combining marks are not. */
const VISIBLE = /[\p{L}\p{N}\p{P}\p{S}]/u;

/** Why a string cannot be the name of a key, an organisation or a user, as a clause; undefined if it can. Does not check its length. */
export function nameFault(name: string): string | undefined {
  if (!VISIBLE.test(name) || UNSAFE.test(name)) return 'must be one non-blank line of visible characters';
  // every member can read names
  return name.search(KEY_TEXT) === -1 ? undefined : 'must not contain an API key';
}

/** A key as every API and command shows it. An allowlist, so that neither its hash nor a member added later can leak. */
export function shownKey(key: ApiKey, state: KeyState) {
  const { name, prefix, last_four, scopes, created_by, created_at, expires_at, revoked_at } = key;
  const { last_used_at, last_used_from, rotated_to, mcp = DEFAULT_MCP, app } = key;
  return {
    id: key._id,
    name,
    prefix,
    last_four,
    scopes,
    created_by,
    created_at,
    expires_at,
    revoked_at,
    last_used_at,
    last_used_from,
    allowed_ranges: rangesOf(key),
    customer_ids: key.restricted?.customer_ids ?? null,
    rotated_to,
    mcp,
    kind: app ? 'app' : 'key',
    app: app ? { client_id: app.client_id, host: app.host } : null,
    state,
  };
}
