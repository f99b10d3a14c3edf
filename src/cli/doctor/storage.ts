import { differenceOf, createIndexes } from '../../database/indexes';
import { databaseOf } from '../../database/native';
import { databaseName } from '../../database/organisationData';
import { controlCollections } from '../../organisations/models';
import type { JobRow } from '../../organisations/jobRows';
import { isAbandoned, type Moves } from '../../organisations/moving';
import { isNearlyFull, MAKE_ROOM } from '../../organisations/placement';
import type { Store } from '../store';
import { type Check, examine, Finding, type Found, listed, type DoctorContext } from './check';

/* Checks of what is stored: indexes of the control database, moves and their copies, jobs, databases without an organisation, and files. */

const LEFT_OVER =
  'check that CONTROL_DATABASE is the right one; unless they belong to another control database, they are left over: drop them with dropDatabase() in mongosh';

/** The ids of the organisations that have a database, by cluster. */
export type Present = ReadonlyMap<string, ReadonlySet<string>>;

/** Whether the control database has its indexes; `fix` creates those that are missing. */
export function checkControl({ store, fix }: DoctorContext): Promise<Check> {
  const { control } = store.databases;
  return examine('control database', 'run scopegate doctor --fix', async () => {
    const made: string[] = [];
    for (const definition of controlCollections) {
      const { missing } = await differenceOf(databaseOf(control), definition, false);
      if (missing.length > 0 && fix) await createIndexes(databaseOf(control), definition, missing);
      made.push(...missing.map(({ name }) => `${definition.name}: ${name}`));
    }
    if (made.length === 0) return `${control.name} has every index`;
    if (!fix) throw new Error(`${control.name} lacks ${made.join(', ')}`);
    return `created ${made.join(', ')}`;
  });
}

/** The organisations' databases on each cluster that lists them. */
export async function databasesByCluster({ databases }: Store): Promise<Present> {
  const reached = databases.clusters.filter((cluster) => databases.versions().has(cluster));
  const found = await Promise.all(
    reached.map(async (cluster) => {
      try {
        return [[cluster, new Set(await databases.organisationsOn(cluster))] as const];
      } catch {
        // the cluster went down, or the user may not list databases; the check of its indexes reports that
        return [];
      }
    }),
  );
  return new Map(found.flat());
}

/**
 * Reports moves whose process has ended, since writes are refused until somebody continues the move; old copies; failing jobs; and
 * databases that belong to no organisation, or to one on another cluster, and were not left by a move. Such a database is not a failure,
 * since it may belong to another control database.
 */
export async function* checkPlaces({ store }: DoctorContext, present: Present): AsyncGenerator<Check> {
  const { control, databases } = store;
  const moves: Moves[] = [];
  for await (const one of control.moving.each()) moves.push(one);
  yield await examine('moves', 'look at the control database', () => stateOfMoves(moves, databases.now()));
  yield await examine('jobs', 'look at the control database', async () => stateOfJobs(await control.jobs.watched()));

  const ofMoves = new Set(
    moves.flatMap(({ organisation: { id }, move, copies }) =>
      [...copies.map(({ cluster }) => cluster), ...(move ? [move.to] : [])].map((cluster) => `${cluster} ${id}`),
    ),
  );
  yield await examine('databases', 'look at the control database', async () => {
    const orphans: string[] = [];
    for (const [cluster, ids] of present) {
      const known = await control.organisations.clustersOf([...ids]);
      for (const id of ids) {
        const on = known.get(id);
        if (on === cluster || ofMoves.has(`${cluster} ${id}`)) continue;
        const why = on === undefined ? '' : ` of an organisation that is on cluster ${on}`;
        orphans.push(`${databaseName(id)} on cluster ${cluster}${why}`);
      }
    }
    if (orphans.length === 0) return 'every database belongs to an organisation';
    const noun = orphans.length === 1 ? 'database belongs' : 'databases belong';
    const detail = `${String(orphans.length)} ${noun} to no organisation of ${databases.control.name} there: ${listed(orphans)}`;
    return { detail, fix: LEFT_OVER };
  });
}

/** Moves under way and old copies. @throws Finding that names a move whose process has ended */
function stateOfMoves(moves: readonly Moves[], now: number): string {
  const under = moves.flatMap(({ organisation, move }) => (move ? [{ ...organisation, move }] : []));
  const abandoned = under.filter(({ move }) => isAbandoned(move, now));
  const [stuck] = abandoned;
  if (stuck) {
    const { id, name, move } = stuck;
    const others = abandoned.length > 1 ? `, and ${String(abandoned.length - 1)} more` : '';
    throw new Finding(
      `the process that moved ${name} (${id}) to cluster ${move.to} has ended, last seen ${move.seen_at.toISOString()}; until the move ends the organisation's writes are refused${others}`,
      `start a gateway that knows both clusters, which goes on with it, or run scopegate org move ${id} --to ${move.to}; to undo it, scopegate org move ${id} --undo`,
    );
  }
  const copies = moves.flatMap(({ organisation: { id }, copies: left }) =>
    left.map(({ cluster, left_at }) => `${databaseName(id)} on cluster ${cluster} since ${left_at.toISOString()}`),
  );
  const said = [
    ...(under.length > 0 ? [`${String(under.length)} under way`] : []),
    ...(copies.length > 0 ? [`old copies, which scopegate org drop-copy deletes: ${listed(copies)}`] : []),
  ];
  return said.length > 0 ? said.join('; ') : 'none under way, and no old copies';
}

/** A warning about jobs of the operator API whose last attempt failed. */
function stateOfJobs(jobs: readonly JobRow[]): string | Found {
  const failing = jobs.filter(({ error }) => error !== null);
  if (failing.length === 0) return jobs.length === 0 ? 'none open' : `${String(jobs.length)} open, and none has failed`;
  const said = failing.map(
    ({ kind, organisation_id: id, ended_at, error }) =>
      `the ${kind} of organisation ${id} ${ended_at === null ? 'will be retried' : 'has failed'}: ${String(error)}`,
  );
  const fix =
    'fix the cause; a gateway retries an erasure by itself, but a move that has failed must be requested again';
  return { detail: listed(said), fix };
}

/** How full each cluster is. `inUse` has the files of each cluster whose organisations were all checked. */
export async function* checkFiles({ control }: Store, inUse: ReadonlyMap<string, number>): AsyncGenerator<Check> {
  const count = (value: number): string => value.toLocaleString('en');
  for (const one of await control.placement.fullness()) {
    const { cluster, organisations, copies, reserved, capacity } = one;
    yield await examine(`files on cluster ${cluster}`, MAKE_ROOM, () => {
      const noun = organisations === 1 ? 'organisation' : 'organisations';
      const used = inUse.get(cluster);
      const text = `${count(reserved)} of ${count(capacity)} reserved for ${count(organisations)} ${noun}${copies > 0 ? ` and ${count(copies)} of moves` : ''}${used === undefined ? '' : `, which have ${count(used)}`}`;
      if (Math.max(reserved, used ?? 0) > capacity) throw new Error(text);
      return { detail: text, ...(isNearlyFull(one) && { fix: MAKE_ROOM }) };
    });
  }
}
