import type { KeyUpdate } from '../../organisations/keyDocuments';
import type { DisabledReason } from '../../organisations/webhookRows';
import type { LoggedEvent } from './lines';

/* What a log says was done since a backup, as the steps that do it again: one for each object and kind of change. */

/**
 * What each kind of step does; the table that the command prints has these names, in the order in which the steps are taken: `erase_customer`
 * must come before `readmit`, and `disable`, which has the reason, before `disable_changed`.
 */
export const KINDS = {
  suspend: 'organisations suspended',
  resume: 'organisations resumed',
  plan: 'plans changed',
  erase: 'organisations erased',
  revoke: 'keys revoked',
  change: 'keys changed or replaced',
  sign_out: 'people signed out',
  disable: 'webhook endpoints disabled',
  disable_changed: 'changed webhook endpoints disabled',
  delete: 'webhook endpoints deleted',
  erase_customer: 'customers erased',
  readmit: 'customers readmitted',
} as const;

export type Kind = keyof typeof KINDS;

export interface Step {
  readonly kind: Kind;
  readonly organisationId: string;
  /** Of the organisation, key, endpoint or customer; for `sign_out` the user's, or empty for everyone. */
  readonly id: string;
  /** When it was last done. */
  readonly at: Date;
  /** For `change`. */
  readonly update?: KeyUpdate;
  /** For `plan`. */
  readonly plan?: string;
  /** For `disable`. */
  readonly reason?: DisabledReason;
}

/** By kind, that of the earlier steps that it ends; `create` and `enable` are only that, and no steps themselves. */
const OPPOSITES: Partial<Record<string, Kind>> = {
  suspend: 'resume',
  resume: 'suspend',
  create: 'erase',
  enable: 'disable',
};

/** The steps of events, which are sorted by time, in the order of {@link KINDS}. */
export function planOf(events: readonly LoggedEvent[]): Step[] {
  const steps = new Map<string, Step>();
  const keyOf = (kind: string, { organisation_id }: LoggedEvent, id: string): string =>
    `${kind} ${organisation_id} ${id}`;
  for (const event of events) {
    const { organisation_id: organisationId, at } = event;
    const planned = stepOf(event);
    if (!planned) continue;
    const { kind, id, ...more } = planned;
    const opposite = OPPOSITES[kind];
    if (opposite) steps.delete(keyOf(opposite, event, id));
    if (kind === 'create' || kind === 'enable') continue;
    // erased once more, it must be readmitted once more, too
    if (kind === 'erase_customer') steps.delete(keyOf('readmit', event, id));
    const before = steps.get(keyOf(kind, event, id));
    const update = more.update && { ...before?.update, ...more.update };
    steps.set(keyOf(kind, event, id), { kind, organisationId, id, at, ...more, ...(update && { update }) });
  }
  const order = Object.keys(KINDS);
  return [...steps.values()].toSorted((one, other) => order.indexOf(one.kind) - order.indexOf(other.kind));
}

type Planned = Pick<Step, 'id' | 'update' | 'plan' | 'reason'> & { readonly kind: Kind | 'create' | 'enable' };

/** What one event has done; undefined if nothing of it is done again, or it does not say to what. */
function stepOf({ action, organisation_id, key_id, actor, details }: LoggedEvent): Planned | undefined {
  const { customer_id, endpoint, user, everywhere, old_expires_at, reason, to } = details;
  const of = (kind: Planned['kind'], id: string | undefined): Planned | undefined =>
    id === undefined ? undefined : { kind, id };
  switch (action) {
    case 'organisation.suspended':
      return of('suspend', organisation_id);
    case 'organisation.resumed':
      return of('resume', organisation_id);
    case 'organisation.plan_changed':
      return typeof to === 'string' ? { kind: 'plan', id: organisation_id, plan: to } : undefined;
    case 'organisation.created':
      // under the id of an erased one it was brought back
      return of('create', organisation_id);
    case 'organisation.erasing':
    case 'organisation.erased':
      return of('erase', organisation_id);
    case 'key.revoked':
      return of('revoke', key_id);
    case 'key.rotated':
      return key_id === undefined || !old_expires_at
        ? undefined
        : { kind: 'change', id: key_id, update: { expires_at: old_expires_at } };
    case 'key.updated':
      return key_id === undefined || typeof to !== 'object'
        ? undefined
        : { kind: 'change', id: key_id, update: to as KeyUpdate };
    case 'user.signed_out':
      // also of one session, which the line cannot name, since its id is made of its token: so all of that person's end
      return of('sign_out', everywhere === 'everyone' ? '' : (everywhere ?? actor.replace(/^user:/, '')));
    case 'invitation.revoked':
      // `invited:` and a name: the line does not say which of that person's invitations it was
      return of('sign_out', user);
    case 'invitation.accepted':
      // its link works once, and whoever has it would sign in with it again
      return of('sign_out', actor.replace(/^user:/, ''));
    case 'webhook.disabled':
      return endpoint === undefined ? undefined : { kind: 'disable', id: endpoint, ...(reason && { reason }) };
    case 'webhook.updated':
    case 'webhook.rotated':
      // the line has neither address nor secret, so what was changed cannot be changed again
      return of('disable_changed', endpoint);
    case 'webhook.enabled':
      return of('enable', endpoint);
    case 'webhook.deleted':
      return of('delete', endpoint);
    case 'customer.erased':
      return of('erase_customer', customer_id);
    case 'customer.readmitted':
      return of('readmit', customer_id);
    // left out: what else was created, or signed in; names and references; where data are stored (moves and jobs); resets of sandboxes; imports, whose
    // files can be imported again; actions of later versions
    default:
      return undefined;
  }
}
