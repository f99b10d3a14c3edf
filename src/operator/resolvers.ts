import type { Resolver } from '../operations/run';
import type { OperatorContext } from './context';
import type { OrganisationEvent } from './events';
import type { Operator } from './operator';

type Resolvers = Record<string, Resolver<OperatorContext>>;

/** Each operation is a method of {@link Operator} with the same name, or of those in the organisation that its `id` names. */
export const operatorResolvers = {
  Query: {
    ...resolversOf('organisations', 'organisation', 'job', 'plans', 'shards', 'events'),
    ...inOrganisation('keys', 'invitations', 'webhooks', 'usage', 'audit_events'),
  },
  Mutation: {
    ...resolversOf('create_organisation', 'update_organisation', 'erase_organisation', 'move_organisation', 'write'),
    ...inOrganisation('create_key', 'update_key', 'rotate_key', 'revoke_key'),
    ...inOrganisation('create_webhook', 'rotate_webhook', 'enable_webhook', 'disable_webhook', 'delete_webhook'),
    ...inOrganisation('create_invitation', 'revoke_invitation', 'create_sign_in_link', 'sign_out'),
    ...inOrganisation('erase_customer', 'readmit_customer'),
    ...inOrganisation('create_sandbox', 'reset_sandbox'),
  },
  OrganisationEvent: {
    current: currentOf('object'),
    current_related: currentOf('related'),
  },
};

/** The object that a member of an event names, as it is now. */
function currentOf(member: 'object' | 'related'): Resolver<OperatorContext> {
  return (event, _, context) =>
    context.operator.current(event as OrganisationEvent, (event as OrganisationEvent)[member], context);
}

/** The operations of the schema that name no organisation; the other members of {@link Operator} serve these, or lines of writes. */
type OwnOperations = Omit<Operator, 'current' | 'lines' | 'show' | 'inOrganisation'>;

function resolversOf(...names: readonly (keyof OwnOperations)[]): Resolvers {
  return resolversFor(
    names,
    (name) => (_, args, context) => (context.operator as OwnOperations)[name](args as never, context),
  );
}

function inOrganisation(...names: readonly Parameters<Operator['inOrganisation']>[0][]): Resolvers {
  return resolversFor(
    names,
    (name) => (_, args, context) => context.operator.inOrganisation(name, args as never, context),
  );
}

function resolversFor<Name extends string>(
  names: readonly Name[],
  make: (name: Name) => Resolver<OperatorContext>,
): Resolvers {
  return Object.fromEntries(names.map((name) => [name, make(name)]));
}
