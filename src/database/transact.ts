import type { ClientSession, mongo } from 'mongoose';

/** Runs work as one transaction. After a conflict the work is run again. */
export type Transact = <T>(work: (session: ClientSession) => Promise<T>) => Promise<T>;

/** Makes a function that runs transactions on one client; `note` is awaited before the first command of each. */
export function transactOn(
  client: mongo.MongoClient,
  note?: (session: ClientSession) => Promise<void> | undefined,
): Transact {
  return (work) =>
    client.withSession(async (session) => {
      await note?.(session);
      return session.withTransaction(() => work(session), {
        readConcern: { level: 'snapshot' },
        writeConcern: { w: 'majority', journal: true },
      });
    });
}
