import { randomUUID } from 'node:crypto';
import { requirePlan } from '../auth/authenticate';
import { modeOf } from '../auth/principal';
import type { Databases } from '../tenant/databases';
import type { OrganisationData } from '../tenant/organisationData';
import type { Page } from '../tenant/pagination';
import { AppError, notFound, validationFailed } from '../errors';
import { type ShownEvent, shownEvent } from '../events/page';
import type { Control } from '../organisations/control';
import type { UsagePeriod } from '../organisations/usageUnits';
import type { EndpointRow } from '../organisations/webhookRows';
import {
  createDeliveries,
  type DeliveryQuery,
  type DeliveryRow,
  eventsAt,
  positionOfDelivery,
} from '../webhooks/deliveries';
import { dataFor } from '../webhooks/feed';
import { WrongSecretError } from '../webhooks/masterSecret';
import { type Attempt, shownAttempt } from '../webhooks/post';
import { deliveryStatistics, MOST_COUNTED } from '../webhooks/statistics';
import type { AdminContext } from './caller';
import { requireSigning, rethrowWrongSecret, type Signing } from './signing';

/*
 * What was sent to an organisation's webhook endpoints, and what is sent by hand. Operations throw AppError not_found for an endpoint or delivery of
 * another organisation, and unavailable if they need the organisation's database while it does not respond.
 */

export interface DeliveryOptions {
  readonly databases: Pick<Databases, 'organisationData' | 'now'>;
  readonly control: Pick<Control, 'webhooks' | 'plans'>;
  /** Undefined without WEBHOOK_SECRET. */
  readonly signing: Signing | undefined;
}

interface WebhookId {
  readonly webhook_id: string;
}

/** A delivery by its id, and the endpoint that it was to. */
interface DeliveryId extends WebhookId {
  readonly delivery: string;
}

/** Call it once for a gateway, since the limit on posts by hand is its. `requireEndpoint` finds one of the organisation's, or throws AppError not_found. */
export function createDeliveryOperations({ databases, control, signing }: DeliveryOptions) {
  const runByHand = createHandLimit();

  return (
    { organisation }: Pick<AdminContext, 'organisation'>,
    requireEndpoint: (id: string) => Promise<EndpointRow>,
  ) => {
    const openData = (): OrganisationData => databases.organisationData(organisation);

    /** Sends an event at once; the endpoint's position, state and waiting deliveries stay as they are. @throws AppError plan_required; unavailable; rate_limited */
    async function send(row: EndpointRow, event: ShownEvent): Promise<Attempt> {
      requirePlan(control.plans, organisation);
      const { sender, secret } = requireSigning(signing);
      // while the secret of any endpoint does not fit, nothing is sent to the others either (webhooks/workers.ts)
      if (!(await secret.fits())) rethrowWrongSecret(new WrongSecretError());
      return runByHand(organisation.id, () => sender.send(row, event, modeOf(organisation)));
    }

    /** A delivery to one of the organisation's endpoints. @throws AppError not_found */
    async function requireDelivery({ webhook_id, delivery }: DeliveryId) {
      const endpoint = await requireEndpoint(webhook_id);
      const { find, noteAttempt } = createDeliveries(openData());
      // ids of deliveries begin with that of their endpoint (webhooks/deliveries.ts)
      const row = delivery.startsWith(`${endpoint._id}.`) ? await find(delivery) : null;
      if (!row) throw notFound('delivery');
      return { endpoint, row, noteAttempt };
    }

    /** The same with its event as it is sent. @throws AppError not_found; validation_failed if the event is no longer kept */
    async function deliveryWithEvent(id: DeliveryId) {
      const { endpoint, row, noteAttempt } = await requireDelivery(id);
      // restricted to the endpoint's customers, if it is for some
      const data = dataFor(openData(), endpoint);
      const position = positionOfDelivery(row._id);
      const event = (await eventsAt(data, [position])).get(position);
      if (event) return { endpoint, row, noteAttempt, event: shownEvent(organisation.id, event) };
      const detail = 'the event is older than 30 days and no longer kept';
      throw validationFailed([{ pointer: '/delivery', code: 'expired', detail }]);
    }

    return {
      async webhook_deliveries({ webhook_id, ...query }: WebhookId & Omit<DeliveryQuery, 'endpoint'>) {
        const { _id: endpoint } = await requireEndpoint(webhook_id);
        const page = await createDeliveries(openData()).page({ ...query, endpoint });
        return { ...page, data: page.data.map(shownDelivery) } satisfies Page<object>;
      },
      webhook_delivery: async (id: DeliveryId) => shownDelivery((await requireDelivery(id)).row),
      /** Of one endpoint, or of each; for each of many, fewer deliveries are counted. */
      async webhook_statistics({ webhook_id: id, period }: Partial<WebhookId> & { readonly period: UsagePeriod }) {
        const data = openData();
        const rows = id == null ? await control.webhooks.list(organisation.id) : [await requireEndpoint(id)];
        const { one, each, all } = MOST_COUNTED;
        const most = id == null ? Math.min(each, Math.floor(all / Math.max(1, rows.length))) : one;
        return { data: await Promise.all(rows.map(({ _id }) => deliveryStatistics(data, _id, period, most))) };
      },
      /** Sends a test event now. @throws AppError rate_limited if too many are being sent by hand */
      async send_test_event({ webhook_id }: WebhookId) {
        const event: ShownEvent = {
          id: randomUUID(),
          type: 'webhook.test',
          occurred_at: new Date(databases.now()),
          object: null,
          changes: [],
          status: null,
          related: null,
          gap: null,
          origin: null,
        };
        return shownAttempt(await send(await requireEndpoint(webhook_id), event));
      },
      /** Sends an event again now. @throws AppError rate_limited; validation_failed if it is no longer kept */
      async resend_event(args: DeliveryId) {
        const { endpoint, row, event, noteAttempt } = await deliveryWithEvent(args);
        const attempt = shownAttempt(await send(endpoint, event));
        await noteAttempt(row, attempt);
        return attempt;
      },
      /** The body that a delivery sends. @throws AppError validation_failed if its event is no longer kept */
      async webhook_message(args: DeliveryId) {
        const { event } = await deliveryWithEvent(args);
        return { body: JSON.stringify(event) };
      },
    };
  };
}

function shownDelivery({ _id: id, event_id, type, object_id, state, attempts, next_at, log, at }: DeliveryRow): object {
  return { id, event_id, type, object_id, state, attempts, next_attempt_at: next_at, log, at };
}

/** Concurrent posts by hand, of an organisation and in all on a gateway. Each holds a request until it ends, up to 17 s (ANSWER_WITHIN and BODY_WITHIN in webhooks/post.ts). */
const MAX_BY_HAND = { organisation: 2, gateway: 16 } as const;

/** Returns a function that runs a post by hand, unless too many are running: then it throws AppError rate_limited. */
function createHandLimit() {
  const running: string[] = [];
  return async <T>(organisation: string, work: () => Promise<T>): Promise<T> => {
    const count = running.filter((id) => id === organisation).length;
    if (count >= MAX_BY_HAND.organisation || running.length >= MAX_BY_HAND.gateway) {
      const detail = 'Too many webhooks are being sent by hand at the moment; wait for their outcome.';
      throw new AppError('rate_limited', detail, { retryAfter: 5 });
    }
    running.push(organisation);
    try {
      return await work();
    } finally {
      running.splice(running.indexOf(organisation), 1);
    }
  };
}
