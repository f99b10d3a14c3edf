import { parseRange, rangeFault } from '../auth/addresses';
import { ALL_SCOPES, isScope, type Scope } from '../auth/scopes';
import type { RequestContext } from '../operations/context';
import { type Fault, validationFailed } from '../errors';
import { type ApiKey, nameFault } from '../auth/apiKey';
import { DEFAULT_MCP, type McpAccess } from '../auth/mcpAccess';
import type { MadeKey } from '../organisations/apiKeys';
import type { AuditEvent } from '../organisations/auditEvents';
import type { Integrations } from '../organisations/integrations';
import type { KeyUpdate } from '../organisations/keyUpdate';
import type { UsagePeriod, UsageReport } from '../organisations/keyUsage';
import type { UsageCounts } from '../organisations/models';
import type { RequestRow } from '../organisations/requestRows';
import type { Page } from '../database/pagination';
import { HOUR } from '../units';

interface NewKeyArgs {
  readonly name: string;
  readonly scopes: readonly string[];
  /** ISO 8601. */
  readonly expires_at?: string | null;
  readonly allowed_ranges?: readonly string[] | null;
  readonly mcp?: McpAccess | null;
}

interface RotateArgs {
  readonly id: string;
  readonly overlap_hours?: number | null;
  /** ISO 8601. */
  readonly expires_at?: string | null;
}

/** What is undefined stays. */
interface UpdateArgs extends Partial<Omit<NewKeyArgs, 'scopes'>> {
  readonly id: string;
}

const DEFAULT_OVERLAP_HOURS = 24;

/** The operations of the settings page: they translate arguments and results; {@link Integrations} has the rules. */
export const settingsResolvers = {
  Query: {
    api_keys: resolver(async (own, args: Parameters<Integrations['keys']>[0]) => {
      const { replaced, ...page } = await own.keys(args);
      return { ...mapPage(page, keyOf(own)), replaced: replaced.map(keyOf(own)) };
    }),
    api_key: resolver(async (own, { id }: { id: string }) => keyOf(own)(await own.key(id))),
    key_usage: resolver(async (own, { id, period }: { id: string; period: UsagePeriod }) =>
      withSums(await own.usage(id, period)),
    ),
    organisation_usage: resolver(async (own, { period }: { period: UsagePeriod }) =>
      withSums(await own.organisationUsage(period)),
    ),
    request_log: resolver(async (own, args: Parameters<Integrations['requests']>[0]) =>
      mapPage(await own.requests(args), toLogged),
    ),
    members: resolver((own) => own.members()),
    audit_events: resolver(async (own, args: Parameters<Integrations['events']>[0]) =>
      mapPage(await own.events(args), toEvent),
    ),
  },
  Mutation: {
    create_api_key: resolver(async (own, args: NewKeyArgs) => toMade(own, await own.createKey(readNewKey(args)))),
    rotate_api_key: resolver(async (own, { id, overlap_hours, expires_at }: RotateArgs) => {
      const overlap = (overlap_hours ?? DEFAULT_OVERLAP_HOURS) * HOUR;
      const rotated = await own.rotateKey(id, { overlap, expiresAt: toDate(expires_at) });
      return { ...toMade(own, rotated), old: keyOf(own)(rotated.old) };
    }),
    update_api_key: resolver(async (own, { id, ...args }: UpdateArgs) =>
      keyOf(own)(await own.updateKey(id, readUpdate(args))),
    ),
    revoke_api_key: resolver(async (own, { id }: { id: string }) => keyOf(own)(await own.revokeKey(id))),
  },
};

/** A resolver from the operation on the keys of the user's own organisation. */
function resolver<Args, Result>(run: (own: Integrations, args: Args) => Result) {
  return (_: unknown, args: Args, { integrations }: RequestContext): Result => {
    // the guard only admits users, whose context always has this
    if (!integrations) throw new Error('the context of a key has no integrations');
    return run(integrations, args);
  };
}

/** @throws AppError validation_failed with every fault */
function readNewKey({ name, scopes, expires_at, allowed_ranges, mcp }: NewKeyArgs) {
  const faults: Fault[] = [];
  const plainName = readName(name, faults);
  const granted = scopes.filter((scope, at): scope is Scope => {
    const detail = `must be one of ${ALL_SCOPES.join(', ')}`;
    if (!isScope(scope)) faults.push({ pointer: `/scopes/${String(at)}`, code: 'not_allowed', detail });
    return isScope(scope);
  });
  const ranges = readRanges(allowed_ranges ?? [], faults);
  if (faults.length > 0) throw validationFailed(faults);
  const expiresAt = toDate(expires_at) ?? null;
  return { name: plainName, scopes: granted, expiresAt, allowedRanges: ranges, mcp: mcp ?? undefined };
}

/** What to change; only for an expiry is null a value, that it never comes. @throws AppError validation_failed with every fault */
function readUpdate({ name, expires_at, allowed_ranges, mcp }: Omit<UpdateArgs, 'id'>): KeyUpdate {
  const faults: Fault[] = [];
  const update = {
    name: typeof name === 'string' ? readName(name, faults) : undefined,
    expiresAt: expires_at === null ? null : toDate(expires_at),
    allowedRanges: allowed_ranges ? readRanges(allowed_ranges, faults) : undefined,
    mcp: mcp ?? undefined,
  };
  if (faults.length > 0) throw validationFailed(faults);
  return update;
}

function readName(name: string, faults: Fault[]): string {
  const plainName = name.trim();
  const detail = nameFault(plainName);
  if (detail !== undefined) faults.push({ pointer: '/name', code: 'format', detail });
  return plainName;
}

function readRanges(texts: readonly string[], faults: Fault[]): string[] {
  return texts.flatMap((text, at) => {
    const range = parseRange(text.trim());
    const pointer = `/allowed_ranges/${String(at)}`;
    if (range === undefined) faults.push({ pointer, code: 'format', detail: rangeFault(text.trim()) });
    return range ?? [];
  });
}

function toDate(text: string | null | undefined): Date | undefined {
  return text === null || text === undefined ? undefined : new Date(text);
}

function mapPage<From, To>(page: Page<From>, map: (row: From) => To): Page<To> {
  return { ...page, data: page.data.map(map) };
}

function toMade(own: Integrations, { key, document }: MadeKey) {
  return { key, api_key: keyOf(own)(document) };
}

/** A key in the API, as an allowlist of members: a hash can never leak. */
const keyOf = (own: Integrations) => (key: ApiKey) => {
  const { name, prefix, last_four, scopes, created_by, created_at, expires_at, revoked_at } = key;
  const { last_used_at, last_used_from, allowed_ranges, rotated_to } = key;
  return {
    ...{ id: key._id, name, prefix, last_four, scopes, created_by, created_at, expires_at, revoked_at },
    ...{ last_used_at, last_used_from, allowed_ranges, rotated_to, state: own.stateOf(key) },
    mcp: key.mcp ?? DEFAULT_MCP,
  };
};

function withSums(report: UsageReport) {
  const sum = (count: keyof UsageCounts): number => report.buckets.reduce((total, bucket) => total + bucket[count], 0);
  const sums = { requests: sum('requests'), errors: sum('errors'), rate_limited: sum('rate_limited'), mcp: sum('mcp') };
  return { ...sums, ...report };
}

function toLogged({ _id: id, organisation_id: _, failed: __, ...row }: RequestRow) {
  return { id, ...row };
}

function toEvent({ _id: id, at, action, actor, key_id, details }: AuditEvent) {
  const { who, name, from } = actor;
  return { id, at, action, actor: who, actor_name: name ?? null, from, key_id, details: JSON.stringify(details) };
}
