import { declareRestored, readTail, type Restored, tailRows } from '../../events/tail/lease';
import { CommandFailure, interruption, isAbort, messageOf, rethrowInterrupted, usageFailure } from '../ending';
import type { JsonOption } from '../help';
import { createProgress } from '../progress';
import type { Store } from '../store';
import { counted, print, printJson, printTable, sayError, warn } from '../terminal';
import { withStore } from '../withStore';
import { type LoggedEvents, readEvents } from './lines';
import { type Kind, KINDS, planOf, type Step } from './plan';
import { createActions } from './steps';

interface RestoredOptions extends JsonOption {
  readonly since: Date;
  readonly replay?: string;
  readonly yes?: true;
  readonly dryRun?: true;
}

/** What came of a step: `left` if it needs --yes, `due` in a dry run, `already` if there was nothing to do, `absent` if its object is gone. */
const OUTCOMES = ['done', 'due', 'already', 'absent', 'left', 'failed'] as const;
type Outcome = (typeof OUTCOMES)[number];

/** The object of a step that was not done already, and what came of it. */
interface Handled {
  readonly kind: Kind;
  readonly organisation_id: string;
  readonly id: string;
  readonly outcome: Outcome;
}

interface Failure extends Omit<Handled, 'outcome'> {
  readonly error: string;
}

/** `scopegate restored` (docs/decisions/restore.md). @throws CommandFailure if a step failed, or needs --yes */
export async function restoredCommand({ since, replay, yes, dryRun, json }: RestoredOptions): Promise<void> {
  if (yes && replay === undefined) throw usageFailure('--yes needs --replay');
  const signal = interruption();
  const { gap, organisations, log, replayed } = await withStore(async (store) => {
    if (since.getTime() > store.databases.now()) throw usageFailure(`--since ${since.toISOString()} is in the future`);
    // read first, so that a wrong file changes nothing
    const read = replay === undefined ? undefined : await readEvents(replay, since, signal);
    const declared = await declare(store, since, dryRun === true);
    const steps = read ? await replaySteps(store, planOf(read.events), { yes, dryRun, signal }) : undefined;
    return { ...declared, log: read, replayed: steps };
  }, signal).catch(rethrowInterrupted('run the same command again to continue'));
  const { counts, objects, failures } = replayed ?? NOTHING_REPLAYED;
  if (json) {
    const steps = [...counts].map(([kind, count]) => ({ kind, ...count }));
    const shown = { since, gap, organisations, dry_run: dryRun === true, lines: log ? linesOf(log) : null };
    printJson({ ...shown, steps, objects, failures });
  } else {
    print(gapText(since, gap, organisations));
    if (log) show(log, counts, objects);
    for (const { kind, id, error } of failures) sayError(`${KINDS[kind]}: ${id}: ${error}`);
  }
  const left = counts.get('erase')?.left ?? 0;
  if (failures.length > 0) throw new CommandFailure(`${counted(failures.length, 'step')} failed; run it again`);
  const erasures = dryRun && !yes ? (counts.get('erase')?.due ?? 0) : 0;
  if (erasures > 0)
    warn(`without --yes ${counted(erasures, 'organisation')} would not be erased again, and the exit code would be 1`);
  if (left > 0) throw new CommandFailure(`add --yes to erase again ${counted(left, 'organisation')}`);
}

interface Replayed {
  readonly counts: ReadonlyMap<Kind, Record<Outcome, number>>;
  readonly objects: readonly Handled[];
  readonly failures: readonly Failure[];
}
const NOTHING_REPLAYED: Replayed = { counts: new Map(), objects: [], failures: [] };

/** What happens to the gap: it is stored soon, was declared before, or would be stored. */
type Gap = { readonly state: 'declared' | 'due' } | { readonly state: 'before'; readonly at: Date };

/** Has the gateway that records events store a gap in every organisation, unless one was declared for the same time. */
async function declare(store: Store, since: Date, dryRun: boolean): Promise<{ gap: Gap; organisations: number }> {
  const { control, databases, operator } = store;
  const rows = tailRows(await databases.streams(), databases.control.name);
  const organisations = (await control.organisations.existing(await databases.organisationsWithData())).size;
  const tail = await readTail(databases);
  const restored: Restored = { since, at: new Date(databases.now()), by: operator.who, told: false };
  const isSame = tail?.restored?.since.getTime() === since.getTime();
  const before = dryRun ? (isSame ? tail.restored : undefined) : await declareRestored(rows, restored);
  if (before) return { gap: { state: 'before', at: before.at }, organisations };
  if (!dryRun && (tail?.until.getTime() ?? 0) < databases.now())
    warn('no gateway records events now; organisations get feed.gap once one does');
  return { gap: { state: dryRun ? 'due' : 'declared' }, organisations };
}

function gapText(since: Date, gap: Gap, organisations: number): string {
  const all = `${counted(organisations, 'organisation')} with data`;
  const time = since.toISOString();
  if (gap.state === 'before')
    return `A restore to ${time} was noted at ${gap.at.toISOString()}: no other gap is stored.`;
  const verb = gap.state === 'due' ? 'would get' : 'get';
  return `${all} ${verb} feed.gap, because the database was restored to ${time}.`;
}

interface ReplayOptions {
  readonly yes: true | undefined;
  readonly dryRun: true | undefined;
  readonly signal: AbortSignal;
}

/** Takes the steps that are due, one after another; a failure does not keep the others from being taken. */
async function replaySteps(
  store: Store,
  steps: readonly Step[],
  { yes, dryRun, signal }: ReplayOptions,
): Promise<Replayed> {
  const actionOf = createActions({ store, signal });
  const counts = new Map<Kind, Record<Outcome, number>>();
  const objects: Handled[] = [];
  const failures: Failure[] = [];
  const progress = createProgress('steps');

  async function take(step: Step): Promise<Outcome> {
    const { isDue, run } = actionOf(step);
    const due = await isDue();
    if (due === undefined) return 'absent';
    if (!due) return 'already';
    if (dryRun) return 'due';
    if (step.kind === 'erase' && !yes) return 'left';
    await run();
    return 'done';
  }

  progress.start('replay', steps.length);
  try {
    for (const [index, step] of steps.entries()) {
      signal.throwIfAborted();
      const { kind, organisationId: organisation_id, id } = step;
      const outcome = await take(step).catch((error: unknown): Outcome => {
        if (isAbort(error)) throw error;
        failures.push({ kind, organisation_id, id, error: messageOf(error) });
        return 'failed';
      });
      const count = counts.get(kind) ?? { done: 0, due: 0, already: 0, absent: 0, left: 0, failed: 0 };
      count[outcome] += 1;
      counts.set(kind, count);
      if (outcome !== 'already') objects.push({ kind, organisation_id, id, outcome });
      progress.update(index + 1, index + 1);
    }
  } finally {
    progress.stop();
  }
  return { counts, objects, failures };
}

const linesOf = ({ events, lines }: LoggedEvents) => ({ ...lines, events: events.length });

function show(log: LoggedEvents, counts: Replayed['counts'], objects: Replayed['objects']): void {
  const { read, earlier, malformed, events } = linesOf(log);
  const others = malformed > 0 ? `, ${String(malformed)} that cannot be read` : '';
  print(
    `${counted(events, 'audit event')} in ${counted(read, 'line')}, ${String(earlier)} more from before that time${others}.`,
  );
  if (counts.size === 0) return;
  if (objects.length > 0) {
    printTable(
      ['OUTCOME', 'WHAT', 'ID', 'ORGANISATION'],
      objects.map(({ kind, organisation_id, id, outcome }) => [outcome, KINDS[kind], id, organisation_id]),
    );
    print('');
  }
  printTable(
    ['WHAT', ...OUTCOMES.map((outcome) => outcome.toUpperCase())],
    [...counts].map(([kind, count]) => [KINDS[kind], ...OUTCOMES.map((outcome) => String(count[outcome]))]),
  );
}
