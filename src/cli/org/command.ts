import { type Plan, PLANS } from '../../auth/principal';
import type { Role } from '../../auth/roles';
import { gatewayUrl } from '../../config';
import { storedBytes } from '../../database/quota';
import { interruption, notFound, usageFailure } from '../ending';
import type { JsonOption, OrgOption } from '../help';
import { type Listed, shownOrganisation } from '../../organisations/organisationRows';
import { signInUrl } from '../../organisations/sessions';
import type { Store } from '../store';
import { counted, note, paint, plain, print, printResult, printSlowly, say } from '../terminal';
import { requireCluster, requireOrganisation, withStore } from '../withStore';
import { requireMoves } from './copies';

/** What commands without --json print about an organisation. */
function printed({ id, name, plan, cluster, state, sandbox_of, external_ref }: Listed) {
  const more = { ...(sandbox_of !== undefined && { sandbox_of }), ...(external_ref !== null && { external_ref }) };
  return { id, name, plan, cluster, state, ...more };
}

interface CreateOptions extends JsonOption {
  readonly name?: string;
  readonly plan?: Plan;
  readonly currency?: string;
  readonly cluster?: string;
  readonly sandboxOf?: string;
  readonly seed?: string;
}

export async function create({ json, sandboxOf, seed, ...input }: CreateOptions): Promise<void> {
  if (seed !== undefined && sandboxOf === undefined)
    throw usageFailure('--seed needs --sandbox-of; see also scopegate import');
  const { name = '', plan = 'integrations', currency = 'USD', cluster } = input;
  if (name === '' && sandboxOf === undefined) throw usageFailure('--name is required, unless --sandbox-of is given');
  const signal = interruption();
  const created = await withStore(async (store) => {
    const { control, databases, operator } = store;
    if (cluster !== undefined) requireCluster(databases, cluster);
    if (sandboxOf === undefined) {
      return control.organisations.create({ name, plan, currency, cluster });
    }
    const seeded = seed !== undefined;
    const made = await control.sandboxes.create({ of: sandboxOf, name: input.name, cluster, seeded }, operator);
    if (!made) throw notFound('organisation', sandboxOf);
    if (seeded) await (await import('../sandbox.js')).fillSandbox(store, made, signal);
    return made.organisation;
  }, signal);
  printResult(json, shownOrganisation(created), printed(created));
  if (!json) print(`\nNext: scopegate key create --org ${created.id} --name "first key" --scopes all`);
}

interface ListOptions extends JsonOption {
  readonly cluster?: string;
  readonly plan?: Plan;
  readonly jsonLines?: true;
}

/** A line of the table. Columns have fixed widths, since the first row is printed before the others are read. */
const line = ({
  id,
  plan,
  state,
  cluster,
  name,
}: Readonly<Record<'id' | 'plan' | 'state' | 'cluster' | 'name', string>>): string =>
  [id.padEnd(36), plan.padEnd(12), state.padEnd(9), cluster.padEnd(12), name].map(plain).join('  ');

/** Prints rows as they are read, so that even many organisations take little memory. */
export async function list({ json, jsonLines, ...query }: ListOptions): Promise<void> {
  const headings = { id: 'ID', plan: 'PLAN', state: 'STATE', cluster: 'CLUSTER', name: 'NAME' };
  const heading = `${paint(process.stdout, 'bold', line(headings))}\n`;
  await withStore(async ({ control }) => {
    let isFirst = true;
    for await (const organisation of control.organisations.each(query)) {
      const row = shownOrganisation(organisation);
      if (json) await printSlowly((isFirst ? '[' : ',') + JSON.stringify(row));
      else if (jsonLines) await printSlowly(`${JSON.stringify(row)}\n`);
      else await printSlowly(`${isFirst ? heading : ''}${line(row)}\n`);
      isFirst = false;
    }
    if (json) await printSlowly(isFirst ? '[]\n' : ']\n');
    else if (!isFirst || jsonLines) return;
    else if (query.cluster === undefined && query.plan === undefined)
      print('There are no organisations yet. To create one: scopegate org create --name "Acme Ltd"');
    else print('There are no such organisations.');
  });
}

export async function show(id: string, { json }: JsonOption): Promise<void> {
  const { moves, stored } = await withStore(async (store) => {
    const moves = await requireMoves(store, id);
    // a cluster that is down must not hide the rest
    const stored = await store.databases
      .open(moves.organisation)
      .then(({ database }) => storedBytes(database))
      .catch(() => undefined);
    return { moves, stored };
  });
  const { organisation, move, copies } = moves;
  const { mover: _mover, ...begun } = move ?? { mover: '' };
  const value = {
    ...shownOrganisation(organisation),
    ...(move && { move: begun }),
    ...(copies.length > 0 && { copies }),
    ...(stored !== undefined && { stored_bytes: stored }),
  };
  const copyLines = copies.map(
    ({ cluster, left_at, complete }) => `on ${cluster} since ${left_at.toISOString()}${complete ? '' : ', unfinished'}`,
  );
  printResult(json, value, {
    ...printed(organisation),
    ...(move && { move: `to ${move.to} since ${move.begun_at.toISOString()}` }),
    ...(copyLines.length > 0 && { copies: copyLines.join('; ') }),
    ...(stored !== undefined && { bytes: String(stored) }),
  });
}

export async function rename(id: string, newName: string, { json }: JsonOption): Promise<void> {
  const changed = await change(id, (organisations) => organisations.rename(id, newName));
  printResult(json, shownOrganisation(changed), `Organisation ${id} is now called ${changed.name}.`);
}

export async function setPlan(id: string, plan: Plan, { json }: JsonOption): Promise<void> {
  const changed = await change(id, (organisations) => organisations.setPlan(id, plan));
  const access = PLANS[plan].integrations ? 'its keys have API access' : 'its keys have no API access';
  printResult(json, shownOrganisation(changed), `${changed.name} (${id}) is now on the ${plan} plan: ${access}.`);
}

export async function suspend(id: string, { json }: JsonOption): Promise<void> {
  const changed = await change(id, (organisations) => organisations.suspend(id));
  printResult(
    json,
    shownOrganisation(changed),
    `${changed.name} (${id}) is suspended. To undo: scopegate org resume ${id}`,
  );
}

export async function resume(id: string, { json }: JsonOption): Promise<void> {
  const changed = await change(id, (organisations) => organisations.resume(id));
  printResult(json, shownOrganisation(changed), `${changed.name} (${id}) is active.`);
}

/** Changes an organisation. @throws CommandFailure if it does not exist, or is being erased */
function change(
  id: string,
  work: (organisations: Store['control']['organisations']) => Promise<Listed | undefined>,
): Promise<Listed> {
  return withStore(async (store) => {
    const changed = await work(store.control.organisations);
    if (changed) return changed;
    await requireOrganisation(store, id);
    throw notFound('organisation', id);
  });
}

interface LinkOptions extends OrgOption {
  readonly role: Role;
  readonly name?: string;
}

export async function link({ org, role, name: given, json }: LinkOptions): Promise<void> {
  const made = await withStore(async ({ control, operator }, config) => {
    const userName = given ?? operator.who.replace(/^cli:/, '');
    const user = { id: `link:${userName}`, name: userName };
    const link = await control.sessions.makeLink({ organisationId: org, user, role }, operator);
    const organisation = await control.organisations.find(org);
    const isAssumed = config.PUBLIC_URL === undefined;
    const base = gatewayUrl(config);
    return link && organisation && { ...link, url: signInUrl(base, link.token), isAssumed, userName, organisation };
  });
  if (!made) throw notFound('organisation', org);
  const { url, isAssumed, userName, endsAt, organisation } = made;
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
