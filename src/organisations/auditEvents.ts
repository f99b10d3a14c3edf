/* What audit events name. It has no heavy imports, since the command line's definitions use the list of actions. */

export const AUDIT_ACTIONS = [
  'organisation.created',
  'organisation.renamed',
  'organisation.ref_set',
  'organisation.plan_changed',
  'organisation.suspended',
  'organisation.resumed',
  'organisation.restored',
  'organisation.moving',
  'organisation.moved',
  'organisation.move_undone',
  // recorded by earlier versions only
  'organisation.copy_dropped',
  'organisation.erasing',
  'organisation.erased',
  'job.created',
  'job.failed',
  'sandbox.created',
  'sandbox.reset',
  'objects.written',
  'customer.erased',
  'customer.readmitted',
  'key.created',
  'key.updated',
  'key.rotated',
  'key.revoked',
  'keys.imported',
  'webhook.created',
  'webhook.updated',
  'webhook.rotated',
  'webhook.enabled',
  'webhook.disabled',
  'webhook.deleted',
  'link.created',
  'user.signed_in',
  'user.signed_out',
] as const;

export type AuditAction = (typeof AUDIT_ACTIONS)[number];

export interface Actor {
  /** `cli:<user>`, `operator:<token>`, `user:<id>`, or `system:webhooks` and `system:moves` for what a gateway does by itself. */
  readonly who: string;
  readonly name?: string;
  /** Host or network address. */
  readonly from: string;
}

/** Who makes a change, and the only organisation that it may be in; any if omitted, as on the command line. */
export interface Authority {
  readonly actor: Actor;
  readonly organisationId?: string;
}
