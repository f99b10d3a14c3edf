import { controlCollections } from '../../organisations/models';
import { differenceOf, makeIndexes } from '../../database/making';
import { databaseName } from '../../database/organisationData';
import { MAKE_ROOM } from '../../organisations/placement';
import type { Store } from '../common/open';
import { type Check, examine, Finding } from './check';

/* What the clusters hold: the indexes of the control database, databases without an organisation, and files. */

/** Names to list; the rest are counted. */
const LISTED = 20;
const LEFT_OVER =
  'check that CONTROL_DATABASE is the right one; unless another control database has them, they are left over: drop them with dropDatabase() in mongosh';

/** Whether the control database has its indexes; `fix` makes those that are missing. */
export function checkControl({ databases: { control } }: Store, fix: boolean): Promise<Check> {
  return examine('control database', 'run scopegate doctor --fix', async () => {
    const made: string[] = [];
    for (const definition of controlCollections) {
      const { missing } = await differenceOf(control, definition);
      if (missing.length > 0 && fix) await makeIndexes(control, definition, missing);
      made.push(...missing.map(({ name }) => `${definition.name}: ${name}`));
    }
    if (made.length === 0) return `${control.name} has every index`;
    if (!fix) throw new Error(`${control.name} lacks ${made.join(', ')}`);
    return `created ${made.join(', ')}`;
  });
}

/** The organisations that have a database, by cluster, of the clusters that tell. */
export async function databasesByCluster({ databases }: Store): Promise<Map<string, Set<string>>> {
  const reached = databases.clusters.filter((cluster) => databases.versions().has(cluster));
  const found = await Promise.all(
    reached.map(async (cluster) => {
      try {
        return [[cluster, new Set(await databases.organisationsOn(cluster))] as const];
      } catch {
        // it stopped since, or the user may not; the check of its indexes says that it was left out
        return [];
      }
    }),
  );
  return new Map(found.flat());
}

/**
 * Names databases that belong to no organisation, or to one on another cluster, and that no move has left. They are no failure:
 * another control database may know them.
 */
export async function checkDatabases(
  { control, databases }: Store,
  present: ReadonlyMap<string, ReadonlySet<string>>,
  isOfMove: (id: string, cluster: string) => boolean,
): Promise<Check> {
  const orphans: string[] = [];
  const check = await examine('databases', 'look at the control database', async () => {
    for (const [cluster, ids] of present) {
      const known = await control.organisations.clustersOf([...ids]);
      for (const id of ids) {
        const on = known.get(id);
        if (on === cluster || isOfMove(id, cluster)) continue;
        const why = on === undefined ? '' : ` of an organisation that is on cluster ${on}`;
        orphans.push(`${databaseName(id)} on cluster ${cluster}${why}`);
      }
    }
    if (orphans.length === 0) return 'every database belongs to an organisation';
    const more = orphans.length > LISTED ? ` and ${String(orphans.length - LISTED)} more` : '';
    const noun = orphans.length === 1 ? 'database belongs' : 'databases belong';
    return `${String(orphans.length)} ${noun} to no organisation of ${databases.control.name} there: ${orphans.slice(0, LISTED).join(', ')}${more}`;
  });
  return check.ok && orphans.length > 0 ? { ...check, fix: LEFT_OVER } : check;
}

/** How full each cluster is. `inUse` has the files of those whose organisations were all looked at. */
export async function* checkFiles({ control }: Store, inUse: ReadonlyMap<string, number>): AsyncGenerator<Check> {
  for (const { cluster, organisations, copies, reserved, capacity } of await control.placement.fullness()) {
    yield await examine(`files on cluster ${cluster}`, MAKE_ROOM, () => {
      const noun = organisations === 1 ? 'organisation' : 'organisations';
      const used = inUse.get(cluster);
      const text = `${count(reserved)} of ${count(capacity)} reserved for ${count(organisations)} ${noun}${copies > 0 ? ` and ${count(copies)} of moves` : ''}${used === undefined ? '' : `, which have ${count(used)}`}`;
      if (reserved > capacity) throw new Finding(text, MAKE_ROOM);
      return text;
    });
  }
}

function count(value: number): string {
  return value.toLocaleString('en');
}
