import type { ClientSession, Connection, mongo } from 'mongoose';

/** Runs work as one transaction. After a conflict the driver runs it again, for up to two minutes, so all that it does elsewhere must bear that. */
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

/** Runs transactions with the driver alone. */
export const transactOn =
  (client: mongo.MongoClient): Transact =>
  (work) =>
    client.withSession((session) => session.withTransaction(() => work(session), OPTIONS));
