import { randomUUID } from 'node:crypto';
import { databaseOf, reopen } from '../../database/moving/collections';
import { MoverLost } from '../../database/moving/copy';
import type { OrganisationData } from '../../database/organisationData';
import { tellOwedGap } from '../../events/moving';
import { MoveRefused, type Mover, type Moves } from '../../organisations/moving';
import { CommandFailure, messageOf, notFound } from '../common/failure';
import type { Store } from '../common/open';
import { warn } from '../common/terminal';
import { dropUntilGone } from './dropping';

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
  moved: { readonly id: string; readonly mover: string; readonly to: string },
  source: OrganisationData,
  target: OrganisationData | undefined,
): Promise<void> {
  const { moving } = store.control;
  await requireMover(store, moved);
  await reopen(databaseOf(source.connection));
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

export async function requireMoves({ control }: Pick<Store, 'control'>, id: string): Promise<Moves> {
  const found = await control.moving.movesOf(id);
  if (!found) throw notFound('organisation', id, 'see scopegate org list');
  return found;
}

/** Says why an organisation cannot be moved. */
export function refused(error: unknown): never {
  throw error instanceof MoveRefused ? new CommandFailure(error.message) : error;
}
