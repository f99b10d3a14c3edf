import mongoose from 'mongoose';
import { realChain } from '../src/database/embedded';
import { startOne } from '../src/database/embedded/choice';
import { isAlive, signalQuietly, waitUntilGone } from '../src/database/embedded/liveness';
import { withClient } from '../src/database/embedded/ping';
import type { EmbeddedOptions, RunningServer, ServerPlan } from '../src/database/embedded/types';
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
  /** How the transactions of a dead gateway end, for the report. */
  orphansEnd(): string;
  /** Sets the maximum age of a transaction, in seconds; no effect if the server has no such parameter. */
  limitTransactions(seconds?: number): Promise<void>;
  /** Ends the transactions of dead gateways if the server would otherwise take its default of 60 s. */
  endOrphans(): Promise<void>;
  freeze(): void;
  thaw(): void;
  stop(): Promise<void>;
}

/**
 * Seconds after which the server aborts a dead gateway's transaction; until then its objects reject other writes.
 * With the default of 60 s, disconnected clients would wait for a minute after each kill.
 */
const TRANSACTION_LIFETIME = 5;

/** Starts MONGOD_BINARY, or else the first of the product's embedded servers that works, on its own data. */
export async function startDatabase(dataDir: string, cacheDir: string): Promise<FaultDatabase> {
  const { MONGOD_BINARY, HTTPS_PROXY, PATH } = process.env;
  const options: EmbeddedOptions = {
    MONGOD_BINARY,
    HTTPS_PROXY,
    DATA_DIR: dataDir,
    CACHE_DIR: cacheDir,
    PATH: PATH ?? '',
    report: () => undefined,
  };
  const port = await freePort();
  let endsOrphans = true;
  async function start(plan: ServerPlan): Promise<RunningServer> {
    ending.throwIfAborted();
    const server = await realChain.start(plan, { ...options, signal: ending }, port);
    endsOrphans = await limitTransactions(server.uri);
    return server;
  }

  const { plan, server: first } = await startOne({ ...realChain, start }, undefined, options);
  let server = first;

  async function stop(): Promise<void> {
    signalQuietly(server.pid, 'SIGCONT');
    await server.stop();
  }
  const stopNow = onEnd('the database', stop);

  return {
    uri: first.uri,
    description: `${plan.program} ${plan.version}${syncOption(plan)}`,
    orphansEnd: () =>
      endsOrphans
        ? `by the database after ${String(TRANSACTION_LIFETIME)} s (transactionLifetimeLimitSeconds, 60 by default)`
        : 'by killAllSessions, like all others, as soon as its gateway is back',
    limitTransactions: async (seconds) => {
      await limitTransactions(server.uri, seconds);
    },
    endOrphans: async () => {
      if (!endsOrphans) await asAdmin(server.uri, { killAllSessions: [] });
    },
    isAlive: () => isAlive(server.pid),
    kill: async () => {
      signalQuietly(server.pid, 'SIGKILL');
      if (!(await waitUntilGone(server.pid, 10_000))) throw new Error('the database survived SIGKILL');
    },
    restart: async () => {
      await server.stop();
      server = await start(plan);
      if (server.uri !== first.uri) throw new Error(`the database moved from ${first.uri} to ${server.uri}`);
    },
    freeze: () => {
      signalQuietly(server.pid, 'SIGSTOP');
    },
    thaw: () => {
      signalQuietly(server.pid, 'SIGCONT');
    },
    stop: stopNow,
  };
}

function asAdmin(uri: string, command: Record<string, unknown>): Promise<unknown> {
  return withClient(uri, 10_000, (client) => client.db('admin').command(command));
}

/** Returns false if the server has no such parameter. */
async function limitTransactions(uri: string, seconds = TRANSACTION_LIFETIME): Promise<boolean> {
  try {
    await asAdmin(uri, { setParameter: 1, transactionLifetimeLimitSeconds: seconds });
    return true;
  } catch (error) {
    if (error instanceof mongoose.mongo.MongoServerError) return false;
    throw error;
  }
}

function syncOption(plan: ServerPlan): string {
  const place = { port: 0, storagePath: '', configFile: '' };
  return plan.args(place).includes('--sync-on-commit') ? ' with --sync-on-commit' : '';
}
