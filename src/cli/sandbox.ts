import type { Organisation } from '../auth/principal';
import type { Collection } from '../database/collection';
import type { Sandbox } from '../organisations/sandboxes';
import { idempotencyRecords } from '../database/idempotency';
import { stampedWrite } from '../database/openWrites';
import type { OrganisationData } from '../database/organisationData';
import { collections, recordKinds } from '../resources';
import { orders } from '../resources/orders/orders';
import { quotes } from '../resources/quotes';
import { storeSample } from '../resources/sample';
import { type ImportRecord, toRecord } from '../stored/records';
import type { Resource } from '../stored/resource';
import { changedAt } from '../stored/rows';
import { CommandFailure, interrupted, interruption, isAbort, notFound, usageFailure } from './ending';
import type { JsonOption, OrgOption } from './help';
import { createProgress, type Progress } from './progress';
import { recordReaders } from './records';
import type { Store } from './store';
import { counted, note, printResult } from './terminal';
import { requireOrganisation, withStore } from './withStore';

/* `scopegate org reset` and `scopegate sandbox advance`. */

/** Loads the sample, with a progress bar. Resolves with how many of its records could not be stored. */
export async function loadSample(data: OrganisationData, signal: AbortSignal): Promise<number> {
  const shown: { bar?: Progress } = {};
  const onProgress = (done: number, all: number): void => {
    if (!shown.bar) (shown.bar = createProgress()).start('sample', all);
    shown.bar.update(done, done);
  };
  const { stored, refused } = await storeSample(data, { signal, onProgress }).finally(() => shown.bar?.stop());
  note(`loaded ${String(stored)} records from examples/northwind`);
  return refused;
}

/** Loads a sandbox's sample, and notes that it is complete. */
export async function fillSandbox({ control, databases }: Store, sandbox: Sandbox, signal: AbortSignal): Promise<void> {
  const { id } = sandbox.organisation;
  const refused = await loadSample(await databases.open(sandbox.organisation), signal).catch((error: unknown) => {
    throw isAbort(error) ? interrupted(`run scopegate org reset ${id} to complete its sample`) : error;
  });
  if (refused > 0) {
    throw new CommandFailure(
      `${counted(refused, 'record')} of the sample could not be stored because something else was writing to the sandbox; stop it, then run scopegate org reset ${id}`,
    );
  }
  await control.sandboxes.noteSeeded(sandbox);
}

export async function reset(id: string, { json }: JsonOption): Promise<void> {
  const signal = interruption();
  await withStore(async (store) => {
    const data = await store.databases.open(await requireSandbox(store, id));
    const sandbox = await store.control.sandboxes.noteUnseeded(id);
    if (!sandbox) throw notFound('organisation', id);
    // with the idempotency records gone, retries of earlier writes write again
    for (const collection of [...collections, idempotencyRecords]) await empty(data, collection, signal);
    await store.control.record('sandbox.reset', id, {});
    await fillSandbox(store, sandbox, signal);
  }, signal);
  printResult(json, { id, reset: true }, `Sandbox ${id} now contains only the sample. Its keys still work.`);
}

/** Rows to delete per transaction. */
const DELETE_BATCH = 1000;

async function empty(
  data: OrganisationData,
  collection: Collection<{ readonly _id: string }>,
  signal: AbortSignal,
): Promise<void> {
  const rows = data.collection(collection);
  for (;;) {
    if (signal.aborted) throw interrupted('run the same command again to continue');
    const found = await rows.find({}, { projection: { _id: 1 }, limit: DELETE_BATCH }).toArray();
    if (found.length === 0) return;
    const these = { _id: { $in: found.map(({ _id }) => _id) } };
    await stampedWrite(data, (session) => rows.deleteMany(these, { session }), { writes: [collection] });
  }
}

type Statuses = readonly string[];

/** The kinds that can be advanced. For each of their times: the statuses that set it to now if it is missing, and those that clear it. */
const ADVANCED: Readonly<
  Record<string, { resource: Resource; times: Readonly<Record<string, { set: Statuses; unset: Statuses }>> }>
> = {
  quote: {
    resource: quotes,
    times: {
      sent_at: { set: ['sent', 'accepted', 'declined', 'expired'], unset: ['draft'] },
      decided_at: { set: ['accepted', 'declined'], unset: ['draft', 'sent', 'expired', 'withdrawn'] },
    },
  },
  order: {
    resource: orders,
    times: {
      dispatched_at: { set: ['dispatched', 'delivered', 'completed'], unset: ['placed', 'confirmed', 'in_production'] },
    },
  },
};

/** Gives a sandbox's quote or order another status, as the application that owns the data would by importing it. */
export async function advance(kind: string, number: string, status: string, { org, json }: OrgOption): Promise<void> {
  const { resource, times } = ADVANCED[kind] ?? {};
  const records = resource?.records;
  if (!resource || !records) throw usageFailure(`a ${kind} cannot be advanced`);
  const read = recordReaders(recordKinds)(records);

  /** The row in its new status. */
  function advanced(row: ImportRecord, now: Date): ImportRecord {
    const dates = Object.entries(times ?? {}).map(([name, { set, unset }]): [string, unknown] => [
      name,
      set.includes(status) ? (row[name] ?? now) : unset.includes(status) ? null : row[name],
    ]);
    return { ...row, ...Object.fromEntries(dates), status, updated_at: changedAt(row.updated_at as Date, now) };
  }

  const done = await withStore(async (store) => {
    const data = await store.databases.open(await requireSandbox(store, org));
    return stampedWrite(
      data,
      async (session, now) => {
        const found = await data.collection(resource).findOne({ number } as object, { session });
        if (!found) throw new CommandFailure(`there is no ${kind} ${number}; see GET /api/v1/${records.file}`);
        const before = toRecord(found);
        const line = read({ text: JSON.stringify(advanced(before, now)) });
        if ('faults' in line)
          throw usageFailure(
            line.faults.map(({ pointer = '', detail }) => `${pointer.slice(1)}: ${detail}`).join('\n'),
          );
        if (before.status !== status) await records.store(data, [line.record], session);
        return { id: before.id, number, status, from: String(before.status) };
      },
      { writes: records.writes },
    );
  });
  const { from } = done;
  const outcome = from === status ? `is already ${status}` : `was ${from} and is now ${status}`;
  printResult(json, done, `The ${kind} ${number} ${outcome}.`);
}

/** The sandbox with this id. @throws CommandFailure if there is none */
async function requireSandbox(store: Store, id: string): Promise<Organisation> {
  const organisation = await requireOrganisation(store, id);
  if (organisation.sandbox_of !== undefined) return organisation;
  const own = await store.control.sandboxes.of(id);
  const instead = own
    ? `its sandbox is ${own.organisation.id}`
    : `to make one: scopegate org create --sandbox-of ${id}`;
  throw new CommandFailure(`organisation ${id} is not a sandbox: it holds live data; ${instead}`);
}
