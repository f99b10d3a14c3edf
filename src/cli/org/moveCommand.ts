import { undoKilled } from '../../jobs/copies';
import { Move, type Moved } from '../../jobs/moveOrganisation';
import type { Report } from '../../jobs/stores';
import { CommandFailure, EXIT, interruption, isAbort, usageFailure } from '../ending';
import type { JsonOption } from '../help';
import { createProgress } from '../progress';
import type { Store } from '../store';
import { note, printResult, warn } from '../terminal';
import { requireCluster, withStore } from '../withStore';
import { requireMoves } from './copies';

interface MoveOptions extends JsonOption {
  readonly to?: string;
  readonly undo?: true;
}

/** `scopegate org move`. */
export async function moveCommand(id: string, { to, undo: isUndone, json }: MoveOptions): Promise<void> {
  if ((to === undefined) === (isUndone === undefined)) throw usageFailure('give either --to CLUSTER or --undo');
  const signal = interruption();
  if (to === undefined) {
    await withStore((store) => undoKilled(store, id, createReport()), signal);
    printResult(json, { id, undone: true }, `The move of organisation ${id} is undone; writes go on.`);
    return;
  }
  const { from, compared, refused } = await withStore((store) => moved(store, id, to, signal), signal);
  const { documents, collections, sha256 } = compared;
  printResult(
    json,
    { id, from, to, ...compared, refused_ms: Math.round(refused) },
    [
      `Organisation ${id} is on cluster ${to} now: ${documents.toLocaleString('en')} documents in ${String(collections)} collections, compared (SHA-256 ${sha256.slice(0, 16)}…).`,
      `Writes were refused for ${(refused / 1000).toFixed(1)} s. The copy on cluster ${from} stays; to delete it: scopegate org drop-copy ${id}`,
    ].join('\n'),
  );
}

async function moved(store: Store, id: string, to: string, signal: AbortSignal): Promise<Moved> {
  requireCluster(store.databases, to);
  await requireMoves(store, id);
  try {
    return await new Move(store, id, to, createReport(), signal).run();
  } catch (error) {
    if (error instanceof Error && isAbort(error.cause)) throw new CommandFailure(error.message, EXIT.interrupted);
    throw error;
  }
}

/** Reports a move on stderr, with a progress bar for each step. */
function createReport(): Report {
  const progress = createProgress('documents', true);
  let current: string | undefined;
  return {
    note,
    warn,
    progress(step, done, total) {
      if (step !== current) progress.start(step, total);
      current = step;
      progress.update(done, done);
    },
    stepEnded() {
      if (current !== undefined) progress.stop();
      current = undefined;
    },
  };
}
