import { parseRange, rangeFault } from '../auth/addresses';
import { type ApiKey, nameFault, shownKey } from '../auth/keys';
import { requirePlan } from '../auth/authenticate';
import type { McpAccess } from '../auth/principal';
import { allScopes, isScope, type Scope } from '../auth/scopes';
import { type Fault, notFound, validationFailed } from '../errors';
import { published } from '../schema/model';
import type { OrganisationDataCache } from '../tenant/organisationDataCache';
import { HOUR } from '../units';
import type { ApiKeys, KeyPageQuery, KeyWithSecret } from '../organisations/apiKeys';
import type { Authority } from '../organisations/auditEvents';
import type { Control } from '../organisations/control';
import { shownOnce } from '../organisations/creations';
import { KeyRefused } from '../organisations/keyDocuments';
import type { AdminContext } from './caller';
import { customersOf } from './customerIds';

/* An organisation's keys. A key of another organisation is `not_found`, like one that never existed. */

interface KeyId {
  readonly key_id: string;
}

interface NewKeyArgs {
  readonly name: string;
  readonly scopes: readonly string[];
  /** ISO 8601. */
  readonly expires_at?: string | null;
  readonly allowed_ranges?: readonly string[] | null;
  readonly mcp?: McpAccess | null;
  readonly customer_ids?: readonly string[] | null;
}

interface RotateArgs extends KeyId {
  readonly overlap_hours?: number | null;
  /** ISO 8601. */
  readonly expires_at?: string | null;
}

export interface KeyOptions {
  readonly control: Pick<Control, 'apiKeys' | 'plans'>;
  readonly databases: { readonly organisationData: OrganisationDataCache };
}

/** Members that are undefined or null stay as they are; a null expiry means never. */
type UpdateArgs = KeyId & Partial<Omit<NewKeyArgs, 'customer_ids'>>;

const DEFAULT_OVERLAP_HOURS = published.defaultOf('rotate_key', 'overlap_hours');

export function createKeyOperations(
  { organisation, actor, name: createdBy, once }: AdminContext,
  { control: { apiKeys, plans }, databases }: KeyOptions,
) {
  const organisationId = organisation.id;
  const by: Authority = { actor, organisationId };
  const requireKey = (id: string) => keyOf(apiKeys, organisationId, id);

  const shown = (key: ApiKey) => shownKey(key, apiKeys.stateOf(key));
  const withSecret = ({ key, document }: KeyWithSecret) => ({ key, api_key: shown(document) });

  /**
   * Changes a key if the plan includes integrations. `work` resolves with undefined if the key has ended.
   * @throws AppError plan_required; not_found; validation_failed if `work` refuses, or the key has ended
   */
  async function change<T>(id: string, work: (key: ApiKey) => Promise<T | undefined>): Promise<T> {
    requirePlan(plans, organisation);
    const changed = await work(await requireKey(id)).catch(rethrowKeyRefused);
    if (changed !== undefined) return changed;
    throw validationFailed([{ pointer: '/key_id', code: 'ended', detail: 'is revoked or expired; create a new key' }]);
  }

  /** A given expiry; null for never, undefined if none is given. @throws AppError validation_failed for a time in the past */
  function expiryOf(text: string | null | undefined): Date | null | undefined {
    if (text === null || text === undefined) return text;
    const end = new Date(text);
    if (apiKeys.stateOf({ revoked_at: null, expires_at: end }) === 'active') return end;
    throw validationFailed([{ pointer: '/expires_at', code: 'range', detail: 'must be in the future' }]);
  }

  return {
    /** A page of keys, and the keys that these replaced and that are still active. */
    async keys(query: Omit<KeyPageQuery, 'organisationId'>) {
      const page = await apiKeys.page({ ...query, organisationId });
      const active = page.data.filter((key) => apiKeys.stateOf(key) === 'active').map(({ _id }) => _id);
      const replaced = await apiKeys.replacedBy(organisationId, active);
      return { ...page, data: page.data.map(shown), replaced: replaced.map(shown) };
    },
    key: async ({ key_id }: KeyId) => shown(await requireKey(key_id)),
    async create_key(args: NewKeyArgs) {
      return once(
        { organisationId, operation: 'create_key', args },
        async (noteId) => {
          // the defaults are for the compiler: the SDL requires both
          const { name = '', scopes = [], ...read } = readArguments(args);
          requirePlan(plans, organisation);
          const more = {
            name,
            scopes,
            organisationId,
            created_by: createdBy,
            expires_at: expiryOf(args.expires_at) ?? null,
            customerIds: await customersOf(databases.organisationData(organisation), args.customer_ids),
          };
          const created = await apiKeys.create({ ...read, ...more }, by, noteId).catch(rethrowKeyRefused);
          if (!created) throw notFound('organisation');
          return withSecret(created);
        },
        (id) => Promise.reject(shownOnce('API key', id, 'revoke')),
      );
    },
    /** Without an expiry, the new key gets the lifetime of the old one. */
    async rotate_key({ key_id, overlap_hours, expires_at }: RotateArgs) {
      const overlap = (overlap_hours ?? DEFAULT_OVERLAP_HOURS) * HOUR;
      const rotated = await change(key_id, ({ _id }) =>
        apiKeys.rotate(_id, { overlap, expiresAt: expiryOf(expires_at ?? undefined) }, by),
      );
      return { ...withSecret(rotated), old: shown(rotated.old) };
    },
    async update_key({ key_id, ...args }: UpdateArgs) {
      const read = readArguments(args);
      const updated = await change(key_id, ({ _id }) =>
        apiKeys.update(_id, { ...read, expires_at: expiryOf(args.expires_at) }, by),
      );
      return shown(updated);
    },
    /** Allowed on every plan, because revoking a key must always be possible. */
    async revoke_key({ key_id }: KeyId) {
      await apiKeys.revoke(key_id.toLowerCase(), by);
      return shown(await requireKey(key_id));
    },
  };
}

/** A key of the organisation. @throws AppError not_found */
export async function keyOf(apiKeys: ApiKeys, organisationId: string, id: string): Promise<ApiKey> {
  const key = await apiKeys.find(id.toLowerCase());
  if (key?.organisation.id !== organisationId) throw notFound('API key');
  return key;
}

/** @throws AppError validation_failed for a KeyRefused; any other error unchanged */
function rethrowKeyRefused(error: unknown): never {
  throw error instanceof KeyRefused ? validationFailed([error.fault]) : error;
}

/** The arguments as stored, without the expiry; null and missing ones are undefined. @throws AppError validation_failed with every fault */
function readArguments({ name, scopes, allowed_ranges, mcp }: Partial<NewKeyArgs>) {
  const faults: Fault[] = [];
  const plainName = name?.trim();
  const detail = plainName === undefined ? undefined : nameFault(plainName);
  if (detail !== undefined) faults.push({ pointer: '/name', code: 'format', detail });
  const granted = scopes?.filter((scope, at): scope is Scope => {
    if (isScope(scope)) return true;
    const mustBe = `must be one of ${allScopes().join(', ')}`;
    faults.push({ pointer: `/scopes/${String(at)}`, code: 'not_allowed', detail: mustBe });
    return false;
  });
  const ranges = allowed_ranges?.flatMap((text, at) => {
    const range = parseRange(text.trim());
    const pointer = `/allowed_ranges/${String(at)}`;
    if (range === undefined) faults.push({ pointer, code: 'format', detail: rangeFault(text.trim()) });
    return range ?? [];
  });
  if (faults.length > 0) throw validationFailed(faults);
  return { name: plainName, scopes: granted, allowed_ranges: ranges, mcp: mcp ?? undefined };
}
