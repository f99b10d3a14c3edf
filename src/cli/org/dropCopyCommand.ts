import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonOption } from '../common/help';
import { interruption } from '../common/signals';
import { note, print, printJson } from '../common/terminal';
import { requireConfirmed, withStore } from '../common/withStore';
import { dropUntilGone } from './dropping';
import { requireMoves } from './undoMove';

export interface DropCopyOptions extends JsonOption {
  readonly confirm: string;
}

/** How long a request that began before the switch may still read the old copy, in milliseconds: longer than any may take. */
const READ_FOR = 90_000;

/** `scopegate org drop-copy`. */
export async function dropCopyCommand(id: string, { confirm, json }: DropCopyOptions): Promise<void> {
  const signal = interruption();
  const dropped = await withStore(async ({ databases, control }) => {
    const names: string[] = [];
    const { organisation, copies } = await requireMoves({ control }, id);
    requireConfirmed('organisation', confirm, organisation.name);
    for (const { cluster, left_at } of copies) {
      const wait = left_at.getTime() + READ_FOR - databases.now();
      if (wait > 0) {
        note(`waiting ${String(Math.ceil(wait / 1000))} s for requests that began before the move`);
        await sleep(wait, undefined, { signal });
      }
      const data = await databases.open({ id, cluster });
      // once more, since it may have moved back
      const now = await requireMoves({ control }, id);
      if (now.organisation.cluster === cluster || now.move?.to === cluster) continue;
      await dropUntilGone(data);
      await control.moving.noteDropped(id, cluster);
      names.push(cluster);
    }
    return names;
  }, signal);
  if (json) printJson({ id, dropped });
  else if (dropped.length === 0) print(`Organisation ${id} has no copy on another cluster.`);
  else print(`Deleted the copy on ${dropped.map((name) => `cluster ${name}`).join(' and ')}.`);
}
