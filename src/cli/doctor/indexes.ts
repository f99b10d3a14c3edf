import type { Organisation } from '../../access/principal';
import type { Store } from '../common/open';
import { createProgress } from '../common/progress';
import { type Check, examine, Finding } from './check';

/** Organisations to check at once: enough to hide the round trips, and little work for a database that serves. */
const AT_ONCE = 10;

/**
 * Whether every organisation has every index; `fix` creates missing ones. Complete organisations share one line, and those
 * of a cluster that does not respond share one.
 */
export async function* checkIndexes({ control, databases }: Store, fix: boolean): AsyncGenerator<Check> {
  const all = await control.organisations.list();
  const reached = databases.versions();
  const organisations = all.filter(({ cluster }) => reached.has(cluster));
  const found = new Map<number, Check>();
  const progress = createProgress('organisations');
  progress.start('indexes', organisations.length);
  const left = organisations.entries();
  let done = 0;
  const work = async (): Promise<void> => {
    for (const [at, organisation] of left) {
      const check = await checkOrganisation(databases, organisation, fix);
      if (check.detail !== '') found.set(at, check);
      done += 1;
      progress.update(done, done);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  progress.stop();
  yield* [...found].sort(([one], [other]) => one - other).map(([, check]) => check);
  yield* unreached(all.filter(({ cluster }) => !reached.has(cluster)));
  const whole = organisations.length - found.size;
  const noun = whole === 1 ? 'organisation has' : 'organisations have';
  yield { name: 'indexes', ok: true, detail: `${String(whole)} ${noun} every index` };
}

function checkOrganisation(
  { organisationData }: Store['databases'],
  organisation: Organisation,
  fix: boolean,
): Promise<Check> {
  const name = `indexes of ${organisation.name} (${organisation.id})`;
  return examine(name, 'fix the cause, then run scopegate doctor --fix', async () => {
    const data = organisationData(organisation);
    const missing = await data.missingIndexes();
    if (missing.length === 0) return '';
    if (!fix) throw new Finding(`missing ${missing.join(', ')}`, 'run scopegate doctor --fix');
    await data.createIndexes();
    const still = await data.missingIndexes();
    if (still.length === 0) return `created ${missing.join(', ')}`;
    throw new Finding(`still missing ${still.join(', ')}`, 'give the database user permission to create indexes');
  });
}

/** One check per cluster whose organisations could not be checked. */
function unreached(organisations: readonly Organisation[]): Check[] {
  return [...new Set(organisations.map(({ cluster }) => cluster))].map((cluster) => {
    const count = organisations.filter((organisation) => organisation.cluster === cluster).length;
    return {
      name: `indexes on cluster ${cluster}`,
      ok: false,
      detail: `${String(count)} ${count === 1 ? 'organisation was' : 'organisations were'} not checked`,
      fix: `make sure that MONGODB_CLUSTERS has ${cluster} and that it responds, then run scopegate doctor again`,
    };
  });
}
