import type { Admin, AdminOf } from '../admin';
import { asOperator } from '../admin/acting';
import { belongingsOf, type BelongingsOptions } from '../admin/belongings';
import { finderOf } from '../admin/finder';
import { type Creating, organisationsOf, type OrganisationsOptions } from '../admin/organisations';
import type { Actor } from '../organisations/auditEvents';
import type { Attempt } from '../organisations/creations';
import { type FeedCaller, type FeedOptions, operatorFeed } from './events';
import { writerOf, type Writing } from './writer';

type Parts = BelongingsOptions & OrganisationsOptions & Omit<FeedOptions, 'byIds' | 'requireOrganisation'>;

export interface OperatorOptions extends Parts {
  readonly admin: AdminOf;
  /** What writing organisations' data needs. */
  readonly writing: Writing;
}

/** The request of an operator. */
interface Asking {
  /** Undefined without an Idempotency-Key. */
  readonly attempt: Attempt | undefined;
  readonly caller: FeedCaller;
}

/** What is done in an organisation that is named by `id`. */
type OfOrganisation = Admin & ReturnType<typeof belongingsOf>;

/** What is possible while an organisation is being erased: to see what was, and to end what is left. */
const WHILE_ERASING: readonly string[] = [
  'keys',
  'usage',
  'audit_events',
  'revoke_key',
] satisfies (keyof OfOrganisation)[];

export type Operator = ReturnType<typeof operatorOf>;

/** The operators' part of schema/admin.graphql by name, performed by `actor`; with an `attempt`, repeating one creates nothing twice. */
export function operatorOf(options: OperatorOptions, actor: Actor, { attempt, caller }: Asking) {
  const { organisations } = options.control.as(actor);
  const finder = finderOf(organisations);
  const { requireExisting, requireOpen, findAll } = finder;
  const own = organisationsOf(options, { actor, attempt, finder });
  const feedOptions: FeedOptions = {
    ...options,
    byIds: (ids) => organisations.byIds(ids),
    requireOrganisation: requireExisting,
  };
  return {
    ...operatorFeed(feedOptions, caller),
    ...writerOf(options.writing, { actor, attempt, requireOpen, findAll }),
    ...own,
    async inOrganisation(
      name: keyof OfOrganisation,
      { id, ...args }: { readonly id: string },
      creating: Creating,
    ): Promise<unknown> {
      const organisation = await (WHILE_ERASING.includes(name) ? requireExisting(id) : requireOpen(id));
      const operations: OfOrganisation = {
        ...options.admin(asOperator(organisation, actor, attempt)),
        ...belongingsOf(options, { organisation, actor, show: own.show }),
      };
      return operations[name](args as never, creating);
    },
  };
}
