import { startOne } from '../src/embedded';
import { CANDIDATES } from '../src/embedded/candidates';
import { isAlive, signalQuietly, waitUntilGone } from '../src/embedded/process';
import { argumentsOf, type RunningServer, startServer } from '../src/embedded/server';
import type { EmbeddedOptions, Program } from '../src/embedded/types';
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
  const start = (program: Program): Promise<RunningServer> => {
    ending.throwIfAborted();
    return startServer(program, { ...options, signal: ending }, port);
  };

  const { program, server: first } = await startOne(options, undefined, { candidates: CANDIDATES, start });
  let server = first;

  return {
    uri: first.uri,
    description: `${program.program} ${program.version}${syncOption(program)}`,
    isAlive: () => isAlive(server.pid),
    kill: async () => {
      signalQuietly(server.pid, 'SIGKILL');
      if (!(await waitUntilGone(server.pid, 60_000))) throw new Error('the database survived SIGKILL');
    },
    restart: async () => {
      await server.stop();
      server = await start(program);
      if (server.uri !== first.uri) throw new Error(`the database moved from ${first.uri} to ${server.uri}`);
    },
    stop: onEnd('the database', () => server.stop()),
  };
}

function syncOption(program: Program): string {
  const place = { port: 0, storagePath: '', configFile: '' };
  return argumentsOf(program, place).includes('--sync-on-commit') ? ' with --sync-on-commit' : '';
}
