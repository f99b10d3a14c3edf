import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { reopen } from '../../database/moving/collections';
import { MoverLost } from '../../database/moving/copy';
import type { OrganisationData } from '../../database/organisationData';
import { tellOwedGap } from '../../events/moving';
import { MoveRefused, type Mover, type Moves } from '../../organisations/moving';
import { CommandFailure, interruption, messageOf, notFound } from '../ending';
import type { JsonOption } from '../help';
import type { Store } from '../store';
import { note, printResult, warn } from '../terminal';
import { requireConfirmed, withStore } from '../withStore';

/* The copies that moves leave: complete ones on the old cluster, and those of moves that are undone. */

/** Attempts to drop a database that requests in progress could still create again. */
const DROPS = 20;
/** How long a request that began before the switch may still read the old copy, in milliseconds: longer than any may take. */
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
      // once more, since it may have moved back
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

/** Drops an organisation's database until the server no longer lists it. `check` throws if that is no longer allowed. */
export async function dropUntilGone(data: OrganisationData, check?: () => Promise<void>): Promise<void> {
  for (let attempt = 1; attempt <= DROPS; attempt += 1) {
    await check?.();
    await data.drop();
    if (!(await data.exists())) return;
  }
  throw new CommandFailure('the database of the organisation is created again and again; stop what writes to it');
}

/** Undoes the move of a process that was killed. */
export async function undoKilled(store: Store, id: string): Promise<void> {
  const { organisation, move } = await requireMoves(store, id);
  if (!move) throw new CommandFailure(`organisation ${id} is not being moved`);
  const self = { id, mover: randomUUID() };
  const source = await store.databases.open(organisation);
  await store.control.moving.begin(self, move.to).catch(refused);
  const target = await store.databases.open({ id, cluster: move.to }).catch(() => undefined);
  await undo(store, { ...self, to: move.to }, source, target);
}

/** Ends a move that did not take place: writes go on where they were. @throws MoverLost */
export async function undo(
  store: Store,
  moved: Mover & { readonly to: string },
  source: OrganisationData,
  target: OrganisationData | undefined,
): Promise<void> {
  const { moving } = store.control;
  await requireMover(store, moved);
  await reopen(source.database);
  await source.slots.letGo();
  let isLeft = true;
  try {
    if (!target) throw new Error('not connected');
    // while no other process may move it there
    await dropUntilGone(target, () => requireMover(store, moved));
    isLeft = false;
  } catch (error) {
    if (error instanceof MoverLost) throw error;
    warn(
      `cluster ${moved.to} keeps an unfinished copy (${messageOf(error)}); scopegate org drop-copy ${moved.id} deletes it`,
    );
  }
  if (!(await moving.undo({ ...moved, isLeft }))) throw new MoverLost();
  await tellOwedGap(store, source);
}

/** @throws MoverLost if another process has taken over, or the move has taken place */
export async function requireMover({ control }: Store, self: Mover): Promise<void> {
  if (!(await control.moving.beat(self))) throw new MoverLost();
}

export async function requireMoves({ control }: Store, id: string): Promise<Moves> {
  const found = await control.moving.movesOf(id);
  if (!found) throw notFound('organisation', id);
  return found;
}

/** Says why an organisation cannot be moved. */
export function refused(error: unknown): never {
  throw error instanceof MoveRefused ? new CommandFailure(error.message) : error;
}
