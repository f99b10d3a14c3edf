import { mkdir } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { binaryLink } from './binary';
import { startOne } from './choice';
import { withLock } from './lock';
import { recall, remember } from './memory';
import { memoryServerLink } from './memoryServer';
import { announce, clearStale, findRunning } from './runFile';
import { secantusLink } from './secantusdb';
import { startServer } from './start';
import type { Chain, Database, EmbeddedOptions } from './types';

export { DatabaseUnavailable } from './failures';
export type { Database, EmbeddedOptions } from './types';

/** Tried in order, the closest to production first. */
const realChain: Chain = { links: [binaryLink, memoryServerLink, secantusLink], start: startServer };

/**
 * The database to use: MONGODB_URI, or the server that is already running for this data folder, or a new one that `stop()` stops.
 * @throws DatabaseUnavailable with what was tried and what to do
 */
export async function chooseDatabase(options: EmbeddedOptions, chain: Chain = realChain): Promise<Database> {
  if (options.mongodbUri) return asGiven(options.mongodbUri, options);

  // absolute, because these are stored and must be valid in any working folder
  const placed = { ...options, dataDir: resolve(options.dataDir), cacheDir: resolve(options.cacheDir) };
  await mkdir(placed.dataDir, { recursive: true });
  return (await joinRunning(placed)) ?? (await startUnderLock(placed, chain));
}

function asGiven(uri: string, { report }: EmbeddedOptions): Database {
  const description = `MONGODB_URI (${hostsOf(uri)})`;
  report(`database: ${description}`);
  return { uri, kind: 'uri', description, stop: () => Promise.resolve() };
}

/** A path as the user would type it. */
function shown(path: string): string {
  const short = relative('', path);
  return short.startsWith('..') ? path : short;
}

/** The hosts only, since the rest of the URI may contain secrets. */
const hostsOf = (uri: string): string =>
  /^mongodb(?:\+srv)?:\/\/(?:.*@)?([^/?]+)/.exec(uri)?.[1] ?? 'not a mongodb:// URI';

/** The lock is only held during the start; a waiting process then finds the server that the other one started. */
function startUnderLock(options: EmbeddedOptions, chain: Chain): Promise<Database> {
  const { dataDir, report, signal } = options;
  const work = async (): Promise<Database> => (await joinRunning(options)) ?? (await start(options, chain));
  return withLock(join(dataDir, 'database.lock'), work, {
    signal,
    onWait: (pid) => {
      report(`database: waiting for process ${String(pid ?? 'unknown')} to start it`);
    },
  });
}

async function joinRunning({ dataDir, report }: EmbeddedOptions): Promise<Database | undefined> {
  const running = await findRunning(dataDir);
  if (!running) return undefined;
  const { uri, kind, ownerPid } = running;
  const description = `${running.description}, already running (started by process ${String(ownerPid)})`;
  report(`database: ${description}`);
  return { uri, kind, description, stop: () => Promise.resolve() };
}

async function start(options: EmbeddedOptions, chain: Chain): Promise<Database> {
  const { dataDir, report, signal } = options;
  await clearStale(dataDir, signal);
  const { plan, server } = await startOne(chain, await recall(dataDir), options);
  const storagePath = join(dataDir, plan.storage);
  const description = `${plan.title}, data in ${shown(storagePath)}`;
  try {
    const { kind, program, version, command, storage } = plan;
    await remember(dataDir, { kind, program, version, command, storage, port: server.port });
    const run = await announce(dataDir, { serverPid: server.pid, kind, uri: server.uri, description });
    report(`database: ${description}`);
    void server.lost.then((how) => {
      report(`database: the server stopped unexpectedly (${how}); see ${storagePath}.log`);
    });
    let stopped: Promise<void> | undefined;
    const stop = async (): Promise<void> => {
      await run.stopping();
      await server.stop();
      await run.remove();
    };
    return { uri: server.uri, kind: plan.kind, description, stop: () => (stopped ??= stop()) };
  } catch (error) {
    await server.stop();
    throw error;
  }
}
