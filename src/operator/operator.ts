import { nameFault } from '../auth/keys';
import type { Plan } from '../auth/principal';
import type { Role } from '../auth/roles';
import { type Config, gatewayUrl } from '../config';
import type { Availability } from '../database/availability';
import type { Databases } from '../database/connect';
import { AppError, type Fault, invalidRequest, notFound, validationFailed } from '../errors';
import type { JobRow } from '../organisations/jobRows';
import { JobRefused } from '../organisations/jobs';
import type { Actor } from '../organisations/auditEvents';
import type { Control } from '../organisations/control';
import type { Attempt } from '../organisations/keyAnswers';
import { type OrganisationPageQuery, RefTaken, SharedByOwnerError, StillErasing } from '../organisations/organisations';
import { type Listed, shownOrganisation, toListed } from '../organisations/organisationRows';
import { DAYS_KEPT } from '../organisations/keyUsage';
import { FullClusterError } from '../organisations/placement';
import { signInUrl } from '../organisations/sessions';
import { DAY } from '../units';
import type { EndpointInput, OwnWebhooks } from '../webhooks/management';

export interface OperatorOptions {
  readonly config: Pick<Config, 'PUBLIC_URL' | 'HOST' | 'PORT'>;
  readonly control: Control;
  readonly databases: Pick<Databases, 'clusters'>;
  readonly availability: Pick<Availability, 'isAway' | 'isReadOnly'>;
  /** The webhooks of an organisation, changed by `by`. */
  readonly webhooksOf: (organisation: Listed, by: { readonly actor: Actor }, createdBy: string) => OwnWebhooks;
  /** Tells this gateway that there is a new job. */
  readonly poke: () => void;
}

interface Id {
  readonly id: string;
}

interface KeyId extends Id {
  readonly key_id: string;
}

interface NewOrganisationArgs {
  readonly name: string;
  readonly plan?: Plan | null;
  readonly external_ref?: string | null;
  readonly cluster?: string | null;
  readonly currency?: string | null;
}

interface UpdateArgs extends Id {
  readonly name?: string;
  readonly plan?: Plan;
  readonly state?: 'active' | 'suspended';
  readonly external_ref?: string;
}

interface LinkArgs extends Id {
  readonly user: { readonly id: string; readonly name: string; readonly email?: string | null };
  readonly role?: Role | null;
}

interface UsageArgs extends Id {
  /** YYYY-MM-DD. */
  readonly from?: string | null;
  readonly to?: string | null;
}

type Integrations = ReturnType<Control['integrationsOf']>;
type Arguments<Name extends keyof Integrations> = Parameters<Integrations[Name]>[0];

/** Days of usage in an answer: by default, and at most. */
const [USUAL_DAYS, MAX_DAYS] = [30, 100];

export type Operator = ReturnType<typeof operatorOf>;

/** The operations of schema/operator.graphql by name, performed by `actor`; with an `attempt`, repeating one creates nothing twice. */
export function operatorOf(options: OperatorOptions, actor: Actor, attempt: Attempt | undefined) {
  const { config, control, databases, availability } = options;
  const { organisations } = control.as(actor);

  /** @throws AppError not_found */
  async function requireExisting(id: string): Promise<Listed> {
    const found = await organisations.find(id.toLowerCase());
    if (!found) throw notFound('organisation');
    return found;
  }

  /** @throws AppError not_found; conflict if it is being erased */
  async function requireOpen(id: string): Promise<Listed> {
    const found = await requireExisting(id);
    if (found.state === 'erasing') throw erasing();
    return found;
  }

  const integrations = async (id: string) => control.integrationsOf(await requireOpen(id), actor, attempt);
  const webhooks = async (id: string) => options.webhooksOf(await requireOpen(id), { actor }, actor.who);

  /** @throws AppError validation_failed */
  function requireCluster(name: string, pointer: string): void {
    if (databases.clusters.includes(name)) return;
    const detail = `must be one of ${databases.clusters.join(', ')}`;
    throw validationFailed([{ pointer, code: 'not_allowed', detail }]);
  }

  return {
    async organisations(query: OrganisationPageQuery) {
      const page = await organisations.page(query);
      return { ...page, data: page.data.map((row) => shownOrganisation(toListed(row))) };
    },
    organisation: async ({ id }: Id) => shownOrganisation(await requireExisting(id)),
    async create_organisation(args: NewOrganisationArgs, noteExisting: () => void) {
      const name = plainName(args.name, '/name');
      const { plan, external_ref, cluster, currency } = args;
      if (external_ref != null) requireLine(external_ref, '/external_ref');
      if (cluster != null) requireCluster(cluster, '/cluster');
      const { organisation, isNew } = await organisations
        .createOnce(
          {
            ...{ name, plan: plan ?? 'integrations', currency: currency ?? 'USD' },
            ...{ cluster: cluster ?? undefined, external_ref: external_ref ?? undefined },
          },
          attempt,
        )
        .catch(explain);
      if (!isNew) noteExisting();
      return shownOrganisation(organisation);
    },
    async update_organisation({ id, name, plan, state, external_ref }: UpdateArgs) {
      const { id: known } = await requireOpen(id);
      const set = {
        ...(name !== undefined && { name: plainName(name, '/name') }),
        ...(plan !== undefined && { plan }),
        ...(state !== undefined && { state }),
        ...(external_ref !== undefined && { external_ref }),
      };
      if (external_ref !== undefined) requireLine(external_ref, '/external_ref');
      const changed = await organisations.update(known, set).catch(explain);
      // its erasure has begun meanwhile
      if (!changed) throw erasing();
      return shownOrganisation(changed);
    },
    async erase_organisation({ id, confirm }: Id & { readonly confirm: string }) {
      const organisationId = id.toLowerCase();
      const name = (await organisations.find(organisationId))?.name;
      // an organisation that is gone has no name to confirm, but its job may still be there
      if (name !== undefined && confirm !== name) {
        const detail = `must be the name of the organisation, which is ${JSON.stringify(name)}`;
        throw validationFailed([{ pointer: '/confirm', code: 'not_allowed', detail }]);
      }
      return ask({ kind: 'erasure', organisationId, to: null });
    },
    async move_organisation({ id, to }: Id & { readonly to: string }) {
      const { id: organisationId, cluster } = await requireOpen(id);
      requireCluster(to, '/to');
      if (cluster === to) throw conflict('/to', `organisation ${organisationId} is on cluster ${to} already`);
      return ask({ kind: 'move', organisationId, to });
    },
    async job({ id }: Id) {
      const found = await control.jobs.find(id.toLowerCase());
      if (!found) throw notFound('job');
      return shownJob(found);
    },
    keys: async ({ id, ...query }: Id & Arguments<'api_keys'>) =>
      control.integrationsOf(await requireExisting(id), actor).api_keys(query),
    create_key: async ({ id, ...args }: Id & Arguments<'create_api_key'>) =>
      (await integrations(id)).create_api_key(args),
    rotate_key: async ({ id, key_id, ...args }: KeyId & Omit<Arguments<'rotate_api_key'>, 'id'>) =>
      (await integrations(id)).rotate_api_key({ id: key_id, ...args }),
    revoke_key: async ({ id, key_id }: KeyId) =>
      control.integrationsOf(await requireExisting(id), actor).revoke_api_key({ id: key_id }),
    async create_sign_in_link({ id, user: { email, ...given }, role }: LinkArgs) {
      const { id: organisationId } = await requireOpen(id);
      requireLine(given.id, '/user/id');
      const user = {
        ...{ id: `app:${given.id}`, name: plainName(given.name, '/user/name') },
        ...(email != null && { email }),
      };
      const made = await control.sessions.makeLink({ organisationId, user, role: role ?? 'admin' }, actor, attempt);
      if (!made) throw erasing();
      return { url: signInUrl(gatewayUrl(config), made.token), expires_at: made.endsAt };
    },
    webhooks: async ({ id }: Id) => ({ data: await (await webhooks(id)).list() }),
    create_webhook: async ({ id, ...args }: Id & EndpointInput & { readonly url: string }) =>
      (await webhooks(id)).create(args, attempt),
    delete_webhook: async ({ id, webhook_id }: Id & { readonly webhook_id: string }) =>
      (await webhooks(id)).remove(webhook_id),
    async usage({ id, from, to }: UsageArgs) {
      const organisation = await requireExisting(id);
      const today = Math.floor(Date.now() / DAY) * DAY;
      const kept = today - (DAYS_KEPT - 1) * DAY;
      const last = to == null ? today : Date.parse(to);
      const first = from == null ? Math.max(last - (USUAL_DAYS - 1) * DAY, kept) : Date.parse(from);
      const refuse = (parameter: string, detail: string): never => {
        throw invalidRequest([{ parameter, code: 'range', detail }]);
      };
      if (from != null && first < kept)
        refuse('from', `must be at or after ${dayOf(kept)}: days are kept for ${String(DAYS_KEPT)} days`);
      if (first > last && to == null) refuse('from', `must not be after today, ${dayOf(today)}`);
      if (first > last || last - first >= MAX_DAYS * DAY)
        refuse('to', `must be at or after ${dayOf(first)}, and at most ${String(MAX_DAYS - 1)} days later`);
      const days = { from: new Date(first), to: new Date(last) };
      return control.integrationsOf(organisation, actor).usage_between(days);
    },
    async clusters() {
      const all = await control.placement.fullness();
      return {
        data: all.map(({ cluster: name, organisations: count, copies, used, reserved, capacity }) => {
          const state = availability.isAway(name) ? 'away' : availability.isReadOnly(name) ? 'read_only' : 'up';
          const files = { files_used: used, files_reserved: reserved, files_capacity: capacity };
          return { name, state, organisations: count, copies, ...files };
        }),
      };
    },
  };

  /** Finds or creates a job. */
  async function ask(wanted: { kind: JobRow['kind']; organisationId: string; to: string | null }) {
    const job = await control.jobs.ask(wanted, actor).catch((error: unknown) => explain(error, '/to'));
    if (!job) throw notFound('organisation');
    options.poke();
    return shownJob(job);
  }
}

function shownJob({
  _id: id,
  kind,
  organisation_id,
  to,
  state,
  step,
  progress,
  error,
  actor,
  created_at,
  ended_at,
}: JobRow) {
  const at = { created_by: actor.who, created_at, ended_at };
  return { id, kind, organisation_id, to, state, step: state === 'running' ? step : null, progress, error, ...at };
}

/** @throws AppError validation_failed */
function plainName(name: string, pointer: string): string {
  const plain = name.trim();
  requireLine(plain, pointer);
  return plain;
}

/** @throws AppError validation_failed */
function requireLine(text: string, pointer: string): void {
  const detail = nameFault(text);
  if (detail !== undefined) throw validationFailed([{ pointer, code: 'format', detail }]);
}

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

function conflict(pointer: string, detail: string, code: Fault['code'] = 'conflict'): AppError {
  return new AppError('conflict', `${detail}.`, { errors: [{ pointer, code, detail }] });
}

function erasing(): AppError {
  return conflict('', 'the organisation is being erased');
}

/** Turns a refusal into an error for the caller. */
function explain(error: unknown, placeAt = '/cluster'): never {
  if (error instanceof SharedByOwnerError) throw conflict('', error.message, 'not_allowed');
  if (error instanceof FullClusterError) throw conflict(placeAt, error.message, 'too_many');
  if (error instanceof RefTaken) throw conflict('/external_ref', error.message);
  if (error instanceof JobRefused) throw conflict('', error.message);
  // no fault: the organisation will be gone in a moment, and a retry succeeds
  if (error instanceof StillErasing) throw new AppError('conflict', `${error.message}.`);
  throw error;
}
