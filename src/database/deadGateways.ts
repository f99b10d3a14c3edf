import { randomUUID } from 'node:crypto';
import type { ClientSession, mongo } from 'mongoose';

/*
 * A gateway that dies inside a transaction leaves the documents it wrote locked until the server ends the transaction, after
 * 60 s by default. So each gateway records the sessions of its transactions, and others end them when it no longer renews its
 * record (docs/decisions/dead-gateways.md).
 */

export interface GatewayRow {
  readonly _id: string;
  /** Host and URL: of two gateways with the same place, only the later one can be alive. */
  readonly place: string;
  readonly beat: number;
  readonly sessions: readonly { readonly cluster: string; readonly id: mongo.Binary }[];
}

/** In milliseconds. */
const BEAT_EVERY = 2000;
/** A gateway is dead if its row has not changed in this many successive readings; failed readings do not count. */
const UNCHANGED_READINGS = 3;
/** After this many unchanged readings a row is deleted even if a cluster does not respond: the server has ended its transactions. */
const ATTEMPTS = 150;
/** How often the recorded sessions are cleared, in milliseconds: the driver drops those that were idle for 29 minutes. */
const CLEAR_EVERY = 31 * 60_000;
const MAX_SESSIONS = 2000;
const MAX_ROWS = 1000;
const BURIED_AT_ONCE = 10;

export interface DeadGatewaysOptions {
  readonly rows: mongo.Collection<GatewayRow>;
  /** Ends sessions on a cluster. @throws if it does not respond */
  readonly endSessions: (cluster: string, ids: readonly mongo.Binary[]) => Promise<void>;
  readonly beatEvery?: number;
  /** The most sessions a row may list; the server's own time limit ends the transactions of others. */
  readonly mostSessions?: number;
}

export interface Watch {
  /** Called when the transactions of a dead gateway have been ended. */
  readonly onEnded: (gateway: Pick<GatewayRow, '_id' | 'place'>) => void;
  /** Called when the rows could not be read or written; retried later. */
  readonly onError: (error: unknown) => void;
}

export function deadGateways({
  rows,
  endSessions,
  beatEvery = BEAT_EVERY,
  mostSessions = MAX_SESSIONS,
}: DeadGatewaysOptions) {
  const _id = randomUUID();
  /** Ids of the sessions in this gateway's row. */
  const recorded = new Set<string>();
  /** What was last read about the other gateways. */
  let others = new Map<string, { readonly beat: number; readonly readings: number }>();
  const burying = new Set<string>();
  let watch: Watch | undefined;
  let timer: NodeJS.Timeout | undefined;
  let turning: Promise<void> | undefined;
  let place = '';
  let beat = 0;
  let clearAt = performance.now() + CLEAR_EVERY;

  async function renew(): Promise<void> {
    const alive = { place, beat: (beat += 1) };
    const isClearing = performance.now() > clearAt;
    const change = isClearing ? { $set: { ...alive, sessions: [] } } : { $set: alive, $setOnInsert: { sessions: [] } };
    const known = await rows.findOneAndUpdate({ _id }, change, { upsert: true });
    if (isClearing) clearAt = performance.now() + CLEAR_EVERY;
    // a missing row means that others took this gateway for dead
    if (isClearing || !known) recorded.clear();
  }

  async function findDead(): Promise<void> {
    const found = rows.find({ _id: { $ne: _id } }, { projection: { beat: 1 }, limit: MAX_ROWS });
    const before = others;
    others = new Map();
    for (const row of await found.toArray()) {
      const last = before.get(row._id);
      const readings = last?.beat === row.beat ? last.readings + 1 : 0;
      others.set(row._id, { beat: row.beat, readings });
      if (readings >= UNCHANGED_READINGS) bury(row._id, readings >= ATTEMPTS);
    }
  }

  /** Buries a dead gateway without holding up this one's own beats. */
  function bury(id: string, isLastAttempt: boolean): void {
    if (burying.has(id) || burying.size >= BURIED_AT_ONCE) return;
    burying.add(id);
    endAll(id, isLastAttempt)
      .catch(fail)
      .finally(() => burying.delete(id));
  }

  /** Ends a gateway's sessions, then deletes its row; if a cluster did not respond, the row is only deleted on the last attempt. */
  async function endAll(id: string, isLastAttempt: boolean): Promise<void> {
    const row = await rows.findOne({ _id: id });
    if (!row) return;
    const clusters = [...new Set(row.sessions.map(({ cluster }) => cluster))];
    const idsOn = (name: string) =>
      row.sessions.flatMap(({ cluster, id: session }) => (cluster === name ? session : []));
    const ended = await Promise.allSettled(clusters.map((name) => endSessions(name, idsOn(name))));
    if (!isLastAttempt && ended.some(({ status }) => status === 'rejected')) return;
    // a gateway that came back meanwhile keeps its row
    const { deletedCount } = await rows.deleteOne({ _id: id, beat: row.beat });
    if (deletedCount === 1) watch?.onEnded(row);
  }

  async function record(cluster: string, id: mongo.Binary): Promise<void> {
    try {
      const added = { $push: { sessions: { cluster, id } }, $setOnInsert: { place, beat } };
      const { upsertedCount } = await rows.updateOne({ _id }, added, { upsert: true });
      if (upsertedCount > 0) recorded.clear();
      recorded.add(id.toString('hex'));
    } catch (error) {
      // the write goes on: if this gateway dies, the server's own limit ends the transaction
      fail(error);
    }
  }

  function fail(error: unknown): void {
    watch?.onError(error);
  }

  async function turn(): Promise<void> {
    try {
      await renew();
      if (watch) await findDead();
    } catch (error) {
      fail(error);
    }
    if (watch) timer = setTimeout(() => void (turning = turn()), beatEvery).unref();
  }

  return {
    /** Starts to record this gateway's sessions and to watch the other gateways. */
    async start(watching: Watch): Promise<void> {
      watch = watching;
      await (turning = turn());
    },
    /** How many gateways are running, including this one, as last read. */
    count: (): number => 1 + [...others.values()].filter(({ readings }) => readings < UNCHANGED_READINGS).length,
    /** Records where this gateway listens, and ends the sessions of gateways that listened there before. */
    async listensAt(where: string): Promise<void> {
      place = where;
      const former = { _id: { $ne: _id }, place };
      try {
        await renew();
        const ids = await rows.find(former, { projection: { _id: 1 }, limit: BURIED_AT_ONCE }).toArray();
        for (const { _id: id } of ids) bury(id, false);
      } catch (error) {
        fail(error);
      }
    },
    /** Records a session before its first transaction; undefined if there is nothing to record. */
    note(cluster: string, session: ClientSession): Promise<void> | undefined {
      const id = session.id?.id;
      if (!watch || !id || recorded.has(id.toString('hex')) || recorded.size >= mostSessions) return undefined;
      return record(cluster, id);
    },
    /** Deletes this gateway's row, after its transactions have ended. */
    async stop(): Promise<void> {
      if (!watch) return;
      watch = undefined;
      clearTimeout(timer);
      // a beat in progress would bring the row back
      await turning;
      await rows.deleteOne({ _id }).catch(() => undefined);
    },
  };
}
