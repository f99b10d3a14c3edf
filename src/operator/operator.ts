import type { Admin, AdminOf } from '../admin';
import { asOperator } from '../admin/acting';
import { createBelongingOperations, type BelongingsOptions } from '../admin/belongings';
import { createFinder } from '../admin/finder';
import { type CreationHooks, createOrganisationOperations, type OrganisationsOptions } from '../admin/organisations';
import type { Actor } from '../organisations/auditEvents';
import type { Attempt } from '../organisations/creations';
import { type FeedCaller, type FeedOptions, createFeedOperations } from './events';
import { createWriteOperation, type Writing } from './writer';

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
type OfOrganisation = Admin & ReturnType<typeof createBelongingOperations>;

/** What is possible while an organisation is being erased: to see what was, and to end what is left. */
const WHILE_ERASING: readonly string[] = [
  'keys',
  'usage',
  'audit_events',
  'revoke_key',
] satisfies (keyof OfOrganisation)[];

export type Operator = ReturnType<typeof createOperator>;

/** The operators' part of schema/admin.graphql by name, performed by `actor`; with an `attempt`, repeating one creates nothing twice. */
export function createOperator(options: OperatorOptions, actor: Actor, { attempt, caller }: Asking) {
  const { organisations } = options.control.as(actor);
  const finder = createFinder(organisations);
  const { requireExisting, requireOpen, findAll } = finder;
  const organisationOperations = createOrganisationOperations(options, { actor, attempt, finder });
  const feedOptions: FeedOptions = {
    ...options,
    byIds: (ids) => organisations.byIds(ids),
    requireOrganisation: requireExisting,
  };
  return {
    ...createFeedOperations(feedOptions, caller),
    ...createWriteOperation(options.writing, { actor, attempt, requireOpen, findAll }),
    ...organisationOperations,
    async inOrganisation(
      name: keyof OfOrganisation,
      { id, ...args }: { readonly id: string },
      replay: CreationHooks,
    ): Promise<unknown> {
      const organisation = await (WHILE_ERASING.includes(name) ? requireExisting(id) : requireOpen(id));
      const operations: OfOrganisation = {
        ...options.admin(asOperator(organisation, actor, attempt)),
        ...createBelongingOperations(options, { organisation, actor, show: organisationOperations.show }),
      };
      return operations[name](args as never, replay);
    },
  };
}
