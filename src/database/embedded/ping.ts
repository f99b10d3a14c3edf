import { connect } from 'node:net';
import mongoose from 'mongoose';

/** What a server says of itself. */
export interface Identity {
  readonly pid: number;
}

/**
 * Asks the server at `uri` who it is: proof that it really answers commands, and that it is the process meant
 * and not another that took the same port.
 */
export async function identify(uri: string, timeoutMs: number): Promise<Identity> {
  return withClient(uri, timeoutMs, async (client) => {
    const admin = client.db('admin');
    await admin.command({ ping: 1 });
    const status = await admin.command({ serverStatus: 1, repl: 0, metrics: 0, wiredTiger: 0, tcmalloc: 0 });
    // mongod gives a Long
    return { pid: Number(status.pid) };
  });
}

/** Runs `work` with a connection of its own, closed afterwards. */
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

/** Whether something listens there; far cheaper than a driver's connection while a server is still starting. */
export function isListening(port: number, host = '127.0.0.1', timeoutMs = 1_000): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host, timeout: timeoutMs });
    const answer = (listening: boolean) => (): void => {
      socket.destroy();
      resolve(listening);
    };
    socket.once('connect', answer(true)).once('error', answer(false)).once('timeout', answer(false));
  });
}
