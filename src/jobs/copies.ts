import { randomUUID } from 'node:crypto';
import { reopen } from '../database/moving/collections';
import { MoverLost } from '../database/moving/copy';
import type { OrganisationData } from '../database/organisationData';
import { recordOwedGap } from '../events/moving';
import { JobRefused } from '../organisations/jobs';
import type { Mover } from '../organisations/moving';
import type { Report, Stores } from './stores';

/* Drops the copies of an organisation that moves leave behind, and undoes moves. */

/** How often to try to drop a database that requests in progress could still create again. */
const DROPS = 20;

/** Drops an organisation's database until the server no longer lists it. `check` throws if dropping is no longer allowed. */
export async function dropUntilGone(data: OrganisationData, check?: () => Promise<void>): Promise<void> {
  for (let attempt = 1; attempt <= DROPS; attempt += 1) {
    await check?.();
    await data.drop();
    if (!(await data.exists())) return;
  }
  throw new JobRefused('the database of the organisation keeps being created again; stop whatever writes to it');
}

/** Undoes the move of a process that was killed. */
export async function undoKilled(stores: Stores, id: string, report: Pick<Report, 'warn'>): Promise<void> {
  const found = await stores.control.moving.movesOf(id);
  if (!found?.move) throw new JobRefused(`organisation ${id} is not being moved`);
  const { organisation, move } = found;
  const self = { id, mover: randomUUID() };
  const source = await stores.databases.open(organisation);
  await stores.control.moving.begin(self, move.to);
  const target = await stores.databases.open({ id, cluster: move.to }).catch(() => undefined);
  await undo(stores, { ...self, to: move.to }, { source, target, report });
}

interface Undone {
  readonly source: OrganisationData;
  /** Undefined if its cluster does not respond. */
  readonly target: OrganisationData | undefined;
  readonly report: Pick<Report, 'warn'>;
}

/** Undoes a move: writes continue on the old cluster. @throws MoverLost */
export async function undo(
  stores: Stores,
  moved: Mover & { readonly to: string },
  { source, target, report }: Undone,
): Promise<void> {
  const { moving } = stores.control;
  await requireMover(stores, moved);
  await reopen(source.database);
  await source.slots.letGo();
  let isLeft = true;
  try {
    if (!target) throw new Error('not connected');
    // only while no other process may move the organisation there
    await dropUntilGone(target, () => requireMover(stores, moved));
    isLeft = false;
  } catch (error) {
    if (error instanceof MoverLost) throw error;
    report.warn(
      `cluster ${moved.to} keeps an unfinished copy (${(error as Error).message}); scopegate org drop-copy ${moved.id} deletes it`,
    );
  }
  if (!(await moving.undo({ ...moved, isLeft }))) throw new MoverLost();
  await recordOwedGap(stores, source);
}

/** @throws MoverLost if another process has taken over, or the move has taken place */
export async function requireMover({ control }: Stores, self: Mover): Promise<void> {
  if (!(await control.moving.beat(self))) throw new MoverLost();
}
