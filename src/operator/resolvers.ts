import type { RequestContext } from '../operations/context';
import type { Resolver } from '../operations/run';
import type { Operator } from './operator';

/** Each operation is a method of {@link Operator} with the same name. */
export const operatorResolvers = {
  Query: resolversOf('organisations', 'organisation', 'job', 'keys', 'webhooks', 'usage', 'clusters'),
  Mutation: resolversOf(
    ...(['create_organisation', 'update_organisation', 'erase_organisation', 'move_organisation'] as const),
    ...(['create_key', 'rotate_key', 'revoke_key', 'create_sign_in_link', 'create_webhook', 'delete_webhook'] as const),
  ),
};

function resolversOf(...names: readonly (keyof Operator)[]): Record<string, Resolver> {
  return Object.fromEntries(
    names.map((name) => [
      name,
      (_: unknown, args: unknown, { operator, noteExisting }: RequestContext): unknown => {
        // the guard only admits operators, whose context always has both
        if (!operator || !noteExisting) throw new Error('the context has no operator');
        return (operator as Operator)[name](args as never, noteExisting);
      },
    ]),
  );
}
