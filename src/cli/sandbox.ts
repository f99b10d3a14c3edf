import type { Organisation } from '../auth/principal';
import type { Sandbox } from '../organisations/sandboxes';
import { stampedWrite } from '../tenant/openWrites';
import type { OrganisationData } from '../tenant/organisationData';
import { recordKinds, resourceOf } from '../resources';
import { storeSample } from '../resources/sample';
import { emptySandbox } from '../resources/sandbox';
import { type ImportRecord, toRecord } from '../stored/records';
import type { Resource } from '../stored/resource';
import { changedAt } from '../stored/rows';
import { CommandFailure, interruption, notFound, rethrowInterrupted, usageFailure } from './ending';
import type { JsonOption, OrgOption } from './help';
import { createProgress } from './progress';
import { recordReaders } from './records';
import type { Store } from './store';
import { counted, note, printResult } from './terminal';
import { requireData, withStore } from './withStore';

/* `scopegate org reset` and `scopegate sandbox advance`, and loading the sample for them, `org create --seed` and the demo. */

/**
 * Loads the sample, with a progress bar; if `onlyEmpty`, the records of types that have none. Resolves with how many of its records could not be
 * stored.
 */
export async function loadSample(data: OrganisationData, signal: AbortSignal, onlyEmpty = false): Promise<number> {
  const progress = createProgress();
  let isStarted = false;
  const onProgress = (done: number, all: number): void => {
    if (!isStarted) progress.start('sample', all);
    isStarted = true;
    progress.update(done, done);
  };
  const { stored, refused } = await storeSample(data, 'operator', { signal, onProgress, onlyEmpty }).finally(
    progress.stop,
  );
  if (stored + refused > 0) note(`loaded ${String(stored)} records from examples/northwind`);
  return refused;
}

/** Loads a sandbox's sample, and records that it is complete. @throws CommandFailure if it was interrupted, or records were refused */
export async function fillSandbox({ control, databases }: Store, sandbox: Sandbox, signal: AbortSignal): Promise<void> {
  const { id } = sandbox.organisation;
  const refused = await loadSample(databases.organisationData(sandbox.organisation), signal).catch(
    rethrowInterrupted(`run scopegate org reset ${id} to complete its sample`),
  );
  if (refused > 0) {
    throw new CommandFailure(
      `${counted(refused, 'record')} of the sample could not be stored because something else was writing to the sandbox; stop it, then run scopegate org reset ${id}`,
    );
  }
  await control.sandboxes.noteSeeded(sandbox);
}

/** `scopegate org reset`. */
export async function reset(id: string, { json }: JsonOption): Promise<void> {
  const signal = interruption();
  await withStore(async (store) => {
    const data = store.databases.organisationData(await requireSandbox(store, id));
    // first, so that an interrupted reset does not pass for a complete sample
    const emptying = await store.control.sandboxes.noteEmptying(id);
    if (!emptying) throw notFound('organisation', id);
    await emptySandbox(data, { by: 'operator', signal }).catch(
      rethrowInterrupted('run the same command again to continue'),
    );
    const sandbox = await store.control.sandboxes.noteEmptied(emptying);
    await store.control.record('sandbox.reset', id, {});
    await fillSandbox(store, sandbox, signal);
  }, signal);
  printResult(json, { id, reset: true }, `Sandbox ${id} now contains only the sample. Its keys still work.`);
}

type Statuses = readonly string[];

/**
 * The kinds that can be advanced. For each of their times: the statuses that set it to now if it is missing, and those that clear it, as
 * resources/rules.ts requires of quotes; orders have no such rule. A status in neither list leaves it as it is, such as the sent_at of a
 * withdrawn quote, which may have been sent or not.
 */
const ADVANCEABLE: Readonly<
  Record<string, { resource: Resource; times: Readonly<Record<string, { set: Statuses; unset: Statuses }>> }>
> = {
  quote: {
    resource: resourceOf('quotes'),
    times: {
      sent_at: { set: ['sent', 'accepted', 'declined', 'expired'], unset: ['draft'] },
      decided_at: { set: ['accepted', 'declined'], unset: ['draft', 'sent', 'expired', 'withdrawn'] },
    },
  },
  order: {
    resource: resourceOf('orders'),
    times: {
      dispatched_at: { set: ['dispatched', 'delivered', 'completed'], unset: ['placed', 'confirmed', 'in_production'] },
    },
  },
};

/** `scopegate sandbox advance`: gives a sandbox's quote or order another status, as the application that owns the data would by importing it. */
export async function advance(kind: string, number: string, status: string, { org, json }: OrgOption): Promise<void> {
  const { resource, times } = ADVANCEABLE[kind] ?? {};
  const records = resource?.records;
  if (!resource || !records) throw usageFailure(`a ${kind} cannot be advanced`);
  const read = recordReaders(recordKinds)(records);

  /** The row in its new status. */
  function advanced(row: ImportRecord, now: Date): ImportRecord {
    const dates = Object.entries(times ?? {}).map(([name, { set, unset }]): [string, unknown] => [
      name,
      set.includes(status) ? (row[name] ?? now) : unset.includes(status) ? null : row[name],
    ]);
    return { ...row, ...Object.fromEntries(dates), status, updated_at: changedAt(row.updated_at, now) };
  }

  const result = await withStore(async (store) => {
    const data = store.databases.organisationData(await requireSandbox(store, org));
    return stampedWrite(
      data,
      async (session, now) => {
        const row = await data.collection(resource).findOne({ number } as object, { session });
        if (!row) throw new CommandFailure(`there is no ${kind} ${number}; see GET /api/v1/${records.file}`);
        const before = toRecord(row);
        const line = read({ text: JSON.stringify(advanced(before, now)) });
        if ('faults' in line)
          throw usageFailure(
            line.faults.map(({ pointer = '', detail }) => `${pointer.slice(1)}: ${detail}`).join('\n'),
          );
        // cannot fail, since it has been read in this transaction, and keeps its id and number
        if (before.status !== status) await records.store(data, [line.record], session);
        return { id: before.id, number, status, from: String(before.status) };
      },
      { writes: records.writes, by: 'operator' },
    );
  });
  const { from } = result;
  const outcome = from === status ? `is already ${status}` : `was ${from} and is now ${status}`;
  printResult(json, result, `The ${kind} ${number} ${outcome}.`);
}

/** The sandbox with this id. @throws CommandFailure if there is none */
async function requireSandbox(store: Store, id: string): Promise<Organisation> {
  const organisation = await requireData(store, id);
  if (organisation.sandbox_of !== undefined) return organisation;
  const sandbox = await store.control.sandboxes.of(id);
  const instead = sandbox
    ? `its sandbox is ${sandbox.organisation.id}`
    : `to make one: scopegate org create --sandbox-of ${id}`;
  throw new CommandFailure(`organisation ${id} is not a sandbox: it holds live data; ${instead}`);
}
