import { requirePlan } from '../auth/authenticate';
import type { OrganisationData } from '../tenant/organisationData';
import { type Fault, notFound, validationFailed } from '../errors';
import { BEGINNING, lastPosition, positionBefore } from '../events/page';
import { millisecondsOf } from '../events/position';
import type { Authority } from '../organisations/auditEvents';
import { shownOnce } from '../organisations/creations';
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
import { createDeliveries, isKept } from '../webhooks/deliveries';
import { failingSince } from '../webhooks/health';
import { oldSecretUntil } from '../webhooks/sending';
import type { AdminContext } from './caller';
import { customersOf } from './customerIds';
import { createDeliveryOperations, type DeliveryOptions } from './deliveries';
import { requireSigning, rethrowWrongSecret, type Signing } from './signing';

/*
 * An organisation's webhook endpoints. Operations throw AppError not_found for an endpoint of another organisation, as for one that never
 * existed, and unavailable if they need the organisation's database while it does not respond.
 */

export interface WebhookOptions extends DeliveryOptions {
  /** Which addresses may be posted to. */
  readonly policy: AddressPolicy;
  /** Looks up the addresses of a host. */
  readonly resolve: Resolve;
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

/** How far a caller's clock may be ahead of the database's, in milliseconds: a time within it means now. */
export const CLOCK_SKEW = 5 * MINUTE;

const EVENT_TYPES: ReadonlySet<string> = new Set(published.eventTypes.map(({ name }) => name));

export function createWebhookOperations(options: WebhookOptions) {
  const { databases, control, policy, resolve, signing } = options;
  const { webhooks } = control;
  const deliveryOperations = createDeliveryOperations(options);

  /** What signs, once WEBHOOK_SECRET is known to be that of all endpoints. @throws AppError unavailable without it, or if it is another */
  async function requireSecret(): Promise<Signing> {
    const { secret, sender } = requireSigning(signing);
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

  return (context: AdminContext) => {
    const { organisation, actor, name: createdBy, once } = context;
    const by: Authority = { actor, organisationId: organisation.id };
    const openData = (): OrganisationData => databases.organisationData(organisation);

    /** An endpoint as an answer has it. `last` is the position of the feed's last event, from which its lag follows; undefined if it is not known. */
    function shown(row: EndpointRow, last?: string) {
      const { _id: id, url, types, customer_ids = null, created_by } = row;
      const { state, disabled, failing_since, last_success_at, parked: waiting } = row;
      // positions sort as texts
      const isBehind = last !== undefined && row.position < last;
      const since = row.position === BEGINNING ? row.created_at.getTime() : millisecondsOf(row.position);
      const behind = isBehind ? Math.max(1, Math.round((databases.now() - since) / 1000)) : 0;
      const own = { id, url, types, customer_ids, state, failing_since, last_success_at, waiting, created_by };
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
        // since when its position may not have moved: since it fails, also if that disabled it later
        const stopped = failingSince(row) ?? row.disabled?.at ?? row.created_at;
        if (!isKept(data, from ?? (row.state === 'enabled' ? new Date(now) : stopped))) {
          const detail = 'events are kept for 30 days; choose a later time, or now';
          throw validationFailed([{ pointer: '/from', code: 'range', detail }]);
        }
        const start = from && {
          position: await positionBefore(data, from),
          time: new Date(Math.min(from.getTime(), now)),
        };
        const { skipOpen, makeDue } = createDeliveries(data);
        // before its deliveries are changed: during a move they cannot be
        await data.requireOpen();
        const changeDeliveries = () => (start ? skipOpen(row._id) : makeDue(row._id, new Date(now)));
        return withLag(requireFound(await webhooks.enable(row._id, start, by, changeDeliveries)));
      },
      disable_webhook: async ({ webhook_id }: WebhookId) =>
        withLag(requireFound(await webhooks.disable(webhook_id.toLowerCase(), 'by_hand', by))),
      delete_webhook: async ({ webhook_id }: WebhookId) =>
        withLag(requireFound(await webhooks.remove(webhook_id.toLowerCase(), by))),
      ...deliveryOperations(context, requireEndpoint),
    };
  };
}
