import type { mongo } from 'mongoose';
import type { Organisation } from '../../auth/principal';
import { isUnavailable } from '../../mongo/faults';
import { collectionNames } from '../../mongo/indexes';
import type { OrganisationData } from '../../tenant/organisationData';
import { AppError, type Fault } from '../../errors';
import { collections } from '../../resources';
import { type Correction, correctionsOf, storeCorrections } from '../../stored/corrections';
import type { Resource, Row } from '../../stored/resource';
import { CommandFailure, interruption, messageOf, rethrowInterrupted } from '../ending';
import type { JsonOption } from '../help';
import { createProgress } from '../progress';
import type { Store } from '../store';
import { counted, note, paint, escapeText, print, printJson, printPainted, warn } from '../terminal';
import { isReadable, requireData, withStore } from '../withStore';
import { idText } from '../../units';

/* `scopegate doctor --rows`: the rows that another program stored so that they cannot be shown or found. */

interface RowsOptions extends JsonOption {
  readonly org?: string;
  readonly fix?: boolean;
}

/** A row that cannot be shown, or has members that are to be corrected. */
interface RowFault {
  readonly organisation_id: string;
  readonly collection: string;
  readonly id: string;
  /** What keeps it from being shown; null if nothing does. */
  readonly fault: Fault | null;
  /** The members that are wrong and follow from others, or have only one value that can be meant. */
  readonly members: readonly string[];
  /** Whether those members were corrected. */
  readonly fixed: boolean;
}

/** Maximum rows in a reply of the database, and in a transaction of --fix. */
const AT_ONCE = 100;
/** Rows that are named; others are counted. */
const MOST_NAMED = 1000;

/** Reads every row of the organisations, or of one. @throws CommandFailure if a row still needs something, or the command was interrupted */
export async function rowsCommand({ org, fix = false, json }: RowsOptions): Promise<void> {
  const signal = interruption();
  /** Rows with faults are counted as `left` or `fixed`; `found` has the first of both. */
  const tally = { organisations: 0, rows: 0, left: 0, fixed: 0, found: [] as RowFault[] };
  await withStore(
    async (store) => {
      const progress = createProgress('rows');
      const present = new Set(org === undefined ? await store.databases.organisationsWithData() : [org]);
      progress.start('rows', present.size);
      const check = async (organisation: Organisation): Promise<void> => {
        const data = store.databases.organisationData(organisation);
        for await (const batch of checkedBatches(data, organisation, fix, signal)) {
          tally.rows += batch.rows;
          for (const row of batch.found) {
            tally[row.fixed && !row.fault ? 'fixed' : 'left'] += 1;
            if (tally.found.length < MOST_NAMED) tally.found.push(row);
          }
          progress.update(tally.organisations, tally.rows);
        }
      };
      try {
        for await (const organisation of organisationsOf(store, org, present)) {
          await check(organisation).catch((error: unknown) => {
            if (org !== undefined || !isRefused(error)) throw error;
            warn(`the rest of organisation ${organisation.id} was left out: ${error.message}`);
          });
          tally.organisations += 1;
          progress.update(tally.organisations, tally.rows);
        }
      } finally {
        progress.stop();
      }
    },
    signal,
    !fix,
  ).catch(rethrowInterrupted('rows corrected so far stay, run the same command again to continue'));
  const { found, organisations, rows, left, fixed } = tally;
  if (json) printJson({ ok: left === 0, organisations, rows, left, fixed, found });
  else {
    found.forEach(show);
    if (left + fixed > found.length) print(`… and ${String(left + fixed - found.length)} more`);
    print(
      `${counted(rows, 'row')} of ${counted(organisations, 'organisation')}: ${String(fixed)} corrected, ${String(left)} left`,
    );
  }
  if (left === 0) return;
  const next = fix
    ? 'correct these in the program that writes them'
    : 'scopegate doctor --rows --fix corrects those marked fixable';
  throw new CommandFailure(`${counted(left, 'row')} cannot be shown as stored, or found by search; ${next}`);
}

/** Whether an organisation cannot be written any more, since its move or erasure began meanwhile. */
function isRefused(error: unknown): error is AppError {
  return error instanceof AppError && (error.extras.reason === 'moving' || error.extras.reason === 'erased');
}

/** The organisations that have rows (`present`); one that is being moved or erased is left out, unless it is named. */
async function* organisationsOf(
  store: Store,
  org: string | undefined,
  present: ReadonlySet<string>,
): AsyncGenerator<Organisation> {
  if (org !== undefined) {
    yield await requireData(store, org);
    return;
  }
  for await (const organisation of store.control.organisations.each())
    if (present.has(organisation.id) && isReadable(organisation)) yield organisation;
}

/** Checks an organisation's rows in batches: how many a batch has, and those with faults, which `fix` corrects. */
async function* checkedBatches(data: OrganisationData, organisation: Organisation, fix: boolean, signal: AbortSignal) {
  const names = await collectionNames(data.database);
  for (const resource of collections) {
    if (!names.has(resource.name)) continue;
    const rows = data.collection(resource).find<Row>({}, { sort: { _id: 1 }, batchSize: AT_ONCE });
    for (let batch = await nextBatch(rows); batch.length > 0; batch = await nextBatch(rows)) {
      signal.throwIfAborted();
      yield { rows: batch.length, found: await rowFaultsOf({ data, organisation, resource, rows: batch, fix }) };
    }
  }
}

/** The next rows, those of one reply of the database, which has at most 16 MiB; none at the end. */
async function nextBatch(rows: mongo.FindCursor<Row>): Promise<Row[]> {
  const batch: Row[] = [];
  do {
    const row = await rows.next();
    if (!row) break;
    batch.push(row);
  } while (rows.bufferedCount() > 0);
  return batch;
}

interface Batch {
  readonly data: OrganisationData;
  readonly organisation: Organisation;
  readonly resource: Resource;
  readonly rows: readonly Row[];
  readonly fix: boolean;
}

async function rowFaultsOf({ data, organisation, resource, rows, fix }: Batch): Promise<RowFault[]> {
  const corrections = await correctionsOf(data, resource, rows, { converts: organisation });
  const correctedIds = fix ? await fixAll(data, resource, corrections) : new Set();
  return corrections.map(({ before, members, fault }) => ({
    organisation_id: data.organisationId,
    collection: resource.name,
    id: idText(before._id),
    fault: fault ?? null,
    members,
    fixed: correctedIds.has(before._id),
  }));
}

/**
 * Corrects rows, and resolves with the ids of those written. If that fails for a reason in the rows, such as a unique value, none of them is
 * corrected, which is noted. @throws AppError if the organisation cannot be written, or any error of a database that does not respond
 */
async function fixAll(
  data: OrganisationData,
  resource: Resource,
  corrections: readonly Correction[],
): Promise<ReadonlySet<unknown>> {
  try {
    return await storeCorrections(data, resource, corrections, 'operator');
  } catch (error) {
    if (error instanceof AppError || isUnavailable(error)) throw error;
    note(`${resource.name} of ${data.organisationId} could not be corrected (${messageOf(error)})`);
    return new Set();
  }
}

function show({ organisation_id: organisation, collection, id, fault, members, fixed }: RowFault): void {
  const [colour, word] = fault
    ? (['red', 'invalid'] as const)
    : fixed
      ? (['green', 'fixed  '] as const)
      : (['yellow', 'fixable'] as const);
  const says = [
    ...(fault ? [`${String(fault.pointer)} ${fault.detail}`] : []),
    ...(members.length > 0 ? [`${fixed ? 'corrected' : 'can be corrected'}: ${members.join(', ')}`] : []),
  ];
  const where = `${organisation} ${collection} ${id}`;
  printPainted(`${paint(process.stdout, colour, word)}  ${escapeText(where)}: ${escapeText(says.join('; '))}`);
}
