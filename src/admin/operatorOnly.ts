import type { Role } from '../auth/roles';
import { type Config, gatewayUrl, isSecureOrLocal } from '../config';
import type { OrganisationData } from '../tenant/organisationData';
import type { OrganisationDataCache } from '../tenant/organisationDataCache';
import type { Writer } from '../tenant/slots';
import { movingError, notFound, validationFailed } from '../errors';
import type { Actor } from '../organisations/auditEvents';
import type { Control } from '../organisations/control';
import type { OrganisationForOperators } from '../organisations/organisationRows';
import { lacksSample, type Sandbox, SandboxRefused } from '../organisations/sandboxes';
import { signInUrl } from '../organisations/signInTokens';
import { REF_PREFIX } from '../units';
import type { CreationHooks } from './organisations';
import { conflict, beingErased, notAllowed, plainName, requireLine } from './refusals';

/* What only operators do in an organisation: links, customers and its sandbox. */

interface Person {
  readonly _id: string;
  readonly name: string;
  readonly external_ref: string;
  /** When their personal data was erased. */
  readonly erased_at?: Date | null;
}

/** What is done with organisations' data; passed in, so that this file needs no types of resources. `by` is who writes, for the events. */
export interface DataActions {
  readonly customerById: (data: OrganisationData, id: string) => Promise<Person | null>;
  readonly customerByRef: (data: OrganisationData, ref: string) => Promise<Person | null>;
  /** Resolves with the number of rows changed, by collection. */
  readonly eraseCustomer: (data: OrganisationData, id: string, by: Writer) => Promise<Readonly<Record<string, number>>>;
  /** Allows a customer who was erased to be written again. */
  readonly readmitCustomer: (data: OrganisationData, customer: Person, by: Writer) => Promise<void>;
  readonly emptySandbox: (data: OrganisationData, by: Writer) => Promise<void>;
  /** Stores the sample, or what is missing of it. */
  readonly fillSandbox: (data: OrganisationData, by: Writer) => Promise<unknown>;
}

export interface OperatorOnlyOptions {
  readonly config: Pick<Config, 'PUBLIC_URL' | 'HOST' | 'PORT' | 'BRAND_HOME' | 'FRAME_ANCESTORS'>;
  readonly control: Control;
  readonly databases: { readonly organisationData: OrganisationDataCache };
  readonly actions: DataActions;
}

interface Target {
  readonly organisation: OrganisationForOperators;
  readonly actor: Actor;
  /** An organisation with its shard, as in an answer. */
  readonly show: (organisation: OrganisationForOperators) => Promise<object>;
}

interface LinkArgs {
  readonly user: { readonly id: string; readonly name: string; readonly email?: string | null };
  readonly role?: Role | null;
  readonly return_to?: string | null;
}

interface CustomerId {
  readonly customer_id: string;
}

export function createOperatorOnlyOperations(options: OperatorOnlyOptions, { organisation, actor, show }: Target) {
  const { config, control, databases, actions } = options;
  // every actor here is `operator:` and the name of a token, which is a Writer
  const writer = actor.who as Writer;

  /** The data of an organisation. @throws AppError unavailable while it is being moved */
  function dataOf(target: OrganisationForOperators): OrganisationData {
    if (target.moving) throw movingError();
    return databases.organisationData(target);
  }

  /** A customer named by its id, or `ref:` and its external_ref. @throws AppError not_found */
  async function customerOf(data: OrganisationData, name: string): Promise<Person> {
    const { customerById, customerByRef } = actions;
    const customer = name.startsWith(REF_PREFIX)
      ? await customerByRef(data, name.slice(REF_PREFIX.length))
      : await customerById(data, name);
    if (!customer) throw notFound('customer');
    return customer;
  }

  const record = control.as(actor).record;

  /** The sandbox of the organisation, or the organisation if it is one. @throws AppError not_found */
  async function ownSandbox(): Promise<Sandbox['organisation']> {
    if (organisation.sandbox_of !== undefined) return organisation;
    const sandbox = await control.sandboxes.of(organisation.id);
    if (!sandbox) throw notFound('sandbox');
    return sandbox.organisation;
  }

  async function fill(sandbox: Sandbox): Promise<void> {
    await actions.fillSandbox(dataOf(sandbox.organisation), writer);
    await control.sandboxes.noteSeeded(sandbox);
  }

  return {
    async create_sign_in_link({ user: { email, ...person }, role, return_to }: LinkArgs) {
      requireLine(person.id, '/user/id');
      if (return_to != null) requireReturnAddress(return_to, config);
      const user = {
        id: `app:${person.id}`,
        name: plainName(person.name, '/user/name'),
        ...(email != null && { email }),
      };
      const link = { organisationId: organisation.id, user, role: role ?? 'admin', returnTo: return_to ?? undefined };
      const signInLink = await control.sessions.makeLink(link, actor);
      if (!signInLink) throw beingErased();
      return { url: signInUrl(gatewayUrl(config), signInLink.token), expires_at: signInLink.endsAt };
    },
    async erase_customer({ customer_id, confirm }: CustomerId & { readonly confirm: string }) {
      const data = dataOf(organisation);
      const customer = await customerOf(data, customer_id);
      // an erased customer has no name to confirm, and erasing it again is harmless
      if (!customer.erased_at && confirm !== customer.name) {
        const detail = `must be the name of the customer, which is ${JSON.stringify(customer.name)}`;
        throw validationFailed([{ pointer: '/confirm', code: 'not_allowed', detail }]);
      }
      const erased = await actions.eraseCustomer(data, customer._id, writer);
      // each time: an attempt before may have been killed between the two, and `restored --replay` goes by the events alone
      await record('customer.erased', organisation.id, { customer_id: customer._id, ...erased });
      const counts = Object.entries(erased).map(([collection, count]) => ({ collection, count }));
      return { id: customer._id, external_ref: customer.external_ref, erased: counts };
    },
    async readmit_customer({ customer_id }: CustomerId) {
      const data = dataOf(organisation);
      const customer = await customerOf(data, customer_id);
      const { _id, external_ref } = customer;
      if (customer.erased_at) {
        // first: killed between the two, the customer is still erased, and the repeat records it again
        await record('customer.readmitted', organisation.id, { customer_id: _id });
        await actions.readmitCustomer(data, customer, writer);
      }
      return { id: _id, external_ref };
    },
    /** Creates the sandbox of the organisation, or completes the one that it has. */
    async create_sandbox(_: unknown, hooks: CreationHooks) {
      const made = await control.sandboxes.createOnce(organisation.id, actor).catch((error: unknown) => {
        throw error instanceof SandboxRefused ? conflict('', error.message) : error;
      });
      if (!made) throw beingErased();
      const { sandbox, isNew } = made;
      if (!isNew) hooks.noteExisting();
      if (lacksSample(sandbox)) await fill(sandbox);
      return show(sandbox.organisation);
    },
    async reset_sandbox() {
      const target = await ownSandbox();
      const data = dataOf(target);
      const emptying = await control.sandboxes.noteEmptying(target.id);
      if (!emptying) throw notFound('sandbox');
      await actions.emptySandbox(data, writer);
      const sandbox = await control.sandboxes.noteEmptied(emptying);
      await record('sandbox.reset', target.id, {});
      await fill(sandbox);
      return show(sandbox.organisation);
    },
  };
}

/** A link to any other site would make the settings vouch for it. @throws AppError validation_failed */
function requireReturnAddress(url: string, { BRAND_HOME, FRAME_ANCESTORS }: OperatorOnlyOptions['config']): void {
  const origins = [...FRAME_ANCESTORS, ...(BRAND_HOME === undefined ? [] : [new URL(BRAND_HOME).origin])];
  if (isSecureOrLocal(url) && origins.includes(new URL(url).origin)) return;
  const allowed = origins.length > 0 ? `, which are ${origins.join(', ')}` : '; neither is set';
  throw notAllowed('/return_to', `must be an https URL of an origin in BRAND_HOME or FRAME_ANCESTORS${allowed}`);
}
