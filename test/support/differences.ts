import { randomUUID } from 'node:crypto';
import type { mongo } from 'mongoose';

/* Where SecantusDB's Python server, the fallback for tests, differs from MongoDB: asks the server that the tests run on. */

/** Runs `ask` on a database of its own. */
async function onProbe(client: mongo.MongoClient, ask: (db: mongo.Db) => Promise<boolean>): Promise<boolean> {
  const db = client.db(`probe_${randomUUID().slice(0, 8)}`);
  try {
    return await ask(db);
  } finally {
    await db.dropDatabase();
  }
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
