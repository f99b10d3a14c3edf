/* What an audit event is; light, since the command line's definitions name the actions. */

/** Everything that is done to organisations and keys. */
export const AUDIT_ACTIONS = [
  'organisation.created',
  'organisation.plan_changed',
  'key.created',
  'key.rotated',
  'key.revoked',
] as const;

export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** Who does something, and from where. */
export interface Actor {
  /** As `cli:<user>` or `user:<id>`. */
  readonly who: string;
  /** Host or network address. */
  readonly from: string;
}

/** One line of the audit log; never changed once written. */
export interface AuditEvent {
  /** UUID. */
  readonly _id: string;
  readonly at: Date;
  readonly action: AuditAction;
  readonly actor: Actor;
  readonly organisation_id: string;
  readonly key_id: string | null;
  /** What was set, by name; never a key's text. */
  readonly details: Readonly<Record<string, unknown>>;
}
