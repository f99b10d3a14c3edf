import mongoose from 'mongoose';
import { startOne } from '../src/database/embedded';
import { CANDIDATES } from '../src/database/embedded/candidates';
import { isAlive, signalQuietly, waitUntilGone } from '../src/database/embedded/process';
import { argumentsOf, type RunningServer, startServer, withClient } from '../src/database/embedded/server';
import type { EmbeddedOptions, Program } from '../src/database/embedded/types';
import { ending, onEnd } from './cleanup';
import { freePort } from './processes';

/** The run's database server, with the same address and data however often it is killed. */
export interface FaultDatabase {
  readonly uri: string;
  /** Server, version and options. */
  readonly description: string;
  isAlive(): boolean;
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
  /** Restarts it on the same data; resolves when it answers. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** MongoDB's default, in seconds, and not the shorter time that the product sets where it can: gateways must not rely on it. */
const TRANSACTION_LIFETIME = 60;

/** Starts MONGOD_BINARY, or else the first of the product's embedded servers that works, on its own data. */
export async function startDatabase(dataDir: string, cacheDir: string): Promise<FaultDatabase> {
  const { MONGOD_BINARY } = process.env;
  const options: EmbeddedOptions = {
    MONGOD_BINARY,
    DATA_DIR: dataDir,
    CACHE_DIR: cacheDir,
    report: () => undefined,
  };
  const port = await freePort();
  async function start(program: Program): Promise<RunningServer> {
    ending.throwIfAborted();
    const server = await startServer(program, { ...options, signal: ending }, port);
    await limitTransactions(server.uri);
    return server;
  }

  const { program, server: first } = await startOne(options, undefined, { candidates: CANDIDATES, start });
  let server = first;

  return {
    uri: first.uri,
    description: `${program.program} ${program.version}${syncOption(program)}`,
    isAlive: () => isAlive(server.pid),
    kill: async () => {
      signalQuietly(server.pid, 'SIGKILL');
      if (!(await waitUntilGone(server.pid, 10_000))) throw new Error('the database survived SIGKILL');
    },
    restart: async () => {
      await server.stop();
      server = await start(program);
      if (server.uri !== first.uri) throw new Error(`the database moved from ${first.uri} to ${server.uri}`);
    },
    stop: onEnd('the database', () => server.stop()),
  };
}

/** No effect if the server has no such parameter. */
async function limitTransactions(uri: string): Promise<void> {
  const command = { setParameter: 1, transactionLifetimeLimitSeconds: TRANSACTION_LIFETIME };
  try {
    await withClient(uri, 10_000, (client) => client.db('admin').command(command));
  } catch (error) {
    if (!(error instanceof mongoose.mongo.MongoServerError)) throw error;
  }
}

function syncOption(program: Program): string {
  const place = { port: 0, storagePath: '', configFile: '' };
  return argumentsOf(program, place).includes('--sync-on-commit') ? ' with --sync-on-commit' : '';
}
