import type { ClientSession, Model } from 'mongoose';
import type { ApiKey } from '../auth/keys';
import type { OrganisationState, Plan, User } from '../auth/principal';
import type { Role } from '../auth/roles';
import { type Collection, definedByType, modelOf } from '../database/collection';
import type { Databases } from '../database/connect';
import { nativeCollection } from '../database/native';
import type { AuditEvent } from './auditEvents';
import type { JobRow } from './jobRows';
import { auditRecorder, type RecordEvent } from './auditRecorder';
import { ENDED_KEYS_KEPT } from './keyDocuments';
import { requestRows } from './requestRows';
import type { DetailColumns } from './usageDetails';
import { webhookEndpoints } from './webhookRows';

export interface OrganisationDocument {
  /** UUID. */
  readonly _id: string;
  readonly name: string;
  readonly plan: Plan;
  readonly currency: string;
  /** Active if it is missing. */
  readonly state?: OrganisationState;
  /** While it is being erased: the export is complete, or was not wanted. */
  readonly exported?: boolean;
  /** The move to another shard in progress, during which no request begins. */
  readonly move?: MoveDocument;
  /** When its last move ended. */
  readonly moved_at?: Date;
  /** State of its event feed; missing if it lost no events, and no earlier version moved it to another cluster (`epoch`). */
  readonly feed?: { readonly epoch?: number; readonly owed?: Date };
  /** Since when its keys read changes with `updated_since`; missing if they never did. */
  readonly followed_at?: Date;
  /** Where an earlier version stored its data: `default` is here. */
  readonly cluster?: string;
  /** The operator's own id for it. */
  readonly external_ref?: string;
  /** Of a sandbox: the id of its organisation. */
  readonly sandbox_of?: string;
  /** Of a sandbox whose sample is not complete: a new UUID each time it is created or emptied. */
  readonly unseeded?: string;
  /** Set on the organisation created by `demo`. */
  readonly demo?: boolean;
  readonly created_at: Date;
}

export interface MoveDocument {
  readonly to: string;
  /** Id of the process that moves it. */
  readonly mover: string;
  readonly begun_at: Date;
  readonly seen_at: Date;
}

export interface LinkDocument {
  /** SHA-256 of the token, base64url, so that reading the database does not allow signing in. */
  readonly _id: string;
  readonly organisation_id: string;
  readonly user: User;
  readonly role: Role;
  readonly created_at: Date;
  readonly ends_at: Date;
}

export interface SessionDocument extends LinkDocument {
  /** Id of the sandbox that it acts for; missing or null if it acts for its organisation itself. */
  readonly acts_for?: string | null;
  readonly used_at: Date;
}

/** Who has signed in to an organisation; the last sign-in counts. */
export interface MemberRow {
  /** `<organisation id>:<user id>` */
  readonly _id: string;
  readonly organisation_id: string;
  readonly user: User;
  readonly role: Role;
  readonly last_sign_in_at: Date;
  /** Network address. */
  readonly from: string;
}

export interface UsageCounts {
  readonly requests: number;
  /** Requests that failed with an error other than 429. */
  readonly errors: number;
  /** Requests that failed with 429. */
  readonly rate_limited: number;
  /** Requests over MCP; missing in rows that are older than MCP. */
  readonly mcp?: number;
}

export interface UsageDocument extends UsageCounts, DetailColumns {
  /** `<key id>:<hour|day>:<start>`, so that all instances add to the same row. */
  readonly _id: string;
  /** Id of the key; `org:<id>` for all keys of an organisation. */
  readonly key_id: string;
  readonly unit: 'hour' | 'day';
  readonly start: Date;
  readonly ends_at: Date;
}

/** What an operator created with an Idempotency-Key (creations.ts). */
export interface CreationRow {
  /** SHA-256 of operator, organisation and Idempotency-Key, base64url. */
  readonly _id: string;
  readonly organisation_id: string;
  /** Identifies the operation and its arguments. */
  readonly fingerprint: string;
  /** Id of what was created. */
  readonly made: string;
  readonly ends_at: Date;
}

/** A row is deleted once its `ends_at` has passed. */
const EXPIRES = { on: { ends_at: 1 }, options: { expireAfterSeconds: 0 } } as const;
const ENDED_KEYS_EXPIRE = { expireAfterSeconds: ENDED_KEYS_KEPT / 1000 } as const;
const SIGN_IN_INDEXES = [EXPIRES, { on: { organisation_id: 1, 'user.id': 1 } }] as const;

const COLLECTIONS = {
  organisations: definedByType<OrganisationDocument>(
    'organisations',
    [
      // all, oldest first
      { on: { created_at: 1, _id: 1 } },
      // those that are being moved
      { on: { 'move.to': 1 }, options: { sparse: true } },
      // at most one sandbox of each organisation, and one organisation with each external_ref
      { on: { sandbox_of: 1 }, options: { unique: true, sparse: true } },
      { on: { external_ref: 1 }, options: { unique: true, sparse: true } },
    ],
    [],
    ['cluster_1_created_at_1__id_1', 'cluster_1_files_1', 'copies.cluster_1'],
  ),
  apiKeys: definedByType<ApiKey>(
    'api_keys',
    [
      { on: { 'organisation.id': 1, created_at: 1 } },
      // active ones; revoked or expired ones by their end
      { on: { 'organisation.id': 1, revoked_at: 1, expires_at: 1 } },
      // an index with expiry has one member; null never expires
      { on: { revoked_at: 1 }, options: ENDED_KEYS_EXPIRE },
      { on: { expires_at: 1 }, options: ENDED_KEYS_EXPIRE },
    ],
    ['created_at'],
  ),
  auditEvents: definedByType<AuditEvent>(
    'audit_events',
    [
      { on: { at: -1, _id: -1 } },
      { on: { organisation_id: 1, at: -1, _id: -1 } },
      // as the settings page filters them
      { on: { organisation_id: 1, key_id: 1, at: -1, _id: -1 } },
      { on: { organisation_id: 1, action: 1, at: -1, _id: -1 } },
    ],
    ['at'],
  ),
  sessions: definedByType<SessionDocument>('sessions', SIGN_IN_INDEXES),
  links: definedByType<LinkDocument>('sign_in_links', SIGN_IN_INDEXES),
  usage: definedByType<UsageDocument>('key_usage', [EXPIRES, { on: { key_id: 1, unit: 1, start: 1 } }]),
  webhookEndpoints,
  creations: definedByType<CreationRow>('creations', [EXPIRES]),
  requests: requestRows,
  jobs: definedByType<JobRow>('jobs', [
    // jobs that have not ended; an organisation has at most one (jobs.ts)
    { on: { ended_at: 1, created_at: 1 } },
    EXPIRES,
  ]),
  members: definedByType<MemberRow>('members', [{ on: { organisation_id: 1, last_sign_in_at: -1, _id: -1 } }]),
} as const;

/** The collections of the control database with indexes. Raise CONTROL_SCHEMA (controlSchema.ts) when one changes. */
export const controlCollections = Object.values(COLLECTIONS);

type Models = {
  readonly [Name in keyof typeof COLLECTIONS]: Model<NonNullable<(typeof COLLECTIONS)[Name]['row']>>;
};

export type ControlModels = ReturnType<typeof controlModels>;

export function controlModels({ control, changeControl }: Pick<Databases, 'control' | 'changeControl'>) {
  const models = Object.fromEntries(
    Object.entries(COLLECTIONS).map(([name, definition]) => [
      name,
      modelOf(control, definition as Collection<{ readonly _id: string }>),
    ]),
  ) as unknown as Models;
  const audit = auditRecorder(nativeCollection(models.auditEvents));
  return {
    ...models,
    record: audit.alone,
    /**
     * Runs a change and its audit events as one transaction, so that neither exists without the other. @throws AppError rate_limited if the
     * organisation has had too many such changes in a day
     */
    change<T>(work: (session: ClientSession, record: RecordEvent) => Promise<T>): Promise<T> {
      return changeControl((session) => work(session, (...event) => audit.inTransaction(session, ...event)));
    },
  };
}
