import type { Admin, AdminOf } from '../admin';
import { asOperator } from '../admin/caller';
import { createOperatorOnlyOperations, type OperatorOnlyOptions } from '../admin/operatorOnly';
import { createFinder } from '../admin/finder';
import { type CreationHooks, createOrganisationOperations, type OrganisationsOptions } from '../admin/organisations';
import type { Actor } from '../organisations/auditEvents';
import type { Attempt } from '../organisations/creations';
import { type FeedCaller, type FeedOptions, createFeedOperations } from './events';
import { createWriteOperation, type WriteServices } from './writeOperation';

type Parts = OperatorOnlyOptions &
  OrganisationsOptions &
  Omit<FeedOptions, 'organisationsById' | 'requireOrganisation'>;

export interface OperatorOptions extends Parts {
  readonly admin: AdminOf;
  readonly writing: WriteServices;
}

interface OperatorRequest {
  /** Undefined without an Idempotency-Key. */
  readonly attempt: Attempt | undefined;
  readonly caller: FeedCaller;
}

/** The operations whose argument `id` names an organisation, in which they act. */
type OrganisationOperations = Admin & ReturnType<typeof createOperatorOnlyOperations>;

/**
 * What is possible while an organisation is being erased: to see what was, and to repeat a revocation, since its keys are listed as revoked until
 * they are deleted. Sessions, links, invitations and webhooks are gone at once, so nothing is left to end by the other operations.
 */
const WHILE_ERASING: readonly string[] = [
  'keys',
  'usage',
  'audit_events',
  'revoke_key',
] satisfies (keyof OrganisationOperations)[];

export type Operator = ReturnType<typeof createOperator>;

/** The operations of the operators' schema by name, performed by `actor`; with an `attempt`, repeating one creates nothing twice. */
export function createOperator(options: OperatorOptions, actor: Actor, { attempt, caller }: OperatorRequest) {
  const { organisations } = options.control.as(actor);
  const finder = createFinder(organisations);
  const { requireExisting, requireOpen, findAll } = finder;
  const organisationOperations = createOrganisationOperations(options, { actor, attempt, finder });
  const feedOptions: FeedOptions = {
    ...options,
    organisationsById: (ids) => organisations.byIds(ids),
    requireOrganisation: requireExisting,
  };
  return {
    ...createFeedOperations(feedOptions, caller),
    ...createWriteOperation(options.writing, { actor, attempt, requireOpen, findAll }),
    ...organisationOperations,
    /** Runs an operation in the organisation that `id` names. @throws AppError not_found; conflict if it is being erased, unless that is allowed */
    async inOrganisation(
      name: keyof OrganisationOperations,
      { id, ...args }: { readonly id: string },
      hooks: CreationHooks,
    ): Promise<unknown> {
      const organisation = await (WHILE_ERASING.includes(name) ? requireExisting(id) : requireOpen(id));
      const operations: OrganisationOperations = {
        ...options.admin(asOperator(organisation, actor, attempt)),
        ...createOperatorOnlyOperations(options, { organisation, actor, show: organisationOperations.show }),
      };
      return operations[name](args as never, hooks);
    },
  };
}
