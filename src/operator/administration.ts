import type { OrganisationData, OrganisationDataCache } from '../database/organisationData';
import type { Writer } from '../database/slots';
import { movingError, notFound, validationFailed } from '../errors';
import type { Actor } from '../organisations/auditEvents';
import type { Control } from '../organisations/control';
import { shownOnce } from '../organisations/creations';
import type { Listed } from '../organisations/organisationRows';
import { type Sandbox, SandboxRefused } from '../organisations/sandboxes';
import { REF_PREFIX } from '../units';
import type { OwnWebhooks } from '../webhooks/management';
import { conflict } from './refusals';

/* What operators do within an organisation: its audit log, sessions, customers, keys, webhooks and sandbox. */

interface Person {
  readonly _id: string;
  readonly name: string;
  readonly external_ref: string;
  readonly erased_at?: Date | null;
}

/** What is done with organisations' data, whose types operators do not know. */
export interface DataActions {
  readonly customerById: (data: OrganisationData, id: string) => Promise<Person | null>;
  readonly customerByRef: (data: OrganisationData, ref: string) => Promise<Person | null>;
  /** Resolves with the number of rows changed, by collection. */
  readonly eraseCustomer: (data: OrganisationData, id: string, by: Writer) => Promise<Readonly<Record<string, number>>>;
  readonly readmitCustomer: (data: OrganisationData, customer: Person, by: Writer) => Promise<void>;
  readonly emptySandbox: (data: OrganisationData, by: Writer) => Promise<void>;
  readonly fillSandbox: (data: OrganisationData, by: Writer) => Promise<unknown>;
}

interface AdministrationOptions {
  readonly control: Control;
  readonly databases: { readonly organisationData: OrganisationDataCache };
  readonly actions: DataActions;
  readonly actor: Actor;
  readonly once: ReturnType<Control['creations']['by']>;
  /** @throws AppError not_found */
  readonly requireExisting: (id: string) => Promise<Listed>;
  /** @throws AppError not_found; conflict if it is being erased */
  readonly requireOpen: (id: string) => Promise<Listed>;
  readonly webhooksOf: (organisation: Listed) => OwnWebhooks;
}

interface Id {
  readonly id: string;
}

type Integrations = ReturnType<Control['integrationsOf']>;

export function administrationOf(options: AdministrationOptions) {
  const { control, databases, actions, actor, once, requireExisting, requireOpen, webhooksOf } = options;
  // the names of operators begin so
  const by = actor.who as Writer;

  /** The data of an organisation. @throws AppError unavailable while it is being moved */
  function dataOf(organisation: Listed): OrganisationData {
    if (organisation.moving) throw movingError();
    return databases.organisationData(organisation);
  }

  /** By its id, or `ref:` and its external_ref. @throws AppError not_found */
  async function customerOf(data: OrganisationData, text: string): Promise<Person> {
    const { customerById, customerByRef } = actions;
    const found = text.startsWith(REF_PREFIX)
      ? await customerByRef(data, text.slice(REF_PREFIX.length))
      : await customerById(data, text);
    if (!found) throw notFound('customer');
    return found;
  }

  const record = control.as(actor).record;

  /** The sandbox of an organisation, or that sandbox by its own id. @throws AppError not_found */
  async function sandboxOf(id: string): Promise<Sandbox['organisation']> {
    const organisation = await requireOpen(id);
    if (organisation.sandbox_of !== undefined) return organisation;
    const found = await control.sandboxes.of(organisation.id);
    if (!found) throw notFound('sandbox');
    return found.organisation;
  }

  async function fill(sandbox: Sandbox): Promise<void> {
    await actions.fillSandbox(dataOf(sandbox.organisation), by);
    await control.sandboxes.noteSeeded(sandbox);
  }

  return {
    audit_events: async ({ id, ...query }: Id & Parameters<Integrations['audit_events']>[0]) =>
      control.integrationsOf(await requireExisting(id), actor).audit_events(query),
    async sign_out({ id, user_id: userId }: Id & { readonly user_id?: string | null }) {
      const { id: organisationId } = await requireOpen(id);
      const of = { organisationId, ...(userId != null && { userId }) };
      return { sessions: await control.sessions.endAll(of, actor) };
    },
    update_key: async ({
      id,
      key_id,
      ...args
    }: Id & { readonly key_id: string } & Omit<Parameters<Integrations['update_api_key']>[0], 'id'>) =>
      control.integrationsOf(await requireOpen(id), actor).update_api_key({ id: key_id, ...args }),
    async enable_webhook({ id, webhook_id, from }: WebhookId & { readonly from?: string | null }) {
      return webhooksOf(await requireOpen(id)).enable(webhook_id, from == null ? undefined : new Date(from));
    },
    disable_webhook: async ({ id, webhook_id }: WebhookId) => webhooksOf(await requireOpen(id)).disable(webhook_id),
    async rotate_webhook({ id, webhook_id }: WebhookId) {
      const organisation = await requireOpen(id);
      return once(
        {
          organisationId: organisation.id,
          operation: 'rotate_webhook',
          args: { webhook_id: webhook_id.toLowerCase() },
        },
        (noteId) => webhooksOf(organisation).rotate(webhook_id, noteId),
        (made) => Promise.reject(shownOnce('secret of webhook endpoint', made, 'rotate')),
      );
    },
    async erase_customer({ id, customer_id, confirm }: CustomerId & { readonly confirm: string }) {
      const organisation = await requireOpen(id);
      const data = dataOf(organisation);
      const customer = await customerOf(data, customer_id);
      // an erased customer has no name to confirm, and erasing it again is harmless
      if (!customer.erased_at && confirm !== customer.name) {
        const detail = `must be the name of the customer, which is ${JSON.stringify(customer.name)}`;
        throw validationFailed([{ pointer: '/confirm', code: 'not_allowed', detail }]);
      }
      const erased = await actions.eraseCustomer(data, customer._id, by);
      if (Object.values(erased).some((count) => count > 0))
        await record('customer.erased', organisation.id, { customer_id: customer._id, ...erased });
      const counts = Object.entries(erased).map(([collection, count]) => ({ collection, count }));
      return { id: customer._id, external_ref: customer.external_ref, erased: counts };
    },
    async readmit_customer({ id, customer_id }: CustomerId) {
      const organisation = await requireOpen(id);
      const data = dataOf(organisation);
      const customer = await customerOf(data, customer_id);
      const { _id, external_ref } = customer;
      if (customer.erased_at) {
        await actions.readmitCustomer(data, customer, by);
        await record('customer.readmitted', organisation.id, { customer_id: _id });
      }
      return { id: _id, external_ref };
    },
    /** Creates the sandbox of an organisation, or completes the one that it has. */
    async create_sandbox({ id }: Id, noteExisting: () => void): Promise<Listed> {
      const { id: owner } = await requireOpen(id);
      let sandbox = await control.sandboxes.of(owner);
      if (sandbox) noteExisting();
      else sandbox = await control.sandboxes.create({ of: owner, seeded: true }, actor).catch(refuse);
      if (!sandbox) throw notFound('organisation');
      if (sandbox.unseeded !== undefined) await fill(sandbox);
      return sandbox.organisation;
    },
    async reset_sandbox({ id }: Id): Promise<Listed> {
      const organisation = await sandboxOf(id);
      const data = dataOf(organisation);
      const sandbox = await control.sandboxes.noteUnseeded(organisation.id);
      if (!sandbox) throw notFound('sandbox');
      await actions.emptySandbox(data, by);
      await record('sandbox.reset', organisation.id, {});
      await fill(sandbox);
      return sandbox.organisation;
    },
  };
}

interface WebhookId extends Id {
  readonly webhook_id: string;
}

interface CustomerId extends Id {
  readonly customer_id: string;
}

function refuse(error: unknown): never {
  throw error instanceof SandboxRefused ? conflict('', error.message) : (error as Error);
}
