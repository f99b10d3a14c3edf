import type { Databases } from '../tenant/databases';
import type { ShardHealth } from '../mongo/shardHealth';
import { notFound, validationFailed } from '../errors';
import type { Actor } from '../organisations/auditEvents';
import type { Control } from '../organisations/control';
import type { Attempt } from '../organisations/creations';
import type { JobRow } from '../organisations/jobRows';
import { type OrganisationForOperators, shownOrganisation, forOperators } from '../organisations/organisationRows';
import type { OrganisationPageQuery } from '../organisations/organisationReads';
import type { Finder } from './finder';
import { conflict, beingErased, rethrowForCaller, notAllowed, plainName, requireLine } from './refusals';

/* What operators do to organisations, and the jobs and shards that this takes. */

export interface OrganisationsOptions {
  readonly control: Control;
  readonly databases: Pick<Databases, 'shards' | 'shardsOf'>;
  readonly shardHealth: Pick<ShardHealth, 'states'> | undefined;
  /** Called when there may be a new job, for which this gateway then looks. */
  readonly onNewJob: () => void;
}

interface OperatorRequest {
  readonly actor: Actor;
  /** Undefined without an Idempotency-Key. */
  readonly attempt: Attempt | undefined;
  readonly finder: Finder;
}

export interface CreationHooks {
  /** Called by an operation that creates something if that exists already: the answer is then 200, not 201. */
  readonly noteExisting: () => void;
}

interface Id {
  readonly id: string;
}

interface NewOrganisationArgs {
  readonly name: string;
  readonly plan?: string | null;
  readonly external_ref?: string | null;
  readonly shard?: string | null;
  readonly currency?: string | null;
}

interface UpdateArgs extends Id {
  readonly name?: string;
  readonly plan?: string;
  readonly state?: 'active' | 'suspended';
  readonly external_ref?: string;
}

/** The operations that name no organisation, or one by `id`. With an `attempt`, repeating a creation creates nothing twice. */
export function createOrganisationOperations(
  options: OrganisationsOptions,
  { actor, attempt, finder }: OperatorRequest,
) {
  const { control, databases, shardHealth, onNewJob } = options;
  const { organisations } = control.as(actor);
  const { plans } = control;
  const once = control.creations.onceFor(actor.who, attempt);
  const { find, requireExisting, requireOpen } = finder;

  async function showAll(all: readonly OrganisationForOperators[]) {
    const shards = await databases.shardsOf(all.map(({ id }) => id));
    return all.map((organisation) => shownOrganisation(organisation, shards.get(organisation.id) ?? null));
  }

  async function show(organisation: OrganisationForOperators) {
    const { id } = organisation;
    const shards = await databases.shardsOf([id]);
    return shownOrganisation(organisation, shards.get(id) ?? null);
  }

  /** @throws AppError validation_failed unless there is a plan with this name */
  function requirePlanName(name: string): void {
    const detail = plans.faultOf(name);
    if (detail !== undefined) throw notAllowed('/plan', detail);
  }

  return {
    show,
    async organisations(query: OrganisationPageQuery) {
      const { shard } = query;
      const ids = shard == null ? undefined : ((await databases.shards?.organisationsOn(shard)) ?? []);
      const page = await organisations.page({ ...query, ids });
      return { ...page, data: await showAll(page.data.map(forOperators)) };
    },
    organisation: async ({ id }: Id) => show(await requireExisting(id)),
    async create_organisation(args: NewOrganisationArgs, { noteExisting }: CreationHooks) {
      const name = plainName(args.name, '/name');
      const { plan, external_ref, shard, currency } = args;
      if (external_ref != null) requireLine(external_ref, '/external_ref');
      if (plan != null) requirePlanName(plan);
      const input = {
        name,
        plan: plan ?? plans.defaultName,
        currency: currency ?? undefined,
        external_ref: external_ref ?? undefined,
        shard: shard ?? undefined,
      };
      const { organisation, isNew } = await once(
        // `args`, not `input`: the default plan may have changed before a repeat
        { organisationId: '', operation: 'create_organisation', args },
        (noteId) => organisations.createOnce(input, noteId).catch(rethrowForCaller),
        // the first request made it, or there would be nothing to replay: its answer was 201
        async (id) => ({ organisation: await requireExisting(id), isNew: true }),
      );
      if (!isNew) noteExisting();
      return show(organisation);
    },
    async update_organisation({ id, name, plan, state, external_ref }: UpdateArgs) {
      if (plan !== undefined) requirePlanName(plan);
      if (external_ref !== undefined) requireLine(external_ref, '/external_ref');
      const set = {
        ...(name !== undefined && { name: plainName(name, '/name') }),
        ...(plan !== undefined && { plan }),
        ...(state !== undefined && { state }),
        ...(external_ref !== undefined && { external_ref }),
      };
      const { id: organisationId } = await requireOpen(id);
      const changed = await organisations.update(organisationId, set).catch(rethrowForCaller);
      // its erasure has begun meanwhile
      if (!changed) throw beingErased();
      return show(changed);
    },
    async erase_organisation({ id, confirm }: Id & { readonly confirm: string }) {
      const organisation = await find(id);
      // an organisation that is gone has no name to confirm, but its job is found by its id as long as it is kept
      const organisationId = organisation?.id ?? id.toLowerCase();
      const name = organisation?.name;
      if (name !== undefined && confirm !== name) {
        const detail = `must be the name of the organisation, which is ${JSON.stringify(name)}`;
        throw validationFailed([{ pointer: '/confirm', code: 'not_allowed', detail }]);
      }
      return askForJob({ kind: 'erasure', organisationId, to: null });
    },
    async move_organisation({ id, to }: Id & { readonly to: string }) {
      const { id: organisationId } = await requireOpen(id);
      if (!databases.shards) throw notAllowed('/to', 'the database is a replica set, without shards');
      const request = { kind: 'move', organisationId, to } as const;
      // first, as a job that has not ended may have moved it already
      const open = await control.jobs.findOpen(request);
      if (open) return shownJob(open);
      await databases.shards.require(to).catch((error: unknown) => rethrowForCaller(error, '/to'));
      if ((await databases.shardsOf([organisationId])).get(organisationId) === to)
        throw conflict('/to', `organisation ${organisationId} is on shard ${to} already`);
      return askForJob(request);
    },
    async job({ id }: Id) {
      const row = await control.jobs.find(id.toLowerCase());
      if (!row) throw notFound('job');
      return shownJob(row);
    },
    plans: () =>
      Promise.resolve({ data: plans.all.map((plan) => ({ ...plan, default: plan.name === plans.defaultName })) }),
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

  /** Finds the open job that does this, or creates it. @throws AppError not_found; conflict if the state of the organisation does not allow it */
  async function askForJob(input: { kind: JobRow['kind']; organisationId: string; to: string | null }) {
    const job = await control.jobs.findOrCreate(input, actor).catch(rethrowForCaller);
    if (!job) throw notFound('organisation');
    onNewJob();
    return shownJob(job);
  }
}

function shownJob({ _id: id, kind, organisation_id, to, state, step, error, actor, created_at, ended_at }: JobRow) {
  return {
    id,
    kind,
    organisation_id,
    to,
    state,
    step: state === 'running' ? step : null,
    error,
    created_by: actor.who,
    created_at,
    ended_at,
  };
}
