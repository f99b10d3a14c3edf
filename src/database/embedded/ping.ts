import mongoose from 'mongoose';

/**
 * The process number of the server at `uri`, which proves that it answers commands, and that it is the expected process
 * and not another one on the same port.
 */
export async function identify(uri: string, timeoutMs: number): Promise<number> {
  return withClient(uri, timeoutMs, async (client) => {
    const question = { serverStatus: 1, repl: 0, metrics: 0, wiredTiger: 0, tcmalloc: 0 };
    const status = await client.db('admin').command(question);
    // mongod returns a Long
    return Number(status.pid);
  });
}

/** Runs `work` with its own connection, which is closed afterwards. */
export async function withClient<T>(
  uri: string,
  timeoutMs: number,
  work: (client: mongoose.mongo.MongoClient) => Promise<T>,
): Promise<T> {
  const client = new mongoose.mongo.MongoClient(uri, {
    serverSelectionTimeoutMS: timeoutMs,
    connectTimeoutMS: timeoutMs,
    socketTimeoutMS: timeoutMs,
    maxPoolSize: 1,
  });
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}
