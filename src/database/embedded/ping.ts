import { once } from 'node:events';
import { connect, isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';
import mongoose from 'mongoose';

/**
 * The process id of the server at `uri`. Getting it proves that the server answers commands; comparing it, that it is the expected
 * process and not another one on the same port.
 */
export async function identify(uri: string, timeoutMs: number): Promise<number> {
  const question = { serverStatus: 1, repl: 0, metrics: 0, wiredTiger: 0, tcmalloc: 0 };
  const status = await withClient(uri, timeoutMs, (client) => client.db('admin').command(question));
  // mongod returns a Long
  return Number(status.pid);
}

/** Runs `work` with a connection of its own, which is closed afterwards. */
export async function withClient<T>(
  uri: string,
  timeoutMs: number,
  work: (client: mongoose.mongo.MongoClient) => Promise<T>,
): Promise<T> {
  const patience = { serverSelectionTimeoutMS: timeoutMs, connectTimeoutMS: timeoutMs, socketTimeoutMS: timeoutMs };
  const client = new mongoose.mongo.MongoClient(uri, { ...patience, maxPoolSize: 1 });
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

/** Why the host of a URL cannot be reached; undefined if it can. */
export async function whyUnreachable(url: URL, timeoutMs = 3_000): Promise<string | undefined> {
  const { hostname: host, port, protocol, host: shown } = url;
  const isSecure = protocol === 'https:';
  const address = { host, port: Number(port) || (isSecure ? 443 : 80) };
  const socket = isSecure ? connectTls({ ...address, ...(!isIP(host) && { servername: host }) }) : connect(address);
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    await once(socket, isSecure ? 'secureConnect' : 'connect', { signal: timeout });
    return undefined;
  } catch (error) {
    const reason = timeout.aborted ? `no answer within ${String(timeoutMs / 1000)} s` : (error as Error).message;
    return `${shown} cannot be reached (${reason})`;
  } finally {
    socket.destroy();
  }
}
