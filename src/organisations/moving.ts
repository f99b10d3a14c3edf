import { type ClientSession, trusted } from 'mongoose';
import type { Actor } from './auditEvents';
import { schemaVersion } from './controlSchema';
import { changeInKeys } from './endedKeys';
import { ONE_CLUSTER_SCHEMA } from './formerSchemas';
import { JobRefused } from './jobs';
import { createLastKnown } from './lastKnown';
import type { ControlModels } from './models';
import { type OrganisationForOperators, type MoveDocument, forOperators } from './organisationRows';

/* Control data of organisations that MongoDB moves to another shard (docs/decisions/shards.md). */

/**
 * A mover (the process that asked MongoDB for a move) that has not been seen for this long, in milliseconds, is gone; while it runs, it stores
 * that it was seen every {@link SEEN_EVERY} ms, except while MongoDB elects a primary, which takes up to 12 s. This is no lease (mongo/lease.ts), since a move is begun and ended in a transaction with the
 * keys of its organisation.
 */
const LOST_AFTER = 15_000;
export const SEEN_EVERY = 2000;

/** Whether the process of a move has ended; `now` is the database's time, as everywhere here. */
export function isAbandoned({ seen_at }: MoveDocument, now: number): boolean {
  return now - seen_at.getTime() >= LOST_AFTER;
}

export interface OrganisationMove {
  readonly organisation: OrganisationForOperators;
  readonly move?: MoveDocument;
}

export interface Mover {
  /** Id of the organisation. */
  readonly id: string;
  /** Id of the process that moves it. */
  readonly mover: string;
}

export function createMoves(models: ControlModels, actor: Actor, now: () => number) {
  const { organisations } = models;
  // as the sparse index has them
  const IN_PROGRESS = { 'move.to': trusted({ $gt: '' }) };

  async function moveOf(id: string, session?: ClientSession): Promise<OrganisationMove | undefined> {
    const row = await organisations.findById(id, null, { session: session ?? null }).lean();
    return row ? { organisation: forOperators(row), ...(row.move && { move: row.move }) } : undefined;
  }

  /** Changes an organisation that this process moves. False if another process has taken over, or the move has ended. */
  const changeOwn = async ({ id, mover }: Mover, change: object, session?: ClientSession): Promise<boolean> =>
    (await organisations.updateOne({ _id: id, 'move.mover': mover }, change, session && { session })).matchedCount ===
    1;

  /** Ends a move, so that requests begin again. False if another process has taken over. */
  const end = (self: Mover, action: 'organisation.moved' | 'organisation.move_undone', details: object) =>
    models.change(async (session, record) => {
      const at = now();
      if (!(await changeOwn(self, { $unset: { move: 1 }, $set: { moved_at: new Date(at) } }, session))) return false;
      await changeInKeys(models, { organisationId: self.id, unset: 'organisation.moving', now: at }, session);
      await record(actor, action, self.id, { ...details });
      return true;
    });

  return {
    moveOf: (id: string) => moveOf(id),
    /** Moves in progress. */
    async *each(): AsyncGenerator<OrganisationMove & { readonly move: MoveDocument }> {
      for await (const row of organisations.find(IN_PROGRESS).lean().cursor())
        if (row.move) yield { organisation: forOperators(row), move: row.move };
    },
    /** The organisations whose moves have lost their process, and the shards that they were to move to. */
    async abandoned(): Promise<{ readonly id: string; readonly to: string }[]> {
      const unseen = { 'move.seen_at': trusted({ $lte: new Date(now() - LOST_AFTER) }) };
      const unseenMoves = await organisations.find({ ...IN_PROGRESS, ...unseen }, { move: 1 }).lean();
      return unseenMoves.flatMap(({ _id: id, move }) => (move ? [{ id, to: move.to }] : []));
    },
    /** Moves by state, as last counted; those whose process has ended are `stopped`. */
    counts: createLastKnown({ moving: 0, stopped: 0 }, async () => {
      let moving = 0;
      let stopped = 0;
      for await (const { move } of organisations.find(IN_PROGRESS, { move: 1 }).lean().cursor()) {
        if (move && isAbandoned(move, now())) stopped += 1;
        else moving += 1;
      }
      return { moving, stopped };
    }),
    /**
     * Begins a move, or takes over one whose process has ended. Once this resolves, no request of the organisation begins. Undefined if there
     * is no such organisation. @throws JobRefused
     */
    begin: ({ id, mover }: Mover, to: string): Promise<OrganisationMove | undefined> =>
      models.change(async (session, record) => {
        const current = await moveOf(id, session);
        if (!current) return undefined;
        // gateways that start on an earlier schema serve an organisation while MongoDB moves it, and take this for a move to another cluster
        const version = await schemaVersion(organisations.db, session);
        if (version < ONE_CLUSTER_SCHEMA)
          throw new JobRefused(
            `organisations cannot be moved while the control database has schema version ${String(version)}, as gateways of versions before 0.9 may run; once all gateways have this version, run scopegate doctor --fix`,
          );
        requireMovable(current, to, now());
        const at = new Date(now());
        const move = { to, mover, begun_at: current.move?.begun_at ?? at, seen_at: at };
        await organisations.updateOne({ _id: id }, { $set: { move } }, { session });
        const inKeys = { organisationId: id, set: { 'organisation.moving': true }, now: at.getTime() };
        await changeInKeys(models, inKeys, session);
        if (!current.move) await record(actor, 'organisation.moving', id, { to });
        return { ...current, move };
      }),
    /** Shows that the mover is alive. False if another process has taken over, or the move has ended. */
    beat: (self: Mover): Promise<boolean> => changeOwn(self, { $set: { 'move.seen_at': new Date(now()) } }),
    finish: (self: Mover, details: { readonly from: string | null; readonly to: string }): Promise<boolean> =>
      end(self, 'organisation.moved', details),
    undo: (self: Mover, details: { readonly to: string }): Promise<boolean> =>
      end(self, 'organisation.move_undone', details),
  };
}

/** @throws JobRefused if the organisation is being erased, or moved to another shard or by another process that is alive */
function requireMovable({ organisation: { id, state }, move }: OrganisationMove, to: string, now: number): void {
  if (state === 'erasing') throw new JobRefused(`organisation ${id} is being erased`);
  if (!move) return;
  if (move.to !== to) throw new JobRefused(`organisation ${id} is already being moved to shard ${move.to}`);
  if (isAbandoned(move, now)) return;
  const unseen = now - move.seen_at.getTime();
  throw new JobRefused(
    `another process is moving organisation ${id}; it was seen ${seconds(unseen)} ago. If it was killed, try again in ${seconds(LOST_AFTER - unseen)}`,
  );
}

const seconds = (ms: number): string => `${String(Math.max(0, Math.ceil(ms / 1000)))} s`;
