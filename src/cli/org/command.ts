import { createPlans, type Plans } from '../../auth/plans';
import type { Role } from '../../auth/roles';
import { gatewayUrl, readConfig } from '../../config';
import { storedBytes } from '../../tenant/quota';
import { ShardRefused } from '../../mongo/shards';
import { interruption, notFound, usageFailure } from '../ending';
import type { JsonOption, OrgOption } from '../help';
import { controlsMeant } from '../../organisations/otherControls';
import { type OrganisationForOperators, shownOrganisation } from '../../organisations/organisationRows';
import { signInUrl } from '../../organisations/signInTokens';
import type { Store } from '../store';
import { counted, note, paint, escapeText, print, printResult, printSlowly, say } from '../terminal';
import { requireOrganisation, withStore } from '../withStore';

/** An organisation as commands with --json print it, with its shard. */
async function describe({ databases }: Store, organisation: OrganisationForOperators) {
  return shownOrganisation(organisation, (await databases.shardsOf([organisation.id])).get(organisation.id) ?? null);
}

type Description = Awaited<ReturnType<typeof describe>>;

/** What commands without --json print about it. */
function pairsOf({ id, name, plan, shard, state, sandbox_of, external_ref }: Description) {
  const more = { ...(sandbox_of !== null && { sandbox_of }), ...(external_ref !== null && { external_ref }) };
  return { id, name, plan, ...(shard !== null && { shard }), state, ...more };
}

interface CreateOptions extends JsonOption {
  readonly name?: string;
  readonly plan?: string;
  readonly currency?: string;
  readonly shard?: string;
  readonly externalRef?: string;
  readonly id?: string;
  readonly sandboxOf?: string;
  readonly seed?: string;
}

export async function create({ json, sandboxOf, seed, ...input }: CreateOptions): Promise<void> {
  if (seed !== undefined && sandboxOf === undefined)
    throw usageFailure('--seed needs --sandbox-of; see also scopegate import');
  const { name = '', currency, shard, externalRef: external_ref, id } = input;
  if (name === '' && sandboxOf === undefined) throw usageFailure('--name is required, unless --sandbox-of is given');
  const plans = createPlans(readConfig());
  const { plan = plans.defaultName } = input;
  requirePlanName(plans, '--plan', plan);
  const signal = interruption();
  const created = await withStore(async (store, config) => {
    const { control, operator } = store;
    if (sandboxOf === undefined) {
      const organisation = { name, plan, currency, shard, external_ref };
      if (id === undefined) return describe(store, await control.organisations.create(organisation));
      const { createWithId } = await import('./createWithId.js');
      return describe(store, await createWithId(store, config, { ...organisation, id }));
    }
    const willBeSeeded = seed !== undefined;
    const newSandbox = { of: sandboxOf, name: input.name, shard, willBeSeeded };
    const sandbox = await control.sandboxes.create(newSandbox, operator);
    if (!sandbox) throw notFound('organisation', sandboxOf);
    if (willBeSeeded) await (await import('../sandbox.js')).fillSandbox(store, sandbox, signal);
    return describe(store, sandbox.organisation);
  }, signal).catch((error: unknown) => {
    throw error instanceof ShardRefused ? usageFailure(error.message) : error;
  });
  printResult(json, created, pairsOf(created));
  const next =
    id === undefined
      ? `key create --org ${created.id} --name "first key" --scopes all`
      : `import --org ${created.id} --organisation --keys --webhooks DIR`;
  if (!json) print(`\nNext: scopegate ${next}`);
}

interface ListOptions extends JsonOption {
  readonly plan?: string;
  readonly shard?: string;
  readonly jsonLines?: true;
}

/** A line of the table. Columns have fixed widths, since the first row is printed before the others are read. */
const line = ({ id, plan, state, shard, name }: Columns): string =>
  [id.padEnd(36), plan.padEnd(12), state.padEnd(9), (shard ?? '-').padEnd(12), name].map(escapeText).join('  ');

type Columns = Readonly<Record<'id' | 'plan' | 'state' | 'name', string>> & { readonly shard: string | null };

/** Prints rows as they are read, so that even many organisations take little memory. */
export async function list({ json, jsonLines, shard, ...query }: ListOptions): Promise<void> {
  const headings = { id: 'ID', plan: 'PLAN', state: 'STATE', shard: 'SHARD', name: 'NAME' };
  const heading = `${paint(process.stdout, 'bold', line(headings))}\n`;
  await withStore(async ({ control, databases }) => {
    const { plans } = control;
    let isFirst = true;
    const ids = shard === undefined ? undefined : ((await databases.shards?.organisationsOn(shard)) ?? []);
    for await (const row of withShards(databases, control.organisations.each({ ...query, ids }))) {
      if (json) await printSlowly((isFirst ? '[' : ',') + JSON.stringify(row));
      else if (jsonLines) await printSlowly(`${JSON.stringify(row)}\n`);
      else await printSlowly(`${isFirst ? heading : ''}${line(row)}\n`);
      isFirst = false;
    }
    // a plan that PLANS_FILE lacks may have organisations; without any, it is a typing error
    if (isFirst && query.plan !== undefined) requirePlanName(plans, '--plan', query.plan);
    if (json) await printSlowly(isFirst ? '[]\n' : ']\n');
    else if (!isFirst || jsonLines) return;
    else if (query.plan === undefined && shard === undefined) print(await nothingListed(databases));
    else print('There are no such organisations.');
  });
}

/** Says that there are no organisations, and which control database may have been meant. */
async function nothingListed(databases: Store['databases']): Promise<string> {
  const [meant] = await controlsMeant(databases);
  if (meant === undefined)
    return 'There are no organisations yet. To create one: scopegate org create --name "Acme Ltd"';
  return `The control database ${databases.control.name} has no organisations, but ${meant} has: if that was meant, set CONTROL_DATABASE=${meant}`;
}

/** Organisations with their shards, which are looked up for {@link LOOKED_UP_AT_ONCE} at a time. */
async function* withShards(
  { shardsOf }: Store['databases'],
  organisations: AsyncIterable<OrganisationForOperators>,
): AsyncGenerator<Description> {
  let batch: OrganisationForOperators[] = [];
  async function* shownBatch(): AsyncGenerator<Description> {
    const shards = await shardsOf(batch.map(({ id }) => id));
    for (const organisation of batch) yield shownOrganisation(organisation, shards.get(organisation.id) ?? null);
    batch = [];
  }
  for await (const organisation of organisations) {
    batch.push(organisation);
    if (batch.length === LOOKED_UP_AT_ONCE) yield* shownBatch();
  }
  yield* shownBatch();
}

const LOOKED_UP_AT_ONCE = 1000;

export async function show(id: string, { json }: JsonOption): Promise<void> {
  const { organisation, move, stored } = await withStore(async (store) => {
    const { control, databases } = store;
    const moves = await control.moving.moveOf(id);
    if (!moves) throw notFound('organisation', id);
    // a shard that is down must not hide the rest, and nothing may be read during a move
    const stored = moves.move
      ? undefined
      : await storedBytes(databases.organisationData({ id }).database).catch(() => undefined);
    return { ...moves, organisation: await describe(store, moves.organisation), stored };
  });
  // the mover is the id of a process, which means nothing to people
  const { mover: _mover, ...shownMove } = move ?? { mover: '' };
  const value = {
    ...organisation,
    ...(move && { move: shownMove }),
    ...(stored !== undefined && { stored_bytes: stored }),
  };
  printResult(json, value, {
    ...pairsOf(organisation),
    ...(move && { move: `to ${move.to} since ${move.begun_at.toISOString()}` }),
    ...(stored !== undefined && { bytes: String(stored) }),
  });
}

export async function rename(id: string, newName: string, { json }: JsonOption): Promise<void> {
  const changed = await change(id, (organisations) => organisations.rename(id, newName));
  printResult(json, changed, `Organisation ${id} is now called ${changed.name}.`);
}

export async function setPlan(id: string, plan: string, { json }: JsonOption): Promise<void> {
  const plans = createPlans(readConfig());
  requirePlanName(plans, '<plan>', plan);
  const changed = await change(id, (organisations) => organisations.setPlan(id, plan));
  const access = plans.of({ plan }).api ? 'its keys have API access' : 'its keys have no API access';
  printResult(json, changed, `${changed.name} (${id}) is now on the ${plan} plan: ${access}.`);
}

/** @throws CommandFailure unless there is a plan with this name, which `what` gives */
function requirePlanName(plans: Plans, what: string, name: string): void {
  const fault = plans.faultOf(name);
  if (fault !== undefined) throw usageFailure(`${what} ${fault}`);
}

export async function suspend(id: string, { json }: JsonOption): Promise<void> {
  const changed = await change(id, (organisations) => organisations.suspend(id));
  printResult(json, changed, `${changed.name} (${id}) is suspended. To undo: scopegate org resume ${id}`);
}

export async function resume(id: string, { json }: JsonOption): Promise<void> {
  const changed = await change(id, (organisations) => organisations.resume(id));
  printResult(json, changed, `${changed.name} (${id}) is active.`);
}

/** Changes an organisation. @throws CommandFailure if it does not exist, or is being erased */
function change(
  id: string,
  work: (organisations: Store['control']['organisations']) => Promise<OrganisationForOperators | undefined>,
): Promise<Description> {
  return withStore(async (store) => {
    const changed = await work(store.control.organisations);
    if (changed) return describe(store, changed);
    await requireOrganisation(store, id);
    throw notFound('organisation', id);
  });
}

interface LinkOptions extends OrgOption {
  readonly role: Role;
  readonly name?: string;
}

export async function link({ org, role, name: userOption, json }: LinkOptions): Promise<void> {
  const signIn = await withStore(async ({ control, operator }, config) => {
    // who is `cli:` and the name of the user
    const userName = userOption ?? operator.who.replace(/^cli:/, '');
    const user = { id: `link:${userName}`, name: userName };
    const link = await control.sessions.makeLink({ organisationId: org, user, role }, operator);
    const organisation = await control.organisations.find(org);
    const isAssumed = config.PUBLIC_URL === undefined;
    const base = gatewayUrl(config);
    return link && organisation && { ...link, url: signInUrl(base, link.token), isAssumed, userName, organisation };
  });
  if (!signIn) throw notFound('organisation', org);
  const { url, isAssumed, userName, endsAt, organisation } = signIn;
  const { id, name, plan } = organisation;
  printResult(json, { url, role, expires_at: endsAt, organisation: { id, name, plan } }, url);
  if (json) return;
  say(
    `\nOpen it in a browser. It signs ${userName} in to ${name} as ${role}, once, and expires at ${endsAt.toISOString()}.`,
  );
  if (isAssumed) note(`PUBLIC_URL is not set, so the link is for a gateway at ${new URL(url).origin} (HOST and PORT)`);
}

export async function signOut({ org, user, json }: OrgOption & { readonly user?: string }): Promise<void> {
  const ended = await withStore(async (store) => {
    const { id } = await requireOrganisation(store, org);
    // the audit log prefixes a user's id with `user:`
    const whose = { organisationId: id, ...(user !== undefined && { userId: user.replace(/^user:/, '') }) };
    return store.control.sessions.endAll(whose, store.operator);
  });
  printResult(json, { ended }, `Ended ${counted(ended, 'session')}.`);
}
