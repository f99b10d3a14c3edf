import type { ClientSession, mongo } from 'mongoose';

/** Runs work as one transaction on a cluster; it may run more than once, since a conflict repeats it. */
export type Transact = <T>(work: (session: ClientSession) => Promise<T>) => Promise<T>;

/** Transactions on one client; `note` is awaited before the first command of each. */
export function transactOn(
  client: mongo.MongoClient,
  note: (session: ClientSession) => Promise<void> | undefined,
): Transact {
  return (work) =>
    client.withSession(async (session) => {
      await note(session);
      return session.withTransaction(() => work(session), {
        readConcern: { level: 'snapshot' },
        writeConcern: { w: 'majority', journal: true },
      });
    });
}
