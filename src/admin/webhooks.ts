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
import { type MasterSecret, WrongSecretError } from '../webhooks/masterSecret';
import { type Attempt, shownAttempt } from '../webhooks/post';
import { oldSecretUntil, type Sender, type Shown } from '../webhooks/sending';
import { NO_SECRET } from '../webhooks/settings';
import type { Administering } from './acting';

/*
 * An organisation's webhook endpoints. Operations throw AppError not_found for an endpoint of another organisation, as for one that never
 * existed, and unavailable if they need the organisation's database while it does not respond.
 */

export interface WebhookOptions {
  readonly databases: Pick<Databases, 'organisationData' | 'now'>;
  readonly control: Pick<Control, 'webhooks'>;
  readonly policy: AddressPolicy;
  readonly resolve: Resolve;
  /** What signs and sends; undefined without a master secret. */
  readonly signing: { readonly sender: Sender; readonly secret: MasterSecret } | undefined;
}

interface EndpointInput {
  readonly url?: string | null | undefined;
  readonly types?: readonly string[] | null | undefined;
}

interface WebhookId {
  readonly webhook_id: string;
}

interface DeliveryId extends WebhookId {
  readonly delivery: string;
}

/** How far a caller's clock may be ahead of the database's, in milliseconds. */
const CLOCK_SKEW = 5 * MINUTE;

const TYPES: ReadonlySet<string> = new Set(published.eventTypes.map(({ name }) => name));

export function createWebhooks({ databases, control, policy, resolve, signing }: WebhookOptions) {
  const { webhooks } = control;
  const byHand = createHandLimit();

  /** @throws AppError unavailable */
  function requireSigning(): NonNullable<typeof signing> {
    if (!signing) throw new AppError('unavailable', `${NO_SECRET}.`, { reason: 'webhooks' });
    return signing;
  }

  /** @throws AppError unavailable */
  async function requireSecret(): Promise<Sender> {
    const { secret, sender } = requireSigning();
    await secret.adopt().catch(refuse);
    return sender;
  }

  /** @throws AppError validation_failed with every fault */
  async function checked({ url, types }: EndpointInput): Promise<Partial<Pick<EndpointRow, 'url' | 'types'>>> {
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
      if (TYPES.has(type)) return;
      const detail = `must be one of ${[...TYPES].join(', ')}`;
      faults.push({ pointer: `/types/${String(at)}`, code: 'not_allowed', detail });
    });
    if (faults.length > 0) throw validationFailed(faults);
    return { ...(href !== undefined && { url: href }), ...(types && { types: [...new Set(types)] }) };
  }

  return ({ organisation, actor, name: createdBy, once }: Administering) => {
    const by: Authority = { actor, organisationId: organisation.id };
    const open = (): OrganisationData => databases.organisationData(organisation);

    function shown(row: EndpointRow, last?: string) {
      const { _id: id, url, types, state, disabled, failing_since, last_success_at, parked, created_by } = row;
      const isBehind = last !== undefined && row.position < last;
      const since = row.position === BEGINNING ? row.created_at.getTime() : millisecondsOf(row.position);
      const behind = isBehind ? Math.max(1, Math.round((databases.now() - since) / 1000)) : 0;
      return {
        ...{ id, url, types, state, failing_since, last_success_at, waiting: parked, created_by },
        ...{ disabled_reason: disabled?.reason ?? null, disabled_at: disabled?.at ?? null },
        next_attempt_at: state === 'failing' ? row.until : null,
        lag_seconds: last === undefined ? null : behind,
        old_secret_until: oldSecretUntil(row, databases.now()),
        created_at: row.created_at,
      };
    }

    /** The position of the last event; undefined if the database does not respond. */
    async function lastPositionOrNone(): Promise<string | undefined> {
      try {
        return await lastPosition(open());
      } catch {
        return undefined;
      }
    }
    const withLag = async (row: EndpointRow) => shown(row, await lastPositionOrNone());

    function requireFound(row: EndpointRow | undefined): EndpointRow {
      if (!row) throw notFound('webhook endpoint');
      return row;
    }
    const require = async (id: string): Promise<EndpointRow> => requireFound(await webhooks.find(id.toLowerCase(), by));

    async function send(row: EndpointRow, event: Shown): Promise<Attempt> {
      requirePlan(organisation);
      const { sender, secret } = requireSigning();
      if (!(await secret.fits())) refuse(new WrongSecretError());
      return byHand(organisation.id, () => sender.send(row, event, modeOf(organisation)));
    }

    /** A delivery, with its event as sent. @throws AppError not_found; validation_failed if the event is no longer kept */
    async function delivered({ webhook_id, delivery }: DeliveryId) {
      const endpoint = await require(webhook_id);
      const data = open();
      const { find, note } = createDeliveries(data);
      const row = delivery.startsWith(`${endpoint._id}.`) ? await find(delivery) : null;
      if (!row) throw notFound('delivery');
      const position = positionOfDelivery(row._id);
      const event = (await eventsAt(data, [position])).get(position);
      if (event) return { endpoint, row, note, event: shownEvent(organisation.id, event) };
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
      async create_webhook(args: { readonly url: string } & EndpointInput) {
        return once(
          { organisationId: organisation.id, operation: 'create_webhook', args },
          async (noteId) => {
            requirePlan(organisation);
            const { url = '', types = [] } = await checked(args);
            const sender = await requireSecret();
            const position = await lastPosition(open());
            const input = { organisation_id: organisation.id, url, types, position, created_by: createdBy };
            const row = await webhooks.create(input, by, noteId);
            if (!row) throw notFound('organisation');
            return { secret: sender.secretOf(row), endpoint: shown(row, position) };
          },
          (id) => Promise.reject(shownOnce('webhook endpoint', id, 'delete')),
        );
      },
      /** @throws AppError validation_failed */
      async update_webhook({ webhook_id, ...input }: WebhookId & EndpointInput) {
        await require(webhook_id);
        return withLag(requireFound(await webhooks.update(webhook_id.toLowerCase(), await checked(input), by)));
      },
      /** @throws AppError plan_required, unavailable without WEBHOOK_SECRET */
      async rotate_webhook(args: WebhookId) {
        const webhook_id = args.webhook_id.toLowerCase();
        return once(
          { organisationId: organisation.id, operation: 'rotate_webhook', args: { webhook_id } },
          async (noteId) => {
            requirePlan(organisation);
            await require(webhook_id);
            const sender = await requireSecret();
            const row = requireFound(await webhooks.rotate(webhook_id, by, noteId));
            return { secret: sender.secretOf(row), endpoint: await withLag(row) };
          },
          (id) => Promise.reject(shownOnce('secret of webhook endpoint', id, 'rotate')),
        );
      },
      /** Resumes where it stopped, or from a time. @throws AppError plan_required; validation_failed for a time in the future, or before the events that are kept */
      async enable_webhook({ webhook_id, from: at }: WebhookId & { readonly from?: string | Date | null }) {
        requirePlan(organisation);
        const row = await require(webhook_id);
        const from = at == null ? undefined : new Date(at);
        const now = databases.now();
        if (from && from.getTime() > now + CLOCK_SKEW)
          throw validationFailed([{ pointer: '/from', code: 'range', detail: 'is in the future' }]);
        const data = open();
        const stopped = row.disabled?.at ?? row.failing_since ?? row.created_at;
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
        const { _id: endpoint } = await require(webhook_id);
        const page = await createDeliveries(open()).page({ ...query, endpoint });
        return { ...page, data: page.data.map(shownDelivery) } satisfies Page<object>;
      },
      /** Sends a test event now. @throws AppError rate_limited if too many are being sent by hand */
      async send_test_event({ webhook_id }: WebhookId) {
        const event = { id: randomUUID(), type: 'webhook.test', occurred_at: new Date(databases.now()), object: null };
        const all = { ...event, changes: [], status: null, related: null, gap: null, origin: null };
        return shownAttempt(await send(await require(webhook_id), all));
      },
      /** Sends an event again now. @throws AppError rate_limited; validation_failed if it is no longer kept */
      async resend_event(args: DeliveryId) {
        const { endpoint, row, event, note } = await delivered(args);
        const attempt = shownAttempt(await send(endpoint, event));
        await note(row, attempt);
        return attempt;
      },
      /** The body that a delivery sends. @throws AppError validation_failed if its event is no longer kept */
      async webhook_message(args: DeliveryId) {
        const { event } = await delivered(args);
        return { body: JSON.stringify(event) };
      },
    };
  };
}

/** @throws AppError unavailable for a WrongSecretError; any other error unchanged */
function refuse(error: unknown): never {
  if (!(error instanceof WrongSecretError)) throw error;
  throw new AppError('unavailable', `${error.message}.`, { reason: 'webhooks' });
}

function shownDelivery({ _id: id, event_id, type, object_id, state, attempts, next_at, log, at }: DeliveryRow): object {
  return { id, event_id, type, object_id, state, attempts, next_attempt_at: next_at, log, at };
}

/** Concurrent posts by hand, per organisation and gateway. Each holds a request for up to 17 s. */
const MAX = { organisation: 2, gateway: 16 } as const;

/** Limits how many posts by hand run at once. */
function createHandLimit() {
  const running: string[] = [];
  return async <T>(organisation: string, work: () => Promise<T>): Promise<T> => {
    const count = running.filter((id) => id === organisation).length;
    if (count >= MAX.organisation || running.length >= MAX.gateway) {
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
