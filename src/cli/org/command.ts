import { type Plan, PLANS } from '../../auth/plans';
import type { Organisation } from '../../auth/principal';
import type { Role } from '../../auth/roles';
import { storedBytes } from '../../database/quota';
import { notFound } from '../common/failure';
import type { JsonOption, OrgOption } from '../common/help';
import type { Store } from '../common/open';
import { counted, print, printResult, reachable, say, signInUrl } from '../common/terminal';
import { requireCluster, requireOrganisation, withStore } from '../common/withStore';
import { requireMoves } from './copies';

/** What commands show of an organisation. */
export function shown({ id, name, plan, cluster, state }: Organisation) {
  return { id, name, plan, cluster, state };
}

interface CreateOptions extends JsonOption {
  readonly name: string;
  readonly plan: Plan;
  readonly currency: string;
  readonly cluster?: string;
}

export async function create({ json, cluster, ...input }: CreateOptions): Promise<void> {
  const created = await withStore(async ({ control, databases }) => {
    if (cluster !== undefined) requireCluster(databases, cluster);
    return control.organisations.create({ ...input, cluster });
  });
  printResult(json, shown(created), shown(created));
  if (!json) print(`\nNext: scopegate key create --org ${created.id} --name "first key" --scopes all`);
}

export async function show(id: string, { json }: JsonOption): Promise<void> {
  const { moves, stored } = await withStore(async (store) => {
    const moves = await requireMoves(store, id);
    // a cluster that is away keeps nothing else from being shown
    const stored = await store.databases
      .open(moves.organisation)
      .then(({ connection }) => storedBytes(connection))
      .catch(() => undefined);
    return { moves, stored };
  });
  const { organisation, move, copies } = moves;
  const { mover: _mover, ...begun } = move ?? { mover: '' };
  const value = {
    ...shown(organisation),
    ...(move && { move: begun }),
    ...(copies.length > 0 && { copies }),
    ...(stored !== undefined && { stored_bytes: stored }),
  };
  const left = copies.map(
    ({ cluster, left_at, complete }) => `on ${cluster} since ${left_at.toISOString()}${complete ? '' : ', unfinished'}`,
  );
  printResult(json, value, {
    ...shown(organisation),
    ...(move && { move: `to ${move.to} since ${move.begun_at.toISOString()}` }),
    ...(left.length > 0 && { copies: left.join('; ') }),
    ...(stored !== undefined && { bytes: String(stored) }),
  });
}

export function rename(id: string, newName: string, { json }: JsonOption): Promise<void> {
  return change(
    id,
    json,
    ({ control }) => control.organisations.rename(id, newName),
    ({ name }) => `Organisation ${id} is now called ${name}.`,
  );
}

export function setPlan(id: string, plan: Plan, { json }: JsonOption): Promise<void> {
  const access = PLANS[plan].integrations ? 'its keys have API access' : 'its keys have no API access';
  return change(
    id,
    json,
    ({ control }) => control.organisations.setPlan(id, plan),
    ({ name }) => `${name} (${id}) is now on the ${plan} plan: ${access}.`,
  );
}

export function suspend(id: string, { json }: JsonOption): Promise<void> {
  return change(
    id,
    json,
    ({ control }) => control.organisations.suspend(id),
    ({ name }) => `${name} (${id}) is suspended. To undo: scopegate org resume ${id}`,
  );
}

export function resume(id: string, { json }: JsonOption): Promise<void> {
  return change(
    id,
    json,
    ({ control }) => control.organisations.resume(id),
    ({ name }) => `${name} (${id}) is active.`,
  );
}

/** Changes an organisation, and prints it or what was done. */
async function change(
  id: string,
  json: true | undefined,
  work: (store: Store) => Promise<Organisation | undefined>,
  say: (organisation: Organisation) => string,
): Promise<void> {
  const changed = await withStore(async (store) => {
    const done = await work(store);
    // for its error, if it cannot be changed because it is being erased
    if (!done) await requireOrganisation(store, id);
    return done;
  });
  if (!changed) throw notFound('organisation', id);
  printResult(json, shown(changed), say(changed));
}

interface LinkOptions extends OrgOption {
  readonly role: Role;
  readonly name?: string;
}

export async function link({ org, role, name: given, json }: LinkOptions): Promise<void> {
  const made = await withStore(async ({ control, operator }, { PUBLIC_URL, HOST, PORT }) => {
    const userName = given ?? operator.who.replace(/^cli:/, '');
    const user = { id: `link:${userName}`, name: userName };
    const link = await control.sessions.makeLink({ organisationId: org, user, role }, operator);
    const organisation = await control.organisations.find(org);
    const local = `http://${HOST.includes(':') ? `[${HOST}]` : HOST}:${String(PORT)}`;
    const base = PUBLIC_URL ?? reachable(local);
    return link && organisation && { ...link, url: signInUrl(base, link.token), userName, organisation };
  });
  if (!made) throw notFound('organisation', org);
  const { url, userName, endsAt, organisation } = made;
  const { id, name, plan } = organisation;
  printResult(json, { url, role, expires_at: endsAt, organisation: { id, name, plan } }, url);
  if (json) return;
  say(
    `\nOpen it in a browser. It signs ${userName} in to ${name} as ${role}, once, and expires at ${endsAt.toISOString()}.`,
  );
}

interface SignOutOptions extends OrgOption {
  readonly user?: string;
}

export async function signOut({ org, user, json }: SignOutOptions): Promise<void> {
  const ended = await withStore(async (store) => {
    const { id } = await requireOrganisation(store, org);
    // the audit log prefixes a user's id with `user:`
    const whose = { organisationId: id, ...(user !== undefined && { userId: user.replace(/^user:/, '') }) };
    return store.control.sessions.endAll(whose, store.operator);
  });
  printResult(json, { ended }, `Ended ${counted(ended, 'session')}.`);
}
