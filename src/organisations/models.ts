import { randomUUID } from 'node:crypto';
import { type ClientSession, Schema } from 'mongoose';
import type { ApiKey } from '../auth/apiKey';
import type { Plan } from '../auth/plans';
import type { User } from '../auth/principal';
import type { Role } from '../auth/roles';
import type { OrganisationState } from '../auth/states';
import { defineCollection, modelOf } from '../database/collection';
import type { Databases } from '../database/connect';
import type { Actor, AuditAction, AuditEvent } from './auditEvents';
import { memberRows } from './memberRows';
import { requestRows } from './requestRows';
import type { DetailColumns } from './usageDetails';
import { webhookEndpoints } from './webhookRows';

/** An organisation as stored in the control database. */
export interface OrganisationDocument {
  /** UUID. */
  readonly _id: string;
  readonly name: string;
  readonly plan: Plan;
  readonly currency: string;
  readonly cluster: string;
  /** Active if it is missing. */
  readonly state?: OrganisationState;
  /** While it is being erased: the export is complete, or was not wanted. */
  readonly exported?: boolean;
  /** A move to another cluster that has begun and not ended; no write begins while there is one. */
  readonly move?: MoveDocument;
  /** What moves have left on other clusters. */
  readonly copies?: readonly CopyDocument[];
  /** What is known of its events; nothing if it was never moved and lost none. */
  readonly feed?: FeedDocument;
  /** Set on the organisation created by `demo`. */
  readonly demo?: boolean;
  readonly created_at: Date;
}

export interface MoveDocument {
  /** The cluster that it moves to. */
  readonly to: string;
  /** Id of the process that moves it. */
  readonly mover: string;
  readonly begun_at: Date;
  /** When that process was last seen. */
  readonly seen_at: Date;
}

export interface FeedDocument {
  readonly epoch?: number;
  readonly since?: string;
  readonly owed?: Date;
}

/** The database that a move has left on another cluster. */
export interface CopyDocument {
  readonly cluster: string;
  readonly left_at: Date;
  /** Whether it is what the organisation had until it was moved; else what a move that was undone had copied. */
  readonly complete: boolean;
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
  readonly used_at: Date;
}

/** Counts of a key's requests by outcome. */
export interface UsageCounts {
  readonly requests: number;
  /** Requests that failed with an error other than 429. */
  readonly errors: number;
  /** Requests that failed with 429. */
  readonly rate_limited: number;
  /** Requests over MCP, among all; rows from before there was MCP lack it. */
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

/** An answer with a new key's text, for a caller that did not get it (keyAnswers.ts). */
export interface KeyAnswerDocument {
  /** Derived from the Idempotency-Key, organisation and user, base64url. */
  readonly _id: string;
  readonly organisation_id: string;
  /** Of the operation and its arguments. */
  readonly fingerprint: string;
  readonly key_id: string;
  /** The key's text, which only the Idempotency-Key opens. */
  readonly sealed: string;
  readonly ends_at: Date;
}

const text = { type: String, required: true } as const;
const optionalText = { type: String, default: null } as const;
const date = { type: Date, required: true } as const;
const optionalDate = { type: Date, default: null } as const;
const count = { type: Number, default: 0 } as const;
const nested = (shape: Record<string, typeof text | typeof String>) => ({
  type: new Schema(shape, { _id: false }),
  required: true,
});
/** A row is deleted once its `ends_at` has passed. */
const EXPIRES = { on: { ends_at: 1 }, options: { expireAfterSeconds: 0 } } as const;

const organisationShape = { name: text, plan: text, currency: text, cluster: text, state: String };
const signInShape = {
  _id: text,
  organisation_id: text,
  user: nested({ id: text, name: text }),
  role: text,
  created_at: date,
  ends_at: date,
};
const signInIndexes = [EXPIRES, { on: { organisation_id: 1, 'user.id': 1 } }] as const;

const moveShape = { to: text, mover: text, begun_at: date, seen_at: date };
const copyShape = { cluster: text, left_at: date, complete: { type: Boolean, required: true } } as const;
const organisations = defineCollection<OrganisationDocument>(
  'organisations',
  {
    _id: text,
    ...organisationShape,
    exported: Boolean,
    move: new Schema(moveShape, { _id: false }),
    copies: { type: [new Schema(copyShape, { _id: false })], default: undefined },
    feed: new Schema({ epoch: Number, since: String, owed: Date }, { _id: false }),
    demo: Boolean,
    holds: Number,
    created_at: date,
  },
  [
    // in order; those of a cluster, and how many they are
    { on: { created_at: 1, _id: 1 } },
    { on: { cluster: 1, created_at: 1, _id: 1 } },
    // those that have something on a cluster because of a move
    { on: { 'copies.cluster': 1 }, options: { sparse: true } },
    { on: { 'move.to': 1 }, options: { sparse: true } },
  ],
);
const apiKeys = defineCollection<ApiKey>(
  'api_keys',
  {
    _id: text,
    organisation: nested({ id: text, ...organisationShape }),
    name: text,
    prefix: text,
    last_four: text,
    salt: text,
    hash: text,
    pepper: Number,
    scopes: { type: [String], required: true },
    created_by: text,
    created_at: date,
    expires_at: optionalDate,
    revoked_at: optionalDate,
    last_used_at: optionalDate,
    last_used_from: optionalText,
    allowed_ranges: { type: [String], default: [] },
    mcp: String,
    rotated_to: optionalText,
  },
  [{ on: { 'organisation.id': 1, created_at: 1 } }],
);
const auditEvents = defineCollection<AuditEvent>(
  'audit_events',
  {
    _id: text,
    at: date,
    action: text,
    actor: nested({ who: text, name: String, from: text }),
    organisation_id: text,
    key_id: optionalText,
    details: Schema.Types.Mixed,
  },
  [
    { on: { at: -1, _id: -1 } },
    { on: { organisation_id: 1, at: -1, _id: -1 } },
    // as the settings page filters them
    { on: { organisation_id: 1, key_id: 1, at: -1, _id: -1 } },
    { on: { organisation_id: 1, action: 1, at: -1, _id: -1 } },
  ],
  { minimize: false },
);
const sessions = defineCollection<SessionDocument>('sessions', { ...signInShape, used_at: date }, signInIndexes);
const links = defineCollection<LinkDocument>('sign_in_links', signInShape, signInIndexes);
const usage = defineCollection<UsageDocument>(
  'key_usage',
  {
    _id: text,
    key_id: text,
    unit: text,
    start: date,
    requests: count,
    errors: count,
    rate_limited: count,
    mcp: count,
    operations: Schema.Types.Mixed,
    codes: Schema.Types.Mixed,
    ends_at: date,
  },
  [EXPIRES, { on: { key_id: 1, unit: 1, start: 1 } }],
  // `errors` is reserved on mongoose documents, which lean reads do not create
  { suppressReservedKeysWarning: true },
);

const keyAnswers = defineCollection<KeyAnswerDocument>(
  'key_answers',
  { _id: text, organisation_id: text, fingerprint: text, key_id: text, sealed: text, ends_at: date },
  [EXPIRES],
);

/** Writes an audit event in the transaction of its change. */
export type RecordEvent = (
  actor: Actor,
  action: AuditAction,
  organisationId: string,
  details: Record<string, unknown>,
  keyId?: string,
) => Promise<void>;

/** The collections of the control database with indexes. Raise CONTROL_SCHEMA (controlSchema.ts) when one changes. */
export const controlCollections = [
  organisations,
  apiKeys,
  auditEvents,
  sessions,
  links,
  usage,
  webhookEndpoints,
  keyAnswers,
  requestRows,
  memberRows,
] as const;

export type ControlModels = ReturnType<typeof controlModels>;

/** The collections of the control database, and changes to them. */
export function controlModels({ control, changeControl }: Pick<Databases, 'control' | 'changeControl'>) {
  const collections = {
    organisations: modelOf(control, organisations),
    apiKeys: modelOf(control, apiKeys),
    auditEvents: modelOf(control, auditEvents),
    sessions: modelOf(control, sessions),
    links: modelOf(control, links),
    usage: modelOf(control, usage),
    webhookEndpoints: modelOf(control, webhookEndpoints),
    keyAnswers: modelOf(control, keyAnswers),
    requests: modelOf(control, requestRows),
    members: modelOf(control, memberRows),
  };
  return {
    ...collections,
    /** Runs a change and its audit events as one transaction, so that neither exists without the other. */
    change<T>(work: (session: ClientSession, record: RecordEvent) => Promise<T>): Promise<T> {
      return changeControl((session) =>
        work(session, async (actor, action, organisationId, details, keyId) => {
          const place = { organisation_id: organisationId, key_id: keyId ?? null };
          const event = { _id: randomUUID(), at: new Date(), actor, action, ...place, details };
          await collections.auditEvents.create([event], { session });
        }),
      );
    },
  };
}
