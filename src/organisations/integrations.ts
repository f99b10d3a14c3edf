import { parseRange, rangeFault } from '../auth/addresses';
import { type ApiKey, nameFault, shownKey } from '../auth/keys';
import { requirePlan } from '../auth/authenticate';
import type { McpAccess, Organisation } from '../auth/principal';
import { allScopes, isScope, type Scope } from '../auth/scopes';
import type { Page } from '../database/pagination';
import { type Fault, notFound, validationFailed } from '../errors';
import { HOUR } from '../units';
import type { ApiKeys, KeyPageQuery, MadeKey } from './apiKeys';
import type { AuditLog, AuditPageQuery } from './audit';
import type { Actor, Authority } from './auditEvents';
import type { AuditEvent } from './auditRows';
import type { NoteId } from './creations';
import { KeyRefused } from './keyDocuments';
import { type KeyUsage, organisationUsageId, type UsagePeriod, type UsageReport } from './keyUsage';
import type { Sessions } from './sessions';
import type { UsageCounts } from './usageRows';
import type { RequestLog, RequestPageQuery } from './requestLog';
import type { RequestRow } from './requestRows';

interface Stores {
  readonly apiKeys: ApiKeys;
  readonly audit: AuditLog;
  readonly usage: KeyUsage;
  readonly requests: RequestLog;
  readonly sessions: Pick<Sessions, 'members'>;
}

interface KeyId {
  readonly id: string;
}

interface NewKeyArgs {
  readonly name: string;
  readonly scopes: readonly string[];
  /** ISO 8601. */
  readonly expires_at?: string | null;
  readonly allowed_ranges?: readonly string[] | null;
  readonly mcp?: McpAccess | null;
}

interface RotateArgs extends KeyId {
  readonly overlap_hours?: number | null;
  /** ISO 8601. */
  readonly expires_at?: string | null;
}

/** Undefined members stay as they are. */
type UpdateArgs = KeyId & Partial<Omit<NewKeyArgs, 'scopes'>>;

const DEFAULT_OVERLAP_HOURS = 24;

export type Integrations = ReturnType<typeof integrationsOf>;

/** Who acts for an organisation. */
interface Integrator {
  readonly organisation: Organisation;
  /** Id of the organisation that has the users: this one, or the owner if this is a sandbox. */
  readonly home: string;
  /** The name shown as the creator of new keys. */
  readonly name: string;
  readonly actor: Actor;
}

/**
 * Operations on one organisation's keys, usage and audit log, for a signed-in user or an operator, named as in
 * schema/settings.graphql. A key of another organisation is `not_found`, like one that never existed.
 */
export function integrationsOf(
  { organisation, home, name: createdBy, actor }: Integrator,
  { apiKeys, audit, usage, requests, sessions }: Stores,
) {
  const organisationId = organisation.id;
  const by: Authority = { actor, organisationId };

  const shown = (key: ApiKey) => shownKey(key, apiKeys.stateOf(key));
  const made = ({ key, document }: MadeKey) => ({ key, api_key: shown(document) });

  /** @throws AppError not_found */
  async function requireKey(id: string): Promise<ApiKey> {
    const key = await apiKeys.find(id.toLowerCase());
    if (key?.organisation.id !== organisationId) throw notFound('API key');
    return key;
  }

  /** Changes a key if the plan includes integrations. @throws AppError plan_required; not_found; validation_failed if the key has ended */
  async function change<T>(id: string, work: (key: ApiKey) => Promise<T | undefined>): Promise<T> {
    requirePlan(organisation);
    const changed = await work(await requireKey(id)).catch(explain);
    if (changed !== undefined) return changed;
    throw validationFailed([{ pointer: '/id', code: 'ended', detail: 'is revoked or expired; create a new key' }]);
  }

  /** @throws AppError validation_failed for a time in the past */
  function expiryOf(text: string | null | undefined): Date | null | undefined {
    if (text === null || text === undefined) return text;
    const end = new Date(text);
    if (apiKeys.stateOf({ revoked_at: null, expires_at: end }) === 'active') return end;
    throw validationFailed([{ pointer: '/expires_at', code: 'range', detail: 'must be in the future' }]);
  }

  return {
    /** A page of keys, and the keys that these replaced and that are still active. */
    async api_keys(query: Omit<KeyPageQuery, 'organisationId'>) {
      const page = await apiKeys.page({ ...query, organisationId });
      const active = page.data.filter((key) => apiKeys.stateOf(key) === 'active').map(({ _id }) => _id);
      const replaced = await apiKeys.replacedBy(organisationId, active);
      return { ...mapPage(page, shown), replaced: replaced.map(shown) };
    },
    api_key: async ({ id }: KeyId) => shown(await requireKey(id)),
    key_usage: async ({ id, period }: KeyId & { readonly period: UsagePeriod }) =>
      withSums(await usage.read((await requireKey(id))._id, period)),
    /** The usage of all keys, by day. */
    usage_between: async ({ from, to }: { readonly from: Date; readonly to: Date }) =>
      withSums(await usage.readDays(organisationUsageId(organisationId), from, to)),
    /** The usage of all keys, including revoked and expired ones. */
    organisation_usage: async ({ period }: { readonly period: UsagePeriod }) =>
      withSums(await usage.read(organisationUsageId(organisationId), period)),
    request_log: async (query: Omit<RequestPageQuery, 'organisationId'>) =>
      mapPage(await requests.page({ ...query, organisationId }), loggedRequest),
    request_counts: async (query: Omit<RequestPageQuery, 'organisationId' | 'limit' | 'cursor'>) => ({
      data: await requests.countByKey({ ...query, organisationId }),
    }),
    members: () => sessions.members(home),
    audit_events: async (query: Omit<AuditPageQuery, 'organisationId'>) =>
      mapPage(await audit.page({ ...query, organisationId }), auditEvent),

    async create_api_key(args: NewKeyArgs, noteId?: NoteId) {
      const { name = '', ...read } = readArguments(args);
      requirePlan(organisation);
      const more = { name, organisationId, created_by: createdBy, expires_at: expiryOf(args.expires_at) ?? null };
      const created = await apiKeys.create({ ...read, ...more }, by, noteId).catch(explain);
      if (!created) throw notFound('organisation');
      return made(created);
    },
    async rotate_api_key({ id, overlap_hours, expires_at }: RotateArgs) {
      const overlap = (overlap_hours ?? DEFAULT_OVERLAP_HOURS) * HOUR;
      const rotated = await change(id, ({ _id }) =>
        apiKeys.rotate(_id, { overlap, expiresAt: expiryOf(expires_at ?? undefined) }, by),
      );
      return { ...made(rotated), old: shown(rotated.old) };
    },
    async update_api_key({ id, ...args }: UpdateArgs) {
      const { name, allowed_ranges, mcp } = readArguments(args);
      // only the expiry can be null, which means never
      const updated = await change(id, ({ _id }) =>
        apiKeys.update(_id, { name, allowed_ranges, mcp, expires_at: expiryOf(args.expires_at) }, by),
      );
      return shown(updated);
    },
    /** Allowed on every plan, because revoking a key must always be possible. */
    async revoke_api_key({ id }: KeyId) {
      await apiKeys.revoke(id.toLowerCase(), by);
      return shown(await requireKey(id));
    },
  };
}

function explain(error: unknown): never {
  throw error instanceof KeyRefused ? validationFailed([error.fault]) : error;
}

/** @throws AppError validation_failed with every fault */
function readArguments({ name, scopes = [], allowed_ranges, mcp }: Partial<NewKeyArgs>) {
  const faults: Fault[] = [];
  const plainName = name?.trim();
  const detail = plainName === undefined ? undefined : nameFault(plainName);
  if (detail !== undefined) faults.push({ pointer: '/name', code: 'format', detail });
  const granted = scopes.filter((scope, at): scope is Scope => {
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

function mapPage<From, To>(page: Page<From>, map: (row: From) => To): Page<To> {
  return { ...page, data: page.data.map(map) };
}

function withSums(report: UsageReport) {
  const sum = (count: keyof UsageCounts): number => report.buckets.reduce((total, bucket) => total + bucket[count], 0);
  const sums = { requests: sum('requests'), errors: sum('errors'), rate_limited: sum('rate_limited'), mcp: sum('mcp') };
  return { ...sums, ...report };
}

function loggedRequest({ _id: id, organisation_id: _, failed: __, ...row }: RequestRow) {
  return { id, ...row };
}

function auditEvent({ _id: id, at, action, actor, key_id, times = 1, last_at = at, details }: AuditEvent) {
  const { who, name, from } = actor;
  const what = { id, at, times, last_at, action, actor: who, actor_name: name ?? null, from, key_id };
  return { ...what, details: JSON.stringify(details) };
}
