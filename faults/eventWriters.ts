import { randomUUID } from 'node:crypto';
import type { mongo } from 'mongoose';
import { databaseName } from '../src/mongo/databaseNames';
import { type Caller, isSuccess } from './client';
import { sleep } from './timing';

/* Three writers whose changes are known: their own driver, transactions, and calls of gateways. */

/** Between two changes of a writer, in milliseconds. */
const PAUSE = 10;
/** Changes of one object. */
const TURNS = 12;

export interface Changes {
  /** The events of each object, in order. */
  readonly objects: ReadonlyMap<string, readonly string[]>;
  readonly aborted: ReadonlySet<string>;
}

interface Quote {
  readonly _id: string;
  readonly status: string;
}

/** Begins at once, until `stop`. */
export function createWriters(
  bare: mongo.MongoClient,
  organisationId: string,
  callers: readonly Caller[],
  key: string,
) {
  const objects = new Map<string, string[]>();
  const aborted = new Set<string>();
  const quotes = bare.db(databaseName(organisationId)).collection<Quote>('quotes');
  let [isOver, done] = [false, 0];

  /** The pause keeps slow servers from having nothing else to do. */
  async function note(id: string, event: string): Promise<void> {
    objects.set(id, [...(objects.get(id) ?? []), event]);
    done += 1;
    await sleep(PAUSE);
  }

  /** Repeats a change until it is known to be stored; each attempt finds out first whether an earlier one was. */
  async function surely(attempt: () => Promise<boolean>): Promise<void> {
    for (;;) {
      if (await attempt().catch(() => false)) return;
      await sleep(50);
    }
  }

  async function ownDriver(): Promise<void> {
    while (!isOver) {
      const _id = randomUUID();
      await surely(async () => {
        await quotes.updateOne({ _id }, { $setOnInsert: { status: '0' } }, { upsert: true });
        return true;
      });
      await note(_id, 'quote.created 0');
      for (let turn = 1; turn < TURNS; turn += 1) {
        const status = String(turn);
        await surely(async () => {
          await quotes.updateOne({ _id, status: String(turn - 1) }, { $set: { status } });
          return (await quotes.findOne({ _id }))?.status === status;
        });
        await note(_id, `quote.status_changed ${status}`);
      }
      await surely(async () => {
        await quotes.deleteOne({ _id });
        return (await quotes.findOne({ _id })) === null;
      });
      await note(_id, 'quote.deleted null');
    }
  }

  async function transactions(): Promise<void> {
    while (!isOver) {
      const [kept, gone] = [randomUUID(), randomUUID()];
      aborted.add(gone);
      await surely(async () => {
        if (await quotes.findOne({ _id: kept })) return true;
        await bare.withSession((session) =>
          session.withTransaction(async () => {
            await quotes.insertOne({ _id: kept, status: 'draft' }, { session });
            await quotes.updateOne({ _id: kept }, { $set: { status: 'sent' } }, { session });
          }),
        );
        return true;
      });
      await note(kept, 'quote.created draft');
      await note(kept, 'quote.status_changed sent');
      await bare
        .withSession(async (session) => {
          session.startTransaction();
          await quotes.insertOne({ _id: gone, status: 'draft' }, { session });
          await session.abortTransaction();
        })
        .catch(() => undefined);
    }
  }

  async function overGateways(): Promise<void> {
    for (let lane = 0; !isOver; lane += 1) {
      const sku = randomUUID();
      let id = '';
      for (let turn = 0; turn < TURNS; turn += 1) {
        const body = JSON.stringify({ products: [{ sku, name: String(turn) }] });
        const idempotencyKey = randomUUID();
        let attempt = lane;
        await surely(async () => {
          const call = callers[attempt++ % callers.length];
          const reply = await call?.(
            { method: 'POST', path: '/api/v1/products/bulk', key, body, idempotencyKey },
            3000,
          );
          if (reply?.kind !== 'answer' || !isSuccess(reply)) return false;
          const { results } = JSON.parse(reply.body) as { results: { id: string }[] };
          id = results[0]?.id ?? '';
          return true;
        });
        await note(id, turn === 0 ? 'product.created null' : 'product.updated null');
      }
    }
  }

  const lanes = [ownDriver(), transactions(), overGateways()];
  return {
    count: () => done,
    async stop(): Promise<Changes> {
      isOver = true;
      await Promise.all(lanes);
      return { objects, aborted };
    },
  };
}
