import type { ApiKey } from '../auth/apiKey';
import { requirePlan } from '../auth/authenticate';
import { type AppError, type Fault, notFound, validationFailed } from '../errors';
import {
  type ApiKeys,
  type KeyPageQuery,
  type MadeKey,
  ReplacedKeyError,
  type RotatedKey,
  type Rotation,
  TooManyKeysError,
} from './apiKeys';
import type { Page } from '../database/pagination';
import type { AuditLog, AuditPageQuery } from './audit';
import type { Authority } from './auditEvents';
import type { Attempt } from './keyAnswers';
import type { NewApiKey } from './keyDocuments';
import { type KeyUpdate, ReplacedExpiryError } from './keyUpdate';
import { type KeyUsage, organisationUsageId, type UsagePeriod } from './keyUsage';
import type { Members } from './members';
import type { RequestLog, RequestPageQuery } from './requestLog';
import { type Session, userActor } from './sessions';

interface Stores {
  readonly apiKeys: ApiKeys;
  readonly audit: AuditLog;
  readonly usage: KeyUsage;
  readonly requests: RequestLog;
  readonly members: Members;
}

export type Integrations = ReturnType<typeof integrationsOf>;

/**
 * The keys, usage and audit log of one organisation, for a signed-in user. A key of another organisation is `not_found`,
 * like one that never existed. With an `attempt`, a key is made once however often the request is repeated.
 */
export function integrationsOf(
  session: Session,
  from: string,
  { apiKeys, audit, usage, requests, members }: Stores,
  attempt: Attempt | undefined,
) {
  const { organisation, user } = session;
  const organisationId = organisation.id;
  const by: Authority = { actor: userActor(user, from), organisationId };

  async function requireKey(id: string): Promise<ApiKey> {
    const key = await apiKeys.find(id.toLowerCase());
    if (key?.organisation.id !== organisationId) throw notFound('API key');
    return key;
  }

  function refusePast(end: Date | null): void {
    if (apiKeys.stateOf({ revoked_at: null, expires_at: end }) === 'active') return;
    throw fault({ pointer: '/expires_at', code: 'range', detail: 'must be in the future' });
  }

  return {
    stateOf: apiKeys.stateOf,
    /** A page of keys, and the active keys that those of the page have replaced. */
    async keys(query: Omit<KeyPageQuery, 'organisationId'>): Promise<Page<ApiKey> & { readonly replaced: ApiKey[] }> {
      const page = await apiKeys.page({ ...query, organisationId });
      const active = page.data.filter((key) => apiKeys.stateOf(key) === 'active');
      return {
        ...page,
        replaced: await apiKeys.replacedBy(
          organisationId,
          active.map(({ _id }) => _id),
        ),
      };
    },
    /** @throws AppError not_found */
    key: requireKey,
    /** @throws AppError plan_required, validation_failed; with an attempt as keyAnswers */
    async createKey(input: Omit<NewApiKey, 'organisationId' | 'createdBy'>): Promise<MadeKey> {
      requirePlan(organisation);
      refusePast(input.expiresAt);
      const own = { ...input, organisationId, createdBy: user.name };
      const made = await apiKeys.create(own, by, attempt).catch((error: unknown) => {
        if (!(error instanceof TooManyKeysError)) throw error;
        throw fault({ pointer: '', code: 'too_many', detail: error.detail });
      });
      if (!made) throw notFound('organisation');
      return made;
    },
    /** @throws AppError plan_required, not_found, validation_failed for a key that has ended or was replaced */
    async rotateKey(id: string, rotation: Rotation): Promise<RotatedKey> {
      requirePlan(organisation);
      const key = await requireKey(id);
      if (rotation.expiresAt) refusePast(rotation.expiresAt);
      const rotated = await apiKeys.rotate(key._id, rotation, by, attempt).catch((error: unknown) => {
        if (!(error instanceof ReplacedKeyError)) throw error;
        throw fault({ pointer: '/id', code: 'replaced', detail: error.detail });
      });
      if (!rotated) throw fault({ pointer: '/id', code: 'ended', detail: 'is revoked or expired; create a new key' });
      return rotated;
    },
    /** @throws AppError plan_required, not_found, validation_failed for a key that has ended, or the expiry of one that was replaced */
    async updateKey(id: string, update: KeyUpdate): Promise<ApiKey> {
      requirePlan(organisation);
      const key = await requireKey(id);
      if (update.expiresAt) refusePast(update.expiresAt);
      const updated = await apiKeys.update(key._id, update, by).catch((error: unknown) => {
        if (!(error instanceof ReplacedExpiryError)) throw error;
        throw fault({ pointer: '/expires_at', code: 'replaced', detail: error.detail });
      });
      if (!updated) throw fault({ pointer: '/id', code: 'ended', detail: 'is revoked or expired; create a new key' });
      return updated;
    },
    /** Allowed on every plan, because revoking a key must always be possible. @throws AppError not_found */
    async revokeKey(id: string): Promise<ApiKey> {
      await apiKeys.revoke(id.toLowerCase(), by);
      return requireKey(id);
    },
    /** @throws AppError not_found */
    usage: async (id: string, period: UsagePeriod) => usage.read((await requireKey(id))._id, period),
    /** Of all keys, the revoked and expired ones included. */
    organisationUsage: (period: UsagePeriod) => usage.read(organisationUsageId(organisationId), period),
    /** @throws AppError invalid_request */
    requests: (query: Omit<RequestPageQuery, 'organisationId'>) => requests.page({ ...query, organisationId }),
    /** Who has signed in, newest first. */
    members: () => members.list(organisationId),
    events: (query: Omit<AuditPageQuery, 'organisationId'>) => audit.page({ ...query, organisationId }),
  };
}

function fault(one: Fault): AppError {
  return validationFailed([one]);
}
