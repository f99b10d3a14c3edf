import { nameFault } from '../auth/keys';
import type { Plan } from '../auth/principal';
import type { Role } from '../auth/roles';
import { type Config, gatewayUrl } from '../config';
import type { Databases } from '../database/connect';
import type { ShardHealth } from '../database/shardHealth';
import { invalidRequest, notFound, validationFailed } from '../errors';
import type { JobRow } from '../organisations/jobRows';
import type { Actor } from '../organisations/auditEvents';
import type { Control } from '../organisations/control';
import { type Attempt, shownOnce } from '../organisations/creations';
import type { OrganisationPageQuery } from '../organisations/organisations';
import { type Listed, shownOrganisation, toListed } from '../organisations/organisationRows';
import { DAYS_KEPT } from '../organisations/keyUsage';
import { signInUrl } from '../organisations/sessions';
import { DAY, isOrganisationRef, REF_PREFIX } from '../units';
import type { EndpointInput, OwnWebhooks } from '../webhooks/management';
import { administrationOf, type DataActions } from './administration';
import { type FeedCaller, type FeedOptions, operatorFeed } from './events';
import { conflict, erasing, explain, notAllowed } from './refusals';
import { writerOf, type Writing } from './writer';

export interface OperatorOptions extends Omit<FeedOptions, 'byIds' | 'requireOrganisation'> {
  readonly config: Pick<Config, 'PUBLIC_URL' | 'HOST' | 'PORT'>;
  readonly control: Control;
  readonly databases: Pick<Databases, 'shards' | 'shardsOf' | 'organisationData'>;
  readonly shardHealth: Pick<ShardHealth, 'states'> | undefined;
  /** The webhooks of an organisation, changed by `by`. */
  readonly webhooksOf: (organisation: Listed, by: { readonly actor: Actor }, createdBy: string) => OwnWebhooks;
  /** What writing organisations' data needs. */
  readonly writing: Writing;
  /** Tells this gateway that there is a new job. */
  readonly wake: () => void;
  readonly actions: DataActions;
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
  readonly shard?: string | null;
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

/** The request of an operator. */
export interface Asking {
  /** Undefined without an Idempotency-Key. */
  readonly attempt: Attempt | undefined;
  readonly caller: FeedCaller;
}

/** What operations that find or create are told beside their arguments. */
export interface Creating {
  /** Called if the object that the operation would create already exists. */
  readonly noteExisting: () => void;
}

/** Days of usage in an answer: by default, and at most. */
const [USUAL_DAYS, MAX_DAYS] = [30, 100];

export type Operator = ReturnType<typeof operatorOf>;

/** The operations of schema/operator.graphql by name, performed by `actor`; with an `attempt`, repeating one creates nothing twice. */
export function operatorOf(options: OperatorOptions, actor: Actor, { attempt, caller }: Asking) {
  const { config, control, databases, shardHealth } = options;
  const { organisations } = control.as(actor);
  const once = control.creations.by(actor.who, attempt);

  /** By its id, or `ref:` and its external_ref. */
  const find = (id: string): Promise<Listed | undefined> =>
    isOrganisationRef(id) ? organisations.findByRef(id.slice(REF_PREFIX.length)) : organisations.find(id.toLowerCase());

  /** @throws AppError not_found */
  async function requireExisting(id: string): Promise<Listed> {
    const found = await find(id);
    if (!found) throw notFound('organisation');
    return found;
  }

  /** @throws AppError not_found; conflict if it is being erased */
  async function requireOpen(id: string): Promise<Listed> {
    const found = await requireExisting(id);
    if (found.state === 'erasing') throw erasing();
    return found;
  }

  /** Finds organisations, each by its id or by `ref:` and its external_ref. */
  async function findAll(names: readonly string[]): Promise<Map<string, Listed>> {
    const refs = names.filter(isOrganisationRef).map((name) => name.slice(REF_PREFIX.length));
    const found = await organisations.findAll(
      names.filter((name) => !isOrganisationRef(name)),
      refs,
    );
    const byName = found.flatMap((one) => [
      [one.id, one] as const,
      ...(one.external_ref === null ? [] : [[REF_PREFIX + one.external_ref, one] as const]),
    ]);
    return new Map(byName);
  }

  const feed = operatorFeed(
    { ...options, byIds: (ids) => organisations.byIds(ids), requireOrganisation: requireExisting },
    caller,
  );

  const administration = administrationOf({
    ...{ control, databases, actions: options.actions, actor, once, requireExisting, requireOpen },
    webhooksOf: (organisation) => options.webhooksOf(organisation, { actor }, actor.who),
  });

  const writer = writerOf(options.writing, { actor, attempt, requireOpen, findAll });
  const integrations = async (id: string) => control.integrationsOf(await requireOpen(id), actor);
  const webhooks = async (id: string) => options.webhooksOf(await requireOpen(id), { actor }, actor.who);

  async function shownAll(all: readonly Listed[]) {
    const shards = await databases.shardsOf(all.map(({ id }) => id));
    return all.map((organisation) => shownOrganisation(organisation, shards.get(organisation.id) ?? null));
  }

  async function shown(organisation: Listed) {
    const { id } = organisation;
    return shownOrganisation(organisation, (await databases.shardsOf([id])).get(id) ?? null);
  }

  return {
    ...feed,
    ...administration,
    create_sandbox: async (args: Id, { noteExisting }: Creating) =>
      shown(await administration.create_sandbox(args, noteExisting)),
    reset_sandbox: async (args: Id) => shown(await administration.reset_sandbox(args)),
    async organisations(query: OrganisationPageQuery) {
      const { shard } = query;
      const ids = shard == null ? undefined : ((await databases.shards?.organisationsOn(shard)) ?? []);
      const page = await organisations.page({ ...query, ids });
      return { ...page, data: await shownAll(page.data.map(toListed)) };
    },
    organisation: async ({ id }: Id) => shown(await requireExisting(id)),
    async create_organisation(args: NewOrganisationArgs, { noteExisting }: Creating) {
      const name = plainName(args.name, '/name');
      const { plan, external_ref, shard, currency } = args;
      if (external_ref != null) requireLine(external_ref, '/external_ref');
      const input = {
        ...{ name, plan: plan ?? 'integrations', currency: currency ?? 'USD' },
        ...{ external_ref: external_ref ?? undefined, shard: shard ?? undefined },
      };
      const { organisation, isNew } = await once(
        { organisationId: '', operation: 'create_organisation', args: input },
        (noteId) => organisations.createOnce(input, noteId).catch(explain),
        async (id) => {
          const made = await requireExisting(id);
          attempt?.onReplay();
          return { organisation: made, isNew: true };
        },
      );
      if (!isNew) noteExisting();
      return shown(organisation);
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
      const changed = await organisations.update(known, set).catch((error: unknown) => explain(error));
      // its erasure has begun meanwhile
      if (!changed) throw erasing();
      return shown(changed);
    },
    async erase_organisation({ id, confirm }: Id & { readonly confirm: string }) {
      const found = await find(id);
      // an organisation that is gone has its job by its id
      const organisationId = found?.id ?? id.toLowerCase();
      const name = found?.name;
      // an organisation that is gone has no name to confirm, but its job may still be there
      if (name !== undefined && confirm !== name) {
        const detail = `must be the name of the organisation, which is ${JSON.stringify(name)}`;
        throw validationFailed([{ pointer: '/confirm', code: 'not_allowed', detail }]);
      }
      return ask({ kind: 'erasure', organisationId, to: null });
    },
    async move_organisation({ id, to }: Id & { readonly to: string }) {
      const { id: organisationId } = await requireOpen(id);
      if (!databases.shards) throw notAllowed('/to', 'the database is a replica set, without shards');
      await databases.shards.require(to).catch((error: unknown) => explain(error, '/to'));
      if ((await databases.shardsOf([organisationId])).get(organisationId) === to)
        throw conflict('/to', `organisation ${organisationId} is on shard ${to} already`);
      return ask({ kind: 'move', organisationId, to });
    },
    async job({ id }: Id) {
      const found = await control.jobs.find(id.toLowerCase());
      if (!found) throw notFound('job');
      return shownJob(found);
    },
    keys: async ({ id, ...query }: Id & Arguments<'api_keys'>) =>
      control.integrationsOf(await requireExisting(id), actor).api_keys(query),
    async create_key({ id, ...args }: Id & Arguments<'create_api_key'>) {
      const organisation = await requireOpen(id);
      const own = control.integrationsOf(organisation, actor);
      return once(
        { organisationId: organisation.id, operation: 'create_key', args },
        (noteId) => own.create_api_key(args, noteId),
        (made) => Promise.reject(shownOnce('API key', made, 'revoke')),
      );
    },
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
      const made = await control.sessions.makeLink({ organisationId, user, role: role ?? 'admin' }, actor);
      if (!made) throw erasing();
      return { url: signInUrl(gatewayUrl(config), made.token), expires_at: made.endsAt };
    },
    webhooks: async ({ id }: Id) => ({ data: await (await webhooks(id)).list() }),
    async create_webhook({ id, ...args }: Id & EndpointInput & { readonly url: string }) {
      const organisation = await requireOpen(id);
      const own = options.webhooksOf(organisation, { actor }, actor.who);
      return once(
        { organisationId: organisation.id, operation: 'create_webhook', args },
        (noteId) => own.create(args, noteId),
        (made) => Promise.reject(shownOnce('webhook endpoint', made, 'delete')),
      );
    },
    ...writer,
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
    async shards() {
      const states = new Map(shardHealth?.states().map((state) => [state.shard, state]));
      const all = (await databases.shards?.counted()) ?? [];
      return {
        data: all.map((shard) => {
          const { isUp = true, isWritable = true } = states.get(shard.name) ?? {};
          return { ...shard, state: isUp ? (isWritable ? 'up' : 'read_only') : 'away' };
        }),
      };
    },
  };

  /** Finds or creates a job. */
  async function ask(wanted: { kind: JobRow['kind']; organisationId: string; to: string | null }) {
    const job = await control.jobs.ask(wanted, actor).catch((error: unknown) => explain(error));
    if (!job) throw notFound('organisation');
    options.wake();
    return shownJob(job);
  }
}

function shownJob({ _id: id, kind, organisation_id, to, state, step, error, actor, created_at, ended_at }: JobRow) {
  const at = { created_by: actor.who, created_at, ended_at };
  return { id, kind, organisation_id, to, state, step: state === 'running' ? step : null, error, ...at };
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
