import type { Admin } from '../admin';
import type { Resolver } from '../operations/run';
import type { UserContext } from './userContext';

/** Points of a manual delivery beside that of the request, 10 in all as the SDL says: the gateway posts to an address of the user's, and waits for its answer. */
const MANUAL_DELIVERY_POINTS = 9;

/** The users' part of schema/admin.graphql: each operation is a method of {@link Admin} with the same name. */
export const settingsResolvers = {
  Query: {
    ...resolversOf('keys', 'key', 'usage', 'usage_by_key', 'members', 'invitations', 'audit_events'),
    ...resolversOf('request_log', 'logged_request', 'request_histogram', 'request_counts'),
    ...resolversOf('webhooks', 'webhook_deliveries', 'webhook_delivery', 'webhook_statistics', 'webhook_message'),
  },
  Mutation: {
    ...resolversOf('create_key', 'update_key', 'rotate_key', 'revoke_key'),
    ...resolversOf('create_invitation', 'revoke_invitation', 'sign_out'),
    ...resolversOf('create_webhook', 'update_webhook', 'rotate_webhook'),
    ...resolversOf('enable_webhook', 'disable_webhook', 'delete_webhook'),
    send_test_event: postingResolver('send_test_event'),
    resend_event: postingResolver('resend_event'),
  },
};

function resolversOf(...names: readonly (keyof Admin)[]): Record<string, Resolver<UserContext>> {
  return Object.fromEntries(names.map((name) => [name, resolverOf(name)]));
}

function resolverOf(name: keyof Admin): Resolver<UserContext> {
  return (_, args, { admin }) => admin[name](args as never);
}

/** The resolver of an operation that posts to a webhook endpoint at once. */
function postingResolver(name: 'send_test_event' | 'resend_event'): Resolver<UserContext> {
  return async (_, args, context) => {
    await context.charge(MANUAL_DELIVERY_POINTS);
    return context.admin[name](args as never);
  };
}
