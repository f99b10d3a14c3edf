import { type Organisation, STATES } from '../../auth/principal';
import type { Collection } from '../../database/collection';
import {
  collectionNames,
  type Difference,
  differenceOf,
  dropIndexes,
  filesOf,
  createIndexes,
} from '../../database/indexes';
import type { OrganisationData } from '../../database/organisationData';
import { aborted, messageOf } from '../ending';
import { createProgress } from '../progress';
import { counted } from '../terminal';
import { type Check, examine, Finding, type DoctorContext } from './check';
import type { Present } from './storage';

/** Organisations to check at once: enough to hide the round trips, but little work for a database in use. */
const AT_ONCE = 10;

/** Totals over all organisations. */
interface Tally {
  complete: number;
  /** Have no data yet. */
  empty: number;
  /** Have indexes that no query needs any more. */
  surplus: number;
  /** Have collections that have passed 1,000 rows and still lack the indexes that such collections get. */
  grown: number;
  readonly present: Present;
  /** The files that organisations have, by cluster. */
  readonly files: Map<string, number>;
  /** Organisations that were not checked, by cluster. */
  readonly unreached: Map<string, number>;
}

/**
 * Whether every collection has every index; `fix` creates those that are missing, with one command per collection, and drops retired
 * ones. All complete organisations share one line, and so do those of a cluster that does not respond. Created indexes stay, so an
 * interrupted run can be repeated. @throws AbortError when the signal aborts
 */
export async function* checkIndexes(
  context: DoctorContext,
  present: Present,
  files: Map<string, number>,
): AsyncGenerator<Check> {
  const { store, signal } = context;
  const { organisations } = store.control;
  const tally: Tally = { ...{ complete: 0, empty: 0, surplus: 0, grown: 0, present, files }, unreached: new Map() };
  const found: { readonly at: number; readonly check: Check }[] = [];
  const progress = createProgress('organisations');
  progress.start('indexes', await organisations.count());
  const left = organisations.each();
  let [begun, done] = [0, 0];
  const work = async (): Promise<void> => {
    // several workers share the cursor
    for (let next = await left.next(); next.done !== true && !signal.aborted; next = await left.next()) {
      const at = (begun += 1);
      // an organisation that is being erased needs no index any more
      const isChecked = STATES[next.value.state].data;
      const check = isChecked ? await checkOrganisation(context, next.value, tally) : undefined;
      if (check) found.push({ at, check });
      done += 1;
      progress.update(done, done);
    }
  };
  const working = Promise.all(Array.from({ length: AT_ONCE }, work));
  // after an interruption, work fails only because its connection is closed
  working.catch(() => undefined);
  try {
    await Promise.race([working, aborted(signal)]);
    signal.throwIfAborted();
  } finally {
    progress.stop();
  }
  yield* found.sort((one, other) => one.at - other.at).map(({ check }) => check);
  for (const [cluster, count] of tally.unreached) {
    const detail = `${counted(count, 'organisation')} ${count === 1 ? 'was' : 'were'} not checked`;
    const fix = `make sure that MONGODB_CLUSTERS has ${cluster} and that it responds, then run scopegate doctor again`;
    yield { name: `indexes on cluster ${cluster}`, ok: false, detail, fix };
  }
  yield { name: 'indexes', ok: true, detail: summary(tally) };
}

function summary({ complete, empty, surplus, grown }: Tally): string {
  const whole = complete + empty;
  const have = (count: number): string => (count === 1 ? 'has' : 'have');
  return [
    `${counted(whole, 'organisation')} ${have(whole)} every index`,
    ...(empty > 0 ? [`${String(empty)} of them ${have(empty)} no data yet`] : []),
    ...(grown > 0
      ? [
          `${String(grown)} ${have(grown)} collections that have passed 1,000 rows, which get their other indexes when they are next used, or by --fix`,
        ]
      : []),
    ...(surplus > 0
      ? [`${String(surplus)} ${have(surplus)} indexes that are no longer needed, which scopegate doctor --fix drops`]
      : []),
  ].join('; ');
}

/** The check of one organisation; undefined if there is nothing to report. */
async function checkOrganisation(
  { store, fix }: DoctorContext,
  organisation: Organisation,
  tally: Tally,
): Promise<Check | undefined> {
  const { id, name, cluster } = organisation;
  const there = tally.present.get(cluster);
  if (!there) add(tally.unreached, cluster, 1);
  else if (!there.has(id)) tally.empty += 1;
  if (!there?.has(id)) return undefined;
  const cause = 'fix the cause, then run scopegate doctor --fix';
  const check = await examine(`indexes of ${name} (${id})`, cause, async () => {
    const data = store.databases.organisationData(organisation);
    const found = await differencesOf(data);
    const missing = found.flatMap(namesOf('missing'));
    const surplus = found.flatMap(namesOf('surplus'));
    try {
      if (fix && missing.length + surplus.length > 0) return await fixAll(data, found);
      if (found.some((one) => one.missing.length > 0 && !one.isGrown))
        throw new Finding(`missing on cluster ${cluster}: ${missing.join(', ')}`, 'run scopegate doctor --fix');
      if (missing.length > 0) tally.grown += 1;
      if (surplus.length > 0) tally.surplus += 1;
      return '';
    } finally {
      const files = fix ? await filesOf(data.database) : found.reduce((sum, one) => sum + one.files, 0);
      if (fix) await store.control.organisations.noteFiles(organisation, files, true);
      add(tally.files, cluster, files);
    }
  });
  if (check.ok) tally.complete += 1;
  return check.detail === '' ? undefined : check;
}

function add(to: Map<string, number>, cluster: string, count: number): void {
  to.set(cluster, (to.get(cluster) ?? 0) + count);
}

interface Found extends Difference {
  readonly definition: Collection<{ readonly _id: string }>;
}

/** How the indexes of existing collections differ from the definitions: one command for the names, and one per collection. */
async function differencesOf({ database, collections }: OrganisationData): Promise<Found[]> {
  const names = await collectionNames(database);
  const found: Found[] = [];
  for (const definition of collections) {
    if (names.has(definition.name)) found.push({ definition, ...(await differenceOf(database, definition)) });
  }
  return found;
}

function namesOf(which: 'missing' | 'surplus') {
  return ({ definition, ...found }: Found): string[] =>
    found[which].map((index) => `${definition.name}: ${typeof index === 'string' ? index : index.name}`);
}

/** Creates missing indexes and drops surplus ones. @throws Finding that lists the collections that failed, once the others are done */
async function fixAll(data: OrganisationData, found: readonly Found[]): Promise<string> {
  const failed: string[] = [];
  const done: string[] = [];
  for (const one of found) {
    const { definition, missing, surplus } = one;
    try {
      if (missing.length > 0) await data.creating(() => createIndexes(data.database, definition, missing));
      done.push(...namesOf('missing')(one).map((name) => `created ${name}`));
      // only after the new ones exist, since one of them may do the work of a retired one
      if (surplus.length > 0) await dropIndexes(data.database, definition, surplus);
      done.push(...namesOf('surplus')(one).map((name) => `dropped ${name}`));
    } catch (error) {
      failed.push(`${definition.name} (${messageOf(error)})`);
    }
  }
  if (failed.length === 0) return done.join(', ');
  throw new Finding(
    `could not fix ${failed.join(', ')}${done.length > 0 ? `; ${done.join(', ')}` : ''}`,
    'fix what the error names, such as duplicates or a missing permission to create indexes, then run scopegate doctor --fix again',
  );
}
