import { type ClientSession, trusted } from 'mongoose';
import type { Actor } from './auditEvents';
import { changeInKeys } from './endedKeys';
import { JobRefused } from './jobs';
import { lastKnownOf } from './placement';
import type { ControlModels, MoveDocument, OrganisationDocument } from './models';
import { type Listed, toListed } from './organisationRows';

/*
 * Control data of organisations that move to another cluster, and of the copies that moves leave behind
 * (docs/decisions/organisation-move.md).
 */

/** A mover that has not been seen for this long (ms) is gone; while it runs, it shows itself every {@link SEEN_EVERY}. */
const LOST_AFTER = 15_000;
export const SEEN_EVERY = 2000;

export function isAbandoned({ seen_at }: MoveDocument, now: number): boolean {
  return now - seen_at.getTime() >= LOST_AFTER;
}

export interface Moves {
  readonly organisation: Listed;
  readonly move?: MoveDocument;
  readonly copies: NonNullable<OrganisationDocument['copies']>;
  readonly files: number;
}

export interface Mover {
  readonly id: string;
  readonly mover: string;
}

interface Moved extends Mover {
  readonly from: string;
  readonly to: string;
  /** The new cluster's time after the copy, as 16 hexadecimal digits. */
  readonly since: string;
  readonly details: Readonly<Record<string, unknown>>;
}

export function moving(models: ControlModels, actor: Actor, now: () => number) {
  const { organisations } = models;

  async function movesOf(id: string, session?: ClientSession): Promise<Moves | undefined> {
    const query = organisations.findById(id);
    const found = await (session ? query.session(session) : query.read('primary')).lean();
    return found ? toMoves(found) : undefined;
  }

  /** Changes an organisation that this process moves. False if another process has taken over, or the move has ended. */
  const own = async ({ id, mover }: Mover, change: object, session?: ClientSession): Promise<boolean> =>
    (await organisations.updateOne({ _id: id, 'move.mover': mover }, change, session && { session })).matchedCount ===
    1;

  return {
    movesOf: (id: string) => movesOf(id),
    /** Organisations with a move in progress or with copies. */
    async *each(): AsyncGenerator<Moves> {
      const given = trusted({ $gt: '' });
      const rows = organisations.find({ $or: [{ 'copies.cluster': given }, { 'move.to': given }] }).lean();
      for await (const row of rows.cursor()) yield toMoves(row);
    },
    /** Moves whose process has ended. */
    async abandoned(): Promise<{ readonly id: string; readonly to: string }[]> {
      const unseen = { 'move.seen_at': trusted({ $lte: new Date(now() - LOST_AFTER) }) };
      const found = await organisations.find({ 'move.to': trusted({ $gt: '' }), ...unseen }, { move: 1 }).lean();
      return found.flatMap(({ _id: id, move }) => (move ? [{ id, to: move.to }] : []));
    },
    /** Moves by state, as last counted. */
    counts: lastKnownOf({ moving: 0, stopped: 0 }, async () => {
      const rows = organisations.find({ 'move.to': trusted({ $gt: '' }) }, { move: 1 }).lean();
      let [moving, stopped] = [0, 0];
      for await (const { move } of rows.cursor()) {
        if (move && isAbandoned(move, now())) stopped += 1;
        else moving += 1;
      }
      return { moving, stopped };
    }),
    /**
     * Begins a move, or takes over one whose process has ended. Once this resolves, no write begins.
     * @throws JobRefused
     */
    begin: ({ id, mover }: Mover, to: string): Promise<Moves | undefined> =>
      models.change(async (session, record) => {
        const found = await movesOf(id, session);
        if (!found) return undefined;
        refuse(found, to, mover, now());
        const at = new Date(now());
        const move = { to, mover, begun_at: found.move?.begun_at ?? at, seen_at: at };
        await organisations.updateOne({ _id: id }, { $set: { move } }, { session });
        if (!found.move) await record(actor, 'organisation.moving', id, { from: found.organisation.cluster, to });
        return { ...found, move };
      }),
    /** Shows that the mover is alive. False if another process has taken over, or the move has ended. */
    beat: (self: Mover): Promise<boolean> => own(self, { $set: { 'move.seen_at': new Date(now()) } }),
    /** Ends a move: the next request of every gateway goes to the new cluster. False if another process has taken over. */
    finish: ({ id, mover, from, to, since, details }: Moved): Promise<boolean> =>
      models.change(async (session, record) => {
        const copies = { cluster: from, left_at: new Date(now()), complete: true };
        // the clocks of clusters differ, and later events must have higher positions
        const feed = { $set: { cluster: to, 'feed.since': since }, $inc: { 'feed.epoch': 1 } };
        const change = { ...feed, $unset: { move: 1 }, $push: { copies } };
        if (!(await own({ id, mover }, change, session))) return false;
        await changeInKeys(models, { organisationId: id, set: { 'organisation.cluster': to }, now: now() }, session);
        await record(actor, 'organisation.moved', id, { from, to, ...details });
        return true;
      }),
    /** Ends a move that was given up. `isLeft` says whether part of a copy remains. */
    undo: ({ id, mover, to, isLeft }: Mover & { readonly to: string; readonly isLeft: boolean }): Promise<boolean> =>
      models.change(async (session, record) => {
        const copy = { cluster: to, left_at: new Date(now()), complete: false };
        const change = { $unset: { move: 1 }, ...(isLeft && { $push: { copies: copy } }) } as const;
        if (!(await own({ id, mover }, change, session))) return false;
        await record(actor, 'organisation.move_undone', id, { to });
        return true;
      }),
    noteDropped: (id: string, cluster: string): Promise<void> =>
      models.change(async (session, record) => {
        const change = { $pull: { copies: { cluster } } } as const;
        const { modifiedCount } = await organisations.updateOne({ _id: id }, change, { session });
        if (modifiedCount === 1) await record(actor, 'organisation.copy_dropped', id, { cluster });
      }),
  };
}

function toMoves(document: OrganisationDocument): Moves {
  const { move, copies = [], files = 0 } = document;
  return { organisation: toListed(document), ...(move && { move }), copies, files };
}

/** @throws JobRefused */
function refuse({ organisation: { id, cluster, state }, move, copies }: Moves, to: string, mover: string, now: number) {
  if (state === 'erasing') throw new JobRefused(`organisation ${id} is being erased`);
  if (move && move.to !== to) {
    throw new JobRefused(
      `organisation ${id} is already being moved to cluster ${move.to}; continue that, or undo it with scopegate org move ${id} --undo`,
    );
  }
  if (move && move.mover !== mover && !isAbandoned(move, now)) {
    const unseen = now - move.seen_at.getTime();
    throw new JobRefused(
      `another process is moving organisation ${id}; it was seen ${seconds(unseen)} ago. If it was killed, try again in ${seconds(LOST_AFTER - unseen)}`,
    );
  }
  if (move) return;
  if (cluster === to) throw new JobRefused(`organisation ${id} is on cluster ${to} already`);
  if (copies.some((copy) => copy.complete && copy.cluster === to)) {
    throw new JobRefused(
      `cluster ${to} still has the copy from when organisation ${id} was moved away; delete it first with scopegate org drop-copy ${id}`,
    );
  }
}

const seconds = (ms: number): string => `${String(Math.max(0, Math.ceil(ms / 1000)))} s`;
