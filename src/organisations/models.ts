import { type Connection, type Model, Schema } from 'mongoose';
import type { ApiKey } from '../access/apiKey';
import type { AuditEvent } from './auditEvents';
import type { Plan } from '../access/plans';

/** An organisation as stored in the control database. */
export interface OrganisationDocument {
  /** UUID. */
  readonly _id: string;
  readonly name: string;
  readonly plan: Plan;
  readonly currency: string;
  readonly cluster: string;
  /** Set on the organisation created by `demo`. */
  readonly demo?: boolean;
  readonly created_at: Date;
}

const text = { type: String, required: true } as const;
const optionalText = { type: String, default: null } as const;
const optionalDate = { type: Date, default: null } as const;

const organisationSchema = new Schema(
  {
    _id: text,
    name: text,
    plan: text,
    currency: text,
    cluster: text,
    demo: Boolean,
    keys_made: Number,
    created_at: { type: Date, required: true },
  },
  { versionKey: false },
);

const apiKeySchema = new Schema(
  {
    _id: text,
    organisation: {
      type: new Schema({ id: text, name: text, plan: text, currency: text, cluster: text }, { _id: false }),
      required: true,
    },
    name: text,
    prefix: text,
    last_four: text,
    salt: text,
    hash: text,
    scopes: { type: [String], required: true },
    created_by: text,
    created_at: { type: Date, required: true },
    expires_at: optionalDate,
    revoked_at: optionalDate,
    last_used_at: optionalDate,
    last_used_from: optionalText,
    allowed_ranges: { type: [String], default: [] },
    rotated_to: optionalText,
  },
  { versionKey: false },
).index({ 'organisation.id': 1, created_at: 1 });

const auditEventSchema = new Schema(
  {
    _id: text,
    at: { type: Date, required: true },
    action: text,
    actor: { type: new Schema({ who: text, name: String, from: text }, { _id: false }), required: true },
    organisation_id: text,
    key_id: optionalText,
    details: Schema.Types.Mixed,
  },
  { versionKey: false, minimize: false },
)
  .index({ at: -1, _id: -1 })
  .index({ organisation_id: 1, at: -1, _id: -1 });

export interface ControlModels {
  readonly organisations: Model<OrganisationDocument>;
  readonly apiKeys: Model<ApiKey>;
  readonly auditEvents: Model<AuditEvent>;
}

export function controlModels(control: Connection): ControlModels {
  return {
    organisations: control.model(
      'organisations',
      organisationSchema,
      'organisations',
    ) as unknown as Model<OrganisationDocument>,
    apiKeys: control.model('api_keys', apiKeySchema, 'api_keys') as unknown as Model<ApiKey>,
    auditEvents: control.model('audit_events', auditEventSchema, 'audit_events') as unknown as Model<AuditEvent>,
  };
}
