import type { ClientSession, Connection, mongo } from 'mongoose';

/** Runs work as one transaction. After a conflict the work is run again. */
export type Transact = <T>(work: (session: ClientSession) => Promise<T>) => Promise<T>;

const OPTIONS = {
  readConcern: { level: 'snapshot' },
  writeConcern: { w: 'majority', journal: true },
} as const;

/** Runs transactions on the control database, as mongoose does, which resets what it knows of new documents before work is run again. */
export const transactWith =
  (connection: Connection): Transact =>
  (work) =>
    connection.transaction(work, OPTIONS);

/** Makes a function that runs transactions on one client; `note` is awaited before the first command of each. */
export function transactOn(
  client: mongo.MongoClient,
  note?: (session: ClientSession) => Promise<void> | undefined,
): Transact {
  return (work) =>
    client.withSession(async (session) => {
      await note?.(session);
      return session.withTransaction(() => work(session), OPTIONS);
    });
}
