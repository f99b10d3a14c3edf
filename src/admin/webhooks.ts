import { randomUUID } from 'node:crypto';
import { requirePlan } from '../auth/authenticate';
import { modeOf } from '../auth/principal';
import type { Databases } from '../tenant/databases';
import type { OrganisationData } from '../tenant/organisationData';
import type { Page } from '../tenant/pagination';
import { AppError, type Fault, notFound, validationFailed } from '../errors';
import { BEGINNING, lastPosition, positionBefore, shownEvent } from '../events/page';
import { millisecondsOf } from '../events/position';
import type { Authority } from '../organisations/auditEvents';
import type { Control } from '../organisations/control';
import { shownOnce } from '../organisations/creations';
import type { UsagePeriod } from '../organisations/usageUnits';
import type { EndpointRow } from '../organisations/webhookRows';
import { published } from '../schema/model';
import { MINUTE } from '../units';
import {
  type AddressPolicy,
  endpointUrl,
  RefusedAddress,
  requireDeliverable,
  type Resolve,
} from '../webhooks/addresses';
import {
  createDeliveries,
  type DeliveryQuery,
  type DeliveryRow,
  eventsAt,
  isKept,
  positionOfDelivery,
} from '../webhooks/deliveries';
import { dataFor } from '../webhooks/feed';
import { type MasterSecret, WrongSecretError } from '../webhooks/masterSecret';
import { type Attempt, shownAttempt } from '../webhooks/post';
import { oldSecretUntil, type Sender, type ShownEvent } from '../webhooks/sending';
import { NO_SECRET } from '../webhooks/settings';
import { deliveryStatistics, MOST_COUNTED } from '../webhooks/statistics';
import type { AdminContext } from './caller';
import { customersOf } from './customerIds';

/*
 * An organisation's webhook endpoints. Operations throw AppError not_found for an endpoint of another organisation, as for one that never
 * existed, and unavailable if they need the organisation's database while it does not respond.
 */

export interface WebhookOptions {
  readonly databases: Pick<Databases, 'organisationData' | 'now'>;
  readonly control: Pick<Control, 'webhooks' | 'plans'>;
  readonly policy: AddressPolicy;
  readonly resolve: Resolve;
  /** What signs and sends; undefined without a master secret. */
  readonly signing: { readonly sender: Sender; readonly secret: MasterSecret } | undefined;
}

interface EndpointInput {
  readonly url?: string | null | undefined;
  readonly types?: readonly string[] | null | undefined;
}

interface NewEndpointInput extends EndpointInput {
  readonly url: string;
  readonly customer_ids?: readonly string[] | null;
}

interface WebhookId {
  readonly webhook_id: string;
}

interface DeliveryId extends WebhookId {
  readonly delivery: string;
}

/** How far a caller's clock may be ahead of the database's, in milliseconds. */
const CLOCK_SKEW = 5 * MINUTE;

const EVENT_TYPES: ReadonlySet<string> = new Set(published.eventTypes.map(({ name }) => name));

export function createWebhookOperations({ databases, control, policy, resolve, signing }: WebhookOptions) {
  const { webhooks } = control;
  const runByHand = createHandLimit();

  /** What signs and sends. @throws AppError unavailable without WEBHOOK_SECRET */
  function requireSigning(): NonNullable<typeof signing> {
    if (!signing) throw new AppError('unavailable', `${NO_SECRET}.`, { reason: 'webhooks' });
    return signing;
  }

  /** The sender, once WEBHOOK_SECRET is known to be that of all endpoints. @throws AppError unavailable without it, or if it is another */
  async function requireSecret(): Promise<NonNullable<typeof signing>> {
    const { secret, sender } = requireSigning();
    await secret.adopt().catch(rethrowWrongSecret);
    return { secret, sender };
  }

  /** The given members as stored. @throws AppError validation_failed with every fault */
  async function checkInput({ url, types }: EndpointInput): Promise<Partial<Pick<EndpointRow, 'url' | 'types'>>> {
    const faults: Fault[] = [];
    let href: string | undefined;
    try {
      const parsed = typeof url === 'string' ? endpointUrl(url, policy) : undefined;
      if (parsed) await requireDeliverable(parsed, resolve, policy);
      href = parsed?.href;
    } catch (error) {
      if (!(error instanceof RefusedAddress)) throw error;
      faults.push({ pointer: '/url', code: 'not_allowed', detail: error.message });
    }
    types?.forEach((type, at) => {
      if (EVENT_TYPES.has(type)) return;
      const detail = `must be one of ${[...EVENT_TYPES].join(', ')}`;
      faults.push({ pointer: `/types/${String(at)}`, code: 'not_allowed', detail });
    });
    if (faults.length > 0) throw validationFailed(faults);
    return { ...(href !== undefined && { url: href }), ...(types && { types: [...new Set(types)] }) };
  }

  return ({ organisation, actor, name: createdBy, once }: AdminContext) => {
    const by: Authority = { actor, organisationId: organisation.id };
    const openData = (): OrganisationData => databases.organisationData(organisation);

    /** An endpoint as an answer has it. `last` is the position of the feed's last event, from which its lag follows. */
    function shown(row: EndpointRow, last?: string) {
      const {
        _id: id,
        url,
        types,
        customer_ids = null,
        state,
        disabled,
        failing_since,
        last_success_at,
        parked,
        created_by,
      } = row;
      const isBehind = last !== undefined && row.position < last;
      const since = row.position === BEGINNING ? row.created_at.getTime() : millisecondsOf(row.position);
      const behind = isBehind ? Math.max(1, Math.round((databases.now() - since) / 1000)) : 0;
      const own = { id, url, types, customer_ids, state, failing_since, last_success_at, waiting: parked, created_by };
      return {
        ...own,
        disabled_reason: disabled?.reason ?? null,
        disabled_at: disabled?.at ?? null,
        next_attempt_at: state === 'failing' ? row.until : null,
        lag_seconds: last === undefined ? null : behind,
        old_secret_until: oldSecretUntil(row, databases.now()),
        created_at: row.created_at,
      };
    }

    /** The position of the last event; undefined if the database does not respond. */
    async function lastPositionOrNone(): Promise<string | undefined> {
      try {
        return await lastPosition(openData());
      } catch {
        return undefined;
      }
    }
    const withLag = async (row: EndpointRow) => shown(row, await lastPositionOrNone());

    function requireFound(row: EndpointRow | undefined): EndpointRow {
      if (!row) throw notFound('webhook endpoint');
      return row;
    }
    const requireEndpoint = async (id: string): Promise<EndpointRow> =>
      requireFound(await webhooks.find(id.toLowerCase(), by));

    /** Sends an event at once, beside the queue. @throws AppError plan_required; unavailable; rate_limited */
    async function send(row: EndpointRow, event: ShownEvent): Promise<Attempt> {
      requirePlan(control.plans, organisation);
      const { sender, secret } = requireSigning();
      if (!(await secret.fits())) rethrowWrongSecret(new WrongSecretError());
      return runByHand(organisation.id, () => sender.send(row, event, modeOf(organisation)));
    }

    /** A delivery to one of the organisation's endpoints. @throws AppError not_found */
    async function requireDelivery({ webhook_id, delivery }: DeliveryId) {
      const endpoint = await requireEndpoint(webhook_id);
      const { find, noteAttempt } = createDeliveries(openData());
      const row = delivery.startsWith(`${endpoint._id}.`) ? await find(delivery) : null;
      if (!row) throw notFound('delivery');
      return { endpoint, row, noteAttempt };
    }

    /** The same with its event as sent. @throws AppError not_found; validation_failed if the event is no longer kept */
    async function deliveryWithEvent(id: DeliveryId) {
      const { endpoint, row, noteAttempt } = await requireDelivery(id);
      const data = dataFor(openData(), endpoint);
      const position = positionOfDelivery(row._id);
      const event = (await eventsAt(data, [position])).get(position);
      if (event) return { endpoint, row, noteAttempt, event: shownEvent(organisation.id, event) };
      const detail = 'the event is older than 30 days and no longer kept';
      throw validationFailed([{ pointer: '/delivery', code: 'expired', detail }]);
    }

    return {
      async webhooks() {
        const rows = await webhooks.list(organisation.id);
        const last = rows.length > 0 ? await lastPositionOrNone() : undefined;
        return { data: rows.map((row) => shown(row, last)) };
      },
      /** @throws AppError plan_required, validation_failed, unavailable without WEBHOOK_SECRET */
      async create_webhook(args: NewEndpointInput) {
        return once(
          { organisationId: organisation.id, operation: 'create_webhook', args },
          async (noteId) => {
            requirePlan(control.plans, organisation);
            const { url = '', types = [] } = await checkInput(args);
            const { sender, secret } = await requireSecret();
            const customerIds = await customersOf(openData(), args.customer_ids);
            const position = await lastPosition(openData());
            const to = { organisationId: organisation.id, url, types, customerIds, position };
            const input = { ...to, created_by: createdBy, master: secret.check };
            const row = await webhooks.create(input, by, noteId);
            if (!row) throw notFound('organisation');
            return { secret: await sender.secretOf(row), endpoint: shown(row, position) };
          },
          (id) => Promise.reject(shownOnce('webhook endpoint', id, 'delete')),
        );
      },
      /** @throws AppError validation_failed */
      async update_webhook({ webhook_id, ...input }: WebhookId & EndpointInput) {
        await requireEndpoint(webhook_id);
        return withLag(requireFound(await webhooks.update(webhook_id.toLowerCase(), await checkInput(input), by)));
      },
      /** @throws AppError plan_required, unavailable without WEBHOOK_SECRET */
      async rotate_webhook(args: WebhookId) {
        const webhook_id = args.webhook_id.toLowerCase();
        return once(
          { organisationId: organisation.id, operation: 'rotate_webhook', args: { webhook_id } },
          async (noteId) => {
            requirePlan(control.plans, organisation);
            await requireEndpoint(webhook_id);
            const { sender, secret } = await requireSecret();
            const row = requireFound(await webhooks.rotate(webhook_id, secret.check, by, noteId));
            return { secret: await sender.secretOf(row), endpoint: await withLag(row) };
          },
          (id) => Promise.reject(shownOnce('secret of webhook endpoint', id, 'rotate')),
        );
      },
      /**
       * Resumes where it stopped, or from a time. @throws AppError plan_required; validation_failed for a time in the future, or before the
       * events that are kept
       */
      async enable_webhook({ webhook_id, from: at }: WebhookId & { readonly from?: string | Date | null }) {
        requirePlan(control.plans, organisation);
        const row = await requireEndpoint(webhook_id);
        const from = at == null ? undefined : new Date(at);
        const now = databases.now();
        if (from && from.getTime() > now + CLOCK_SKEW)
          throw validationFailed([{ pointer: '/from', code: 'range', detail: 'is in the future' }]);
        const data = openData();
        // a failing endpoint stays where it is, until it is disabled for that
        const stopped = row.failing_since ?? row.disabled?.at ?? row.created_at;
        if (!isKept(data, from ?? (row.state === 'enabled' ? new Date(now) : stopped))) {
          const detail = 'events are kept for 30 days; choose a later time, or now';
          throw validationFailed([{ pointer: '/from', code: 'range', detail }]);
        }
        const start = from && {
          position: await positionBefore(data, from),
          time: new Date(Math.min(from.getTime(), now)),
        };
        const { skipOpen, makeDue } = createDeliveries(data);
        // during a move, the organisation's rows cannot be changed
        await data.requireOpen();
        await (start ? skipOpen(row._id) : makeDue(row._id, new Date(now)));
        return withLag(requireFound(await webhooks.enable(row._id, start, by)));
      },
      disable_webhook: async ({ webhook_id }: WebhookId) =>
        withLag(requireFound(await webhooks.disable(webhook_id.toLowerCase(), 'by_hand', by))),
      delete_webhook: async ({ webhook_id }: WebhookId) =>
        withLag(requireFound(await webhooks.remove(webhook_id.toLowerCase(), by))),
      async webhook_deliveries({ webhook_id, ...query }: WebhookId & Omit<DeliveryQuery, 'endpoint'>) {
        const { _id: endpoint } = await requireEndpoint(webhook_id);
        const page = await createDeliveries(openData()).page({ ...query, endpoint });
        return { ...page, data: page.data.map(shownDelivery) } satisfies Page<object>;
      },
      webhook_delivery: async (id: DeliveryId) => shownDelivery((await requireDelivery(id)).row),
      /** Of one endpoint, or of each. */
      async webhook_statistics({ webhook_id: id, period }: Partial<WebhookId> & { readonly period: UsagePeriod }) {
        const data = openData();
        const rows = id == null ? await webhooks.list(organisation.id) : [await requireEndpoint(id)];
        const { one, each, all } = MOST_COUNTED;
        const most = id == null ? Math.min(each, Math.floor(all / Math.max(1, rows.length))) : one;
        return { data: await Promise.all(rows.map(({ _id }) => deliveryStatistics(data, _id, period, most))) };
      },
      /** Sends a test event now. @throws AppError rate_limited if too many are being sent by hand */
      async send_test_event({ webhook_id }: WebhookId) {
        const event = { id: randomUUID(), type: 'webhook.test', occurred_at: new Date(databases.now()), object: null };
        const all = { ...event, changes: [], status: null, related: null, gap: null, origin: null };
        return shownAttempt(await send(await requireEndpoint(webhook_id), all));
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

/** @throws AppError unavailable for a WrongSecretError; any other error unchanged */
function rethrowWrongSecret(error: unknown): never {
  if (!(error instanceof WrongSecretError)) throw error;
  throw new AppError('unavailable', `${error.message}.`, { reason: 'webhooks' });
}

function shownDelivery({ _id: id, event_id, type, object_id, state, attempts, next_at, log, at }: DeliveryRow): object {
  return { id, event_id, type, object_id, state, attempts, next_attempt_at: next_at, log, at };
}

/** Concurrent posts by hand, of an organisation and in all on a gateway. Each holds a request until it ends (ANSWER_WITHIN and BODY_WITHIN in webhooks/post.ts). */
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
