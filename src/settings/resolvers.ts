import type { Integrations } from '../organisations/integrations';
import type { DeliveryQuery } from '../webhooks/deliveries';
import type { OwnWebhooks } from '../webhooks/management';
import type { UserContext } from './userContext';

/** Points that a manual delivery costs the user, in addition to the point for the request. */
const MANUAL_DELIVERY_POINTS = 9;

interface Id {
  readonly id: string;
}

interface DeliveryId {
  readonly endpoint: string;
  readonly delivery: string;
}

/** The operations of the settings page. Most are methods of {@link Integrations} with the same names; the others manage webhooks. */
export const settingsResolvers = {
  Query: {
    ...resolversOf('api_keys', 'api_key', 'key_usage', 'organisation_usage', 'members', 'audit_events'),
    ...resolversOf('request_log', 'request_counts'),
    webhook_endpoints: ofWebhooks(async (own) => ({ data: await own.list() })),
    webhook_deliveries: ofWebhooks((own, args: DeliveryQuery) => own.deliveries(args)),
    webhook_message: ofWebhooks((own, { endpoint, delivery }: DeliveryId) => own.message(endpoint, delivery)),
  },
  Mutation: {
    ...resolversOf('create_api_key', 'rotate_api_key', 'update_api_key', 'revoke_api_key'),
    create_webhook_endpoint: ofWebhooks((own, args: Parameters<OwnWebhooks['create']>[0]) => own.create(args)),
    update_webhook_endpoint: ofWebhooks((own, { id, ...args }: Id & Parameters<OwnWebhooks['update']>[1]) =>
      own.update(id, args),
    ),
    rotate_webhook_endpoint: ofWebhooks((own, { id }: Id) => own.rotate(id)),
    enable_webhook_endpoint: ofWebhooks((own, { id, from }: Id & { readonly from?: string | null }) =>
      own.enable(id, from === null || from === undefined ? undefined : new Date(from)),
    ),
    disable_webhook_endpoint: ofWebhooks((own, { id }: Id) => own.disable(id)),
    delete_webhook_endpoint: ofWebhooks((own, { id }: Id) => own.remove(id)),
    send_test_event: ofWebhooks(async (own, { id }: Id, context) => {
      await context.charge(MANUAL_DELIVERY_POINTS);
      return own.test(id);
    }),
    resend_event: ofWebhooks(async (own, args: DeliveryId, context) => {
      await context.charge(MANUAL_DELIVERY_POINTS);
      return own.resend(args.endpoint, args.delivery);
    }),
  },
};

function resolversOf(...names: readonly (keyof Integrations)[]) {
  return Object.fromEntries(
    names.map((name) => [
      name,
      (_: unknown, args: never, { integrations }: UserContext): unknown => integrations[name](args),
    ]),
  );
}

/** A resolver that runs an operation on the webhooks of the user's own organisation. */
function ofWebhooks<Args, Result>(run: (own: OwnWebhooks, args: Args, context: UserContext) => Result) {
  return (_: unknown, args: Args, context: UserContext): Result => run(context.webhooks, args, context);
}
