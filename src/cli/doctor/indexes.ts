import type { Organisation } from '../../auth/principal';
import type { Collection } from '../../mongo/collection';
import { PATIENT } from '../../mongo/native';
import { type Difference, differenceOf, dropIndexes, createIndexes } from '../../mongo/indexes';
import type { OrganisationData } from '../../tenant/organisationData';
import { setValidator, type Validation, validationOptions, validatorState } from '../../mongo/validators';
import { aborted, messageOf } from '../ending';
import { createProgress } from '../progress';
import { counted, listed } from '../terminal';
import { isReadable } from '../withStore';
import { type Check, examine, Finding, type DoctorContext } from './check';

/** Organisations to check at once: enough to hide the round trips, but little work for a database in use. */
const AT_ONCE = 10;

/** Numbers of organisations; the checks of single organisations, several at a time, add to it. */
interface Tally {
  complete: number;
  /** Have no data yet. */
  empty: number;
  /** Have indexes that no query needs any more. */
  surplus: number;
  /** Have collections that have passed 1,000 rows and still lack the indexes that such collections get. */
  grown: number;
  /** Have collections without the validator that they should have. */
  unchecked: number;
  /** How many have a collection whose validator is of another version, by the name of the collection. */
  readonly outdated: Map<string, number>;
  /** The ids of the organisations that have a database. */
  readonly present: ReadonlySet<string>;
  /** The shards of their databases. */
  readonly shards: ReadonlyMap<string, string>;
  /** By shard; under '' on a replica set. */
  readonly counts: Map<string, Counts>;
}

/** Organisations with data, and what they have in the database. */
export interface Counts {
  organisations: number;
  collections: number;
  indexes: number;
}

/**
 * Whether every collection has every index and its validator; `fix` creates those that are missing, with one command per collection, and drops
 * retired indexes. All complete organisations share one line. Created indexes stay, so an interrupted run can be repeated. `present` has the ids of
 * the organisations that have a database; `counts` is filled with what each shard has. @throws AbortError when the signal aborts
 */
export async function* checkIndexes(
  context: DoctorContext,
  present: ReadonlySet<string>,
  counts: Map<string, Counts>,
): AsyncGenerator<Check> {
  const { store, signal } = context;
  const { organisations } = store.control;
  const shards = await store.databases.shardsOf([...present]);
  const tally: Tally = {
    complete: 0,
    empty: 0,
    surplus: 0,
    grown: 0,
    unchecked: 0,
    outdated: new Map(),
    present,
    shards,
    counts,
  };
  const checks: { readonly at: number; readonly check: Check }[] = [];
  const progress = createProgress('organisations');
  progress.start('indexes', await organisations.count());
  const remaining = organisations.each();
  let begun = 0;
  let done = 0;
  const work = async (): Promise<void> => {
    // several workers share the cursor
    for (let next = await remaining.next(); next.done !== true && !signal.aborted; next = await remaining.next()) {
      const at = (begun += 1);
      const check = isReadable(next.value) ? await checkOrganisation(context, next.value, tally) : undefined;
      if (check) checks.push({ at, check });
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
  yield* checks.sort((left, right) => left.at - right.at).map(({ check }) => check);
  yield { name: 'indexes', ok: true, detail: summary(tally, context.config.STORED_VALIDATION) };
  if (tally.outdated.size > 0) yield outdatedValidators(tally);
}

/**
 * A warning about validators of another version: they may let other programs write what this version cannot serve. If one refuses a write of a
 * gateway, the gateway replaces it by one that accepts both, as far as its user may.
 */
function outdatedValidators({ outdated }: Tally): Check {
  const names = [...outdated].map(([name, count]) => `${name} (${counted(count, 'organisation')})`);
  const detail = `of another version of Scopegate, STORED_VALIDATION or SCHEMA_DIR: ${listed(names)}`;
  return { name: 'validators', ok: true, detail, fix: OUTDATED_FIX };
}

const OUTDATED_FIX = 'run scopegate doctor --fix once all gateways have this version and its settings';

function summary({ complete, empty, surplus, grown, unchecked }: Tally, validation: Validation): string {
  // an organisation without data lacks none
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
    ...(unchecked > 0
      ? [
          `${String(unchecked)} ${have(unchecked)} ${validation === 'off' ? 'validators, which are off now and which scopegate doctor --fix removes' : 'collections without a validator, which scopegate doctor --fix adds'}`,
        ]
      : []),
  ].join('; ');
}

/** The check of one organisation; undefined if there is nothing to report. */
async function checkOrganisation(
  { store, config, fix }: DoctorContext,
  organisation: Organisation,
  tally: Tally,
): Promise<Check | undefined> {
  const { id, name } = organisation;
  if (!tally.present.has(id)) {
    tally.empty += 1;
    return undefined;
  }
  const cause = 'fix the cause, then run scopegate doctor --fix';
  const check = await examine(`indexes of ${name} (${id})`, cause, async () => {
    const data = store.databases.organisationData(organisation);
    const { STORED_VALIDATION: validation } = config;
    const differences = await differencesOf(data, validation);
    const toSet = differences.filter(({ validator }) => isToSet(validator));
    // if validation is off, an outdated one is to be removed
    const outdated = validation === 'off' ? [] : differences.filter(({ validator }) => validator === 'outdated');
    const foreign = differences
      .filter(({ validator }) => validator === 'foreign')
      .map(({ definition }) => definition.name);
    const missing = differences.flatMap(namesOf('missing'));
    const surplus = differences.flatMap(namesOf('surplus'));
    try {
      const done = fix ? await fixAll(data, differences, validation) : '';
      if (!fix) {
        if (differences.some((difference) => difference.missing.length > 0 && !difference.isGrown))
          throw new Finding(`missing: ${missing.join(', ')}`, 'run scopegate doctor --fix');
        if (missing.length > 0) tally.grown += 1;
        if (surplus.length > 0) tally.surplus += 1;
        // the others are missing or, with validation off, to be removed
        if (toSet.length > outdated.length) tally.unchecked += 1;
        for (const { definition: collection } of outdated)
          tally.outdated.set(collection.name, (tally.outdated.get(collection.name) ?? 0) + 1);
      }
      if (foreign.length === 0) return done;
      const also = `another program's validator: ${foreign.join(', ')}`;
      return { detail: done === '' ? also : `${done}; ${also}`, fix: FOREIGN_FIX };
    } finally {
      // also if the check fails, for the check of files
      const now = fix ? await differencesOf(data, validation) : differences;
      const shard = tally.shards.get(id) ?? '';
      const counts = tally.counts.get(shard) ?? { organisations: 0, collections: 0, indexes: 0 };
      counts.organisations += 1;
      counts.collections += now.length;
      counts.indexes += now.reduce((sum, difference) => sum + difference.indexes, 0);
      tally.counts.set(shard, counts);
    }
  });
  if (check.ok) tally.complete += 1;
  return check.detail === '' ? undefined : check;
}

/** What to do about a validator that no version of Scopegate has set. */
const FOREIGN_FIX = 'join it with what scopegate schema --stored prints, or remove it and run scopegate doctor --fix';

interface CollectionState extends Difference {
  readonly definition: Collection;
  readonly validator: ReturnType<typeof validatorState>;
}

/** Whether `fix` sets, or with validation off removes, a validator. */
const isToSet = (validator: CollectionState['validator']): boolean =>
  validator === 'missing' || validator === 'outdated';

/** How existing collections differ from the definitions: one command for all, and one per collection. */
async function differencesOf(
  { database, collections }: OrganisationData,
  validation: Validation,
): Promise<CollectionState[]> {
  const options = await validationOptions(database);
  const differences: CollectionState[] = [];
  for (const definition of collections) {
    const collectionOptions = options.get(definition.name);
    if (!collectionOptions) continue;
    const validator = validatorState(definition, collectionOptions, validation);
    differences.push({ definition, validator, ...(await differenceOf(database, definition)) });
  }
  return differences;
}

/** Returns a function that lists a collection's missing or surplus indexes, as `collection: index`. */
function namesOf(which: 'missing' | 'surplus') {
  return ({ definition, ...difference }: CollectionState): string[] =>
    difference[which].map((index) => `${definition.name}: ${typeof index === 'string' ? index : index.name}`);
}

/**
 * Creates missing indexes, drops surplus ones and sets validators. @throws Finding that lists the collections that failed, once the others are
 * done
 */
async function fixAll(
  data: OrganisationData,
  differences: readonly CollectionState[],
  validation: Validation,
): Promise<string> {
  const failed: string[] = [];
  const done: string[] = [];
  for (const difference of differences) {
    const { definition, missing, surplus, validator } = difference;
    try {
      if (missing.length > 0)
        await data.whileWritable(() => createIndexes(data.database, definition, missing, PATIENT));
      done.push(...namesOf('missing')(difference).map((name) => `created ${name}`));
      // only after the new ones exist, since one of them may do the work of a retired one
      if (surplus.length > 0) await dropIndexes(data.database, definition, surplus);
      done.push(...namesOf('surplus')(difference).map((name) => `dropped ${name}`));
      if (!isToSet(validator)) continue;
      await data.whileWritable(() => setValidator(data.database, definition, validation));
      done.push(`${validation === 'off' ? 'removed' : 'set'} the validator of ${definition.name}`);
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
