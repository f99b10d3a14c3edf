import type { Resolver } from '../operations/run';
import type { OperatorContext } from './context';
import type { ShownOfAll } from './events';
import type { Operator } from './operator';

/** Each operation is a method of {@link Operator} with the same name. */
export const operatorResolvers = {
  Query: resolversOf(
    'organisations',
    'organisation',
    'job',
    'keys',
    'webhooks',
    'usage',
    'shards',
    'events',
    'audit_events',
  ),
  Mutation: resolversOf(
    ...(['create_organisation', 'update_organisation', 'erase_organisation', 'move_organisation'] as const),
    ...(['create_key', 'rotate_key', 'revoke_key', 'create_sign_in_link', 'create_webhook', 'delete_webhook'] as const),
    ...(['update_key', 'rotate_webhook', 'enable_webhook', 'disable_webhook', 'sign_out'] as const),
    ...(['erase_customer', 'readmit_customer', 'create_sandbox', 'reset_sandbox'] as const),
    'write',
  ),
  OrganisationEvent: {
    current: currentOf('object'),
    current_related: currentOf('related'),
  },
};

/** The object that a member of an event names, as it is now. */
function currentOf(member: 'object' | 'related'): Resolver<OperatorContext> {
  return (event, _, context) => context.operator.current(event as ShownOfAll, (event as ShownOfAll)[member], context);
}

/** The operations; the others are for lines of writes, which no schema has. */
type Named = Omit<Operator, 'current' | 'lines'>;

function resolversOf(...names: readonly (keyof Named)[]): Record<string, Resolver<OperatorContext>> {
  return Object.fromEntries(
    names.map((name) => [
      name,
      (_: unknown, args: unknown, context: OperatorContext): unknown =>
        (context.operator as Named)[name](args as never, context),
    ]),
  );
}
