import { setTimeout as sleep } from 'node:timers/promises';
import type { mongo } from 'mongoose';
import { isDropPending } from './faults';

/** How long to wait for another process that drops the same database, and how often to try again, in milliseconds. */
const DROPPED_WITHIN = 30_000;
const DROP_AGAIN_EVERY = 50;

/** Drops a database. If another process is dropping it, waits until that has been done. */
export async function dropDatabase(database: mongo.Db): Promise<void> {
  const until = performance.now() + DROPPED_WITHIN;
  for (;;) {
    try {
      await database.dropDatabase();
      return;
    } catch (error) {
      if (!isDropPending(error) || performance.now() > until) throw error;
    }
    await sleep(DROP_AGAIN_EVERY);
  }
}
