import { mkdir } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { binaryLink } from './binary';
import { recall, remember, startOne } from './choice';
import { withLock } from './lock';
import { memoryServerLink } from './memoryServer';
import { announce, clearStale, findRunning } from './runFile';
import { secantusLink } from './secantusdb';
import { startServer } from './start';
import type { Chain, Database, EmbeddedOptions } from './types';

export { type Database, DatabaseUnavailable, type EmbeddedOptions } from './types';

/** Tried in order, the closest to production first. */
export const realChain: Chain = { links: [binaryLink, memoryServerLink, secantusLink], start: startServer };

/**
 * The database to use: MONGODB_URI, or the server that is already running for this data folder, or a new one that `stop()` stops.
 * @throws DatabaseUnavailable with what was tried and what to do
 */
export async function chooseDatabase(given: EmbeddedOptions, chain: Chain = realChain): Promise<Database> {
  const { MONGODB_URI: uri, report, signal } = given;
  if (uri) return notOurs({ uri, kind: 'uri', description: `MONGODB_URI (${hostsOf(uri)})` }, report);

  // absolute, because these are stored and must be valid in any working folder
  const options = { ...given, DATA_DIR: resolve(given.DATA_DIR), CACHE_DIR: resolve(given.CACHE_DIR) };
  await mkdir(options.DATA_DIR, { recursive: true });
  const onWait = (pid: number | undefined): void => {
    report(`database: waiting for process ${String(pid ?? 'unknown')} to start it`);
  };
  // the lock is only held during the start; a waiting process then finds the server that the other one started
  const startOrJoin = async (): Promise<Database> => (await joinRunning(options)) ?? (await start(options, chain));
  return (
    (await joinRunning(options)) ??
    (await withLock(join(options.DATA_DIR, 'database.lock'), startOrJoin, { signal, onWait }))
  );
}

/** A server that another stops. */
function notOurs(server: Omit<Database, 'stop'>, report: EmbeddedOptions['report']): Database {
  report(`database: ${server.description}`);
  return { ...server, stop: () => Promise.resolve() };
}

/** The hosts only, since the rest of the URI may contain secrets. */
const hostsOf = (uri: string): string =>
  /^mongodb(?:\+srv)?:\/\/(?:.*@)?([^/?]+)/.exec(uri)?.[1] ?? 'not a mongodb:// URI';

async function joinRunning({ DATA_DIR, report }: EmbeddedOptions): Promise<Database | undefined> {
  const running = await findRunning(DATA_DIR);
  if (!running) return undefined;
  const { uri, kind, ownerPid } = running;
  const description = `${running.description}, already running (started by process ${String(ownerPid)})`;
  return notOurs({ uri, kind, description }, report);
}

async function start(options: EmbeddedOptions, chain: Chain): Promise<Database> {
  const { DATA_DIR, report, signal } = options;
  await clearStale(DATA_DIR, signal);
  const { plan, server } = await startOne(chain, await recall(DATA_DIR), options);
  const storagePath = join(DATA_DIR, plan.storage);
  const shared = { uri: server.uri, kind: plan.kind, description: `${plan.title}, data in ${shown(storagePath)}` };
  try {
    await remember(DATA_DIR, { ...plan, port: server.port });
    const run = await announce(DATA_DIR, { serverPid: server.pid, ...shared });
    report(`database: ${shared.description}`);
    let stopped: Promise<void> | undefined;
    void server.exited.then(({ text }) => {
      if (!stopped) report(`database: the server stopped unexpectedly (${text}); see ${storagePath}.log`);
    });
    const stop = async (): Promise<void> => {
      await run.stopping();
      await server.stop();
      await run.remove();
    };
    return { ...shared, stop: () => (stopped ??= stop()) };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** A path as the user would type it. */
function shown(path: string): string {
  const short = relative('', path);
  return short.startsWith('..') ? path : short;
}
