import type { RequestContext } from '../operations/context';
import type { DeliveryQuery, OwnWebhooks } from '../organisations/webhooks';

/* The operations on webhooks of the settings page; src/webhooks/management.ts has the rules. */

/** Points of the user's limit that a post by hand costs, beyond the one of the request. */
const BY_HAND = 9;

interface Id {
  readonly id: string;
}

export const webhookResolvers = {
  Query: {
    webhook_endpoints: resolver(async (own) => ({ data: await own.list() })),
    webhook_deliveries: resolver((own, args: DeliveryQuery) => own.deliveries(args)),
  },
  Mutation: {
    create_webhook_endpoint: resolver((own, args: Parameters<OwnWebhooks['create']>[0]) => own.create(args)),
    update_webhook_endpoint: resolver((own, { id, ...args }: Id & Parameters<OwnWebhooks['update']>[1]) =>
      own.update(id, args),
    ),
    rotate_webhook_endpoint: resolver((own, { id }: Id) => own.rotate(id)),
    enable_webhook_endpoint: resolver((own, { id, from }: Id & { readonly from?: string | null }) =>
      own.enable(id, from === null || from === undefined ? undefined : new Date(from)),
    ),
    disable_webhook_endpoint: resolver((own, { id }: Id) => own.disable(id)),
    delete_webhook_endpoint: resolver((own, { id }: Id) => own.remove(id)),
    send_test_event: resolver(async (own, { id }: Id, context) => {
      await context.charge(BY_HAND);
      return own.test(id);
    }),
    resend_event: resolver(async (own, args: { readonly endpoint: string; readonly delivery: string }, context) => {
      await context.charge(BY_HAND);
      return own.resend(args.endpoint, args.delivery);
    }),
  },
};

/** A resolver from the operation on the webhooks of the user's own organisation. */
function resolver<Args, Result>(run: (own: OwnWebhooks, args: Args, context: RequestContext) => Result) {
  return (_: unknown, args: Args, context: RequestContext): Result => {
    // the guard only admits users, whose context always has this
    if (!context.webhooks) throw new Error('the context of a key has no webhooks');
    return run(context.webhooks, args, context);
  };
}
