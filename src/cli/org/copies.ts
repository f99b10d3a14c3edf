import { setTimeout as sleep } from 'node:timers/promises';
import { dropUntilGone } from '../../jobs/copies';
import type { Moves } from '../../organisations/moving';
import { interruption, notFound } from '../ending';
import type { JsonOption } from '../help';
import type { Store } from '../store';
import { note, printResult } from '../terminal';
import { requireConfirmed, withStore } from '../withStore';

/* The copies that moves leave: a complete one on the old cluster, or an unfinished one on the new cluster if a move is undone. */

/** For how long after the switch requests may still read the old copy, in milliseconds: longer than any request may take. */
const READ_FOR = 90_000;

/** `scopegate org drop-copy`. */
export async function dropCopy(
  id: string,
  { confirm, json }: JsonOption & { readonly confirm: string },
): Promise<void> {
  const signal = interruption();
  const dropped = await withStore(async (store) => {
    const { databases, control } = store;
    const names: string[] = [];
    const { organisation, copies } = await requireMoves(store, id);
    requireConfirmed('organisation', confirm, organisation.name);
    for (const { cluster, left_at } of copies) {
      const wait = left_at.getTime() + READ_FOR - databases.now();
      if (wait > 0) {
        note(`waiting ${String(Math.ceil(wait / 1000))} s for requests that began before the move`);
        await sleep(wait, undefined, { signal });
      }
      const data = await databases.open({ id, cluster });
      // checked again after the wait, since the organisation may have moved back
      const now = await requireMoves(store, id);
      if (now.organisation.cluster === cluster || now.move?.to === cluster) continue;
      await dropUntilGone(data);
      await control.moving.noteDropped(id, cluster);
      names.push(cluster);
    }
    return names;
  }, signal);
  const clusters = dropped.map((name) => `cluster ${name}`).join(' and ');
  const none = `Organisation ${id} has no copy on another cluster.`;
  printResult(json, { id, dropped }, dropped.length === 0 ? none : `Deleted the copy on ${clusters}.`);
}

export async function requireMoves({ control }: Store, id: string): Promise<Moves> {
  const found = await control.moving.movesOf(id);
  if (!found) throw notFound('organisation', id);
  return found;
}
