import { randomUUID } from 'node:crypto';
import type { mongo } from 'mongoose';

/* Where SecantusDB, which tests run on if there is no mongod, differs from MongoDB, and mongos from a replica set: asks the server that the tests run on. */

/** Runs `ask` on a database of its own. */
async function onProbe(client: mongo.MongoClient, ask: (db: mongo.Db) => Promise<boolean>): Promise<boolean> {
  const db = client.db(`probe_${randomUUID().slice(0, 8)}`);
  try {
    return await ask(db);
  } finally {
    await db.dropDatabase();
  }
}

/** Whether it is mongos of a sharded cluster. */
export async function isSharded(client: mongo.MongoClient): Promise<boolean> {
  return (await client.db('admin').command({ hello: 1 })).msg === 'isdbgrid';
}

/** What `shard` is of an organisation: the name of one, or null on a replica set. */
export async function shardOfAny(client: mongo.MongoClient): Promise<unknown> {
  return (await isSharded(client)) ? expect.stringMatching(/./) : null;
}

/** Whether an update that matches nothing creates a database. */
export function updatesCreate(client: mongo.MongoClient): Promise<boolean> {
  return onProbe(client, async (db) => {
    await db.collection('any').updateOne({ name: 'none' }, { $set: { name: 'none' } });
    const { databases } = await db.admin().listDatabases({ nameOnly: true });
    return databases.some(({ name }) => name === db.databaseName);
  });
}

/** Whether renaming a collection to an existing name is also reported as a drop of that. */
export function reportsDroppedTargets(client: mongo.MongoClient): Promise<boolean> {
  return onProbe(client, async (db) => {
    await db.collection('target').insertOne({});
    await db.collection('source').insertOne({});
    const changes = db.watch();
    try {
      // opens it
      await changes.tryNext();
      await db.collection('source').rename('target', { dropTarget: true });
      return (await changes.next()).operationType === 'drop';
    } finally {
      await changes.close();
    }
  });
}

/** Whether of two open transactions that change a row to the same unique value the second is refused, as on MongoDB; secantusd-rs commits both. */
export function comparesUnique(client: mongo.MongoClient): Promise<boolean> {
  return onProbe(client, async (db) => {
    const rows = db.collection<{ _id: string; unique: string }>('any');
    await rows.createIndexes([{ key: { unique: 1 }, unique: true }]);
    const ids = ['0', '1'];
    await rows.insertMany(ids.map((_id) => ({ _id, unique: _id })));
    const sessions = ids.map(() => client.startSession());
    try {
      for (const [at, session] of sessions.entries()) {
        session.startTransaction();
        await rows.updateOne({ _id: ids[at]! }, { $set: { unique: 'same' } }, { session });
      }
      return false;
    } catch {
      return true;
    } finally {
      for (const session of sessions) await session.endSession();
    }
  });
}

/** Whether an index that is created while a transaction is open has its rows, as on MongoDB, where creating it waits; SecantusDB leaves them out. */
export function indexesOpenRows(client: mongo.MongoClient): Promise<boolean> {
  return onProbe(client, async (db) => {
    const rows = db.collection<{ _id: string; n: number }>('any');
    await rows.insertOne({ _id: '0', n: 0 });
    await using session = client.startSession();
    session.startTransaction();
    await rows.insertOne({ _id: '1', n: 1 }, { session });
    // where it waits, it ends with an error
    const isMade = await rows.createIndexes([{ key: { n: 1 } }], { maxTimeMS: 1000 }).then(
      () => true,
      () => false,
    );
    if (!isMade) return true;
    await session.commitTransaction();
    return (await rows.find({ n: 1 }).toArray()).length === 1;
  });
}

/** Whether a sort uses an index that begins with its members, as on MongoDB; SecantusDB's Python server wants one of exactly these. */
export function sortsByPrefix(client: mongo.MongoClient): Promise<boolean> {
  return onProbe(client, async (db) => {
    const rows = db.collection('any');
    await rows.createIndexes([{ key: { a: -1, b: -1, c: 1 } }]);
    const plan = await rows.find().sort({ a: -1, b: -1 }).explain('queryPlanner');
    return JSON.stringify(plan).includes('IXSCAN');
  });
}
