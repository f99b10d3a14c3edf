import { connect } from 'node:net';
import mongoose from 'mongoose';

/** How a server identifies itself. */
export interface Identity {
  readonly pid: number;
}

/**
 * Identifies the server at `uri`, which proves that it answers commands, and that it is the expected process
 * and not another one on the same port.
 */
export async function identify(uri: string, timeoutMs: number): Promise<Identity> {
  return withClient(uri, timeoutMs, async (client) => {
    const admin = client.db('admin');
    await admin.command({ ping: 1 });
    const status = await admin.command({ serverStatus: 1, repl: 0, metrics: 0, wiredTiger: 0, tcmalloc: 0 });
    // mongod returns a Long
    return { pid: Number(status.pid) };
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

/** Whether the port is open; much cheaper than a driver connection while a server is starting. */
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
