/* What audit events name. It has no heavy imports, since the command line's definitions and the settings page use the actions. */

/** What an organisation's people see, in the groups that they choose from. The settings page has words for each (web/settings/sentences.tsx). */
export const AUDIT_GROUPS = {
  keys: ['key.created', 'key.updated', 'key.rotated', 'key.revoked', 'keys.imported'],
  webhooks: [
    'webhook.created',
    'webhook.updated',
    'webhook.rotated',
    'webhook.enabled',
    'webhook.disabled',
    'webhook.deleted',
  ],
  members: [
    'invitation.created',
    'invitation.accepted',
    'invitation.revoked',
    'link.created',
    'user.signed_in',
    'user.signed_out',
  ],
  organisation: [
    'organisation.created',
    'organisation.renamed',
    'organisation.plan_changed',
    'organisation.suspended',
    'organisation.resumed',
    'organisation.restored',
    'sandbox.created',
    'sandbox.reset',
    'objects.written',
    'customer.erased',
    'customer.readmitted',
  ],
} as const;

/** What only operators see: where they store an organisation, and how they name and end it. */
export const OPERATORS_ACTIONS = [
  'organisation.ref_set',
  'organisation.moving',
  'organisation.moved',
  'organisation.move_undone',
  // recorded by earlier versions only
  'organisation.copy_dropped',
  'organisation.erasing',
  'organisation.erased',
  'job.created',
  'job.failed',
] as const;

export type AuditGroup = keyof typeof AUDIT_GROUPS;
export type ShownAction = (typeof AUDIT_GROUPS)[AuditGroup][number];
export type AuditAction = ShownAction | (typeof OPERATORS_ACTIONS)[number];

export const AUDIT_ACTIONS: readonly AuditAction[] = [...Object.values(AUDIT_GROUPS).flat(), ...OPERATORS_ACTIONS];

export interface Actor {
  /**
   * `cli:<user>`, `operator:<token>`, `user:<id>`, `app:<client_id>` (its key ended, as a token or code of it was presented), or `system:webhooks`
   * and `system:moves` for what a gateway does by itself.
   */
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
