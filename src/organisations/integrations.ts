import type { ApiKey } from '../access/apiKey';
import { requirePlan } from '../access/authenticate';
import type { Scope } from '../access/scopes';
import { type AppError, type Fault, notFound, validationFailed } from '../errors';
import type { ListArguments, Page } from '../database/pagination';
import type { ApiKeys, Authority, KeyPageQuery, MadeKey, Rotation } from './apiKeys';
import type { AuditLog, AuditPageQuery } from './audit';
import type { AuditEvent } from './auditEvents';
import type { KeyUsage, UsageBucket, UsagePeriod } from './keyUsage';
import { type Session, userActor } from './sessions';

export interface KeyInput {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt: Date | null;
  readonly allowedRanges: readonly string[];
}

/**
 * The keys, usage and audit log of one organisation, for a signed-in user. A key of another organisation is `not_found`,
 * like one that never existed.
 */
export interface Integrations {
  keys(query: ListArguments & Pick<KeyPageQuery, 'state'>): Promise<Page<ApiKey>>;
  /** @throws AppError plan_required, validation_failed */
  createKey(input: KeyInput): Promise<MadeKey>;
  /** @throws AppError plan_required, not_found, validation_failed for a key that has ended */
  rotateKey(id: string, rotation: Rotation): Promise<MadeKey & { readonly old: ApiKey }>;
  /** Allowed on every plan, because revoking a key must always be possible. @throws AppError not_found */
  revokeKey(id: string): Promise<ApiKey>;
  /** @throws AppError not_found */
  usage(id: string, period: UsagePeriod): Promise<UsageBucket[]>;
  events(query: Omit<AuditPageQuery, 'organisationId'>): Promise<Page<AuditEvent>>;
}

interface Stores {
  readonly apiKeys: ApiKeys;
  readonly audit: AuditLog;
  readonly usage: KeyUsage;
}

export function integrationsOf(session: Session, from: string, { apiKeys, audit, usage }: Stores): Integrations {
  const { organisation, user } = session;
  const organisationId = organisation.id;
  const by: Authority = { actor: userActor(user, from), organisationId };

  async function requireKey(id: string): Promise<ApiKey> {
    const key = await apiKeys.find(id.toLowerCase());
    if (key?.organisation.id !== organisationId) throw notFound('API key');
    return key;
  }

  return {
    keys: (query) => apiKeys.page({ ...query, organisationId }),
    async createKey(input) {
      requirePlan(organisation);
      refusePast(input.expiresAt);
      const made = await apiKeys.create({ ...input, organisationId, createdBy: user.name }, by);
      if (!made) throw notFound('organisation');
      return made;
    },
    async rotateKey(id, rotation) {
      requirePlan(organisation);
      const key = await requireKey(id);
      if (rotation.expiresAt) refusePast(rotation.expiresAt);
      const rotated = await apiKeys.rotate(key._id, rotation, by);
      if (!rotated) throw fault({ pointer: '/id', code: 'ended', detail: 'is revoked or expired; create a new key' });
      return rotated;
    },
    async revokeKey(id) {
      await apiKeys.revoke(id.toLowerCase(), by);
      return requireKey(id);
    },
    usage: async (id, period) => usage.read((await requireKey(id))._id, period),
    events: (query) => audit.page({ ...query, organisationId }),
  };
}

function refusePast(end: Date | null): void {
  if (end === null || end > new Date()) return;
  throw fault({ pointer: '/expires_at', code: 'range', detail: 'must be in the future' });
}

function fault(one: Fault): AppError {
  return validationFailed([one]);
}
