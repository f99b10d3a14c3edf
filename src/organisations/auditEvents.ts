/* What an audit event is; light, since the command line's definitions name the actions. */

/** Everything that is done to organisations, keys and sign-ins. */
export const AUDIT_ACTIONS = [
  'organisation.created',
  'organisation.plan_changed',
  'key.created',
  'key.rotated',
  'key.revoked',
  'link.created',
  'user.signed_in',
  'user.signed_out',
] as const;

export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** Who does something, and from where. */
export interface Actor {
  /** As `cli:<user>` or `user:<id>`. */
  readonly who: string;
  /** What to call a user. */
  readonly name?: string;
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
