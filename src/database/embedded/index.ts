import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { withLock } from './lock';
import { memoryServerLink } from './memoryServer';
import { binaryLink } from './programs';
import { readRecord, writeRecord } from './recordFile';
import { announce, clearStale, findRunning } from './runFile';
import { secantusLink } from './secantusdb';
import { startServer } from './start';
import {
  type Chain,
  type Database,
  DatabaseUnavailable,
  type EmbeddedOptions,
  type Remembered,
  rememberedShape,
  Unusable,
} from './types';

export { type Database, DatabaseUnavailable, type EmbeddedOptions } from './types';

/** Tried in order, the closest to production first. */
export const defaultChain: Chain = { links: [binaryLink, memoryServerLink, secantusLink], start: startServer };

/**
 * The database to use: MONGODB_URI, or the server that is already running for this data folder, or a new one that `stop()` stops.
 * @throws DatabaseUnavailable with what was tried and what to do
 */
export async function chooseDatabase(given: EmbeddedOptions, chain: Chain = defaultChain): Promise<Database> {
  const { MONGODB_URI: uri, report, signal } = given;
  if (uri) return notOurs({ uri, kind: 'uri', description: `MONGODB_URI (${hostsOf(uri)})` }, report);

  // absolute, because these paths are stored and must be valid in any working folder
  const options = { ...given, DATA_DIR: resolve(given.DATA_DIR), CACHE_DIR: resolve(given.CACHE_DIR) };
  await mkdir(options.DATA_DIR, { recursive: true });
  const onWait = (pid: number | undefined): void => {
    report(`database: waiting for process ${String(pid ?? 'unknown')} to start it`);
  };
  // the lock is only held during the start; a process that waited for it then finds the server that the other one started
  const startOrJoin = async (): Promise<Database> => (await joinRunning(options)) ?? (await start(options, chain));
  return (
    (await joinRunning(options)) ??
    (await withLock(join(options.DATA_DIR, 'database.lock'), startOrJoin, { signal, onWait }))
  );
}

/** A server that somebody else stops. */
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
  const remembered = await recall(DATA_DIR);
  const { plan, server } = await startOne(chain, remembered, options);
  const storagePath = join(DATA_DIR, plan.storage);
  const shared = { uri: server.uri, kind: plan.kind, description: `${plan.title}, data in ${shown(storagePath)}` };
  try {
    await writeRecord(memoryFileOf(DATA_DIR), rememberedShape.parse({ ...plan, port: server.port }));
    const run = await announce(DATA_DIR, { serverPid: server.pid, ...shared });
    report(`database: ${shared.description}`);
    // in the wrong folder the data would seem lost
    if (!remembered)
      report(`database: created in ${DATA_DIR}, which had none; to use an existing one, set DATA_DIR or MONGODB_URI`);
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

const memoryFileOf = (dataDir: string): string => join(dataDir, 'database.json');

/** The server that created the data in this folder; undefined on the first start. */
async function recall(dataDir: string): Promise<Remembered | undefined> {
  const file = memoryFileOf(dataDir);
  const remembered = await readRecord(file, rememberedShape);
  if (remembered || !existsSync(file)) return remembered;
  // guessing could start an empty database next to the user's data
  throw new DatabaseUnavailable(
    `${file}, which records the server that created the data, cannot be read; fix it, or delete it to choose a database again`,
  );
}

/**
 * Starts the remembered server, or the binary in MONGOD_BINARY, or the first in the chain that works. In the first two cases
 * nothing else is tried: another server would start empty, and the user's data would seem lost; the user chose the binary.
 */
export async function startOne(chain: Chain, remembered: Remembered | undefined, options: EmbeddedOptions) {
  const { MONGOD_BINARY: named, report, signal } = options;
  if (named && remembered && remembered.kind !== 'binary') throw otherProgram(remembered, options);
  const only = remembered?.kind ?? (named ? 'binary' : undefined);
  const failed: string[] = [];
  for (const link of chain.links) {
    const { kind, title } = link;
    if (only !== undefined && kind !== only) continue;
    signal?.throwIfAborted();
    try {
      const plan = await link.offer(options, remembered);
      if (remembered && plan.program !== remembered.program) throw otherProgram(remembered, options);
      return { plan, server: await chain.start(plan, options, remembered?.port) };
    } catch (error) {
      if (!(error instanceof Unusable)) throw error;
      const { message: reason } = error;
      if (remembered) {
        throw new DatabaseUnavailable(
          `${createdWith(remembered, options)} (${title}), which cannot be started now: ${reason}\n${startOver(remembered, options)}`,
        );
      }
      if (named) throw new DatabaseUnavailable(`MONGOD_BINARY is ${named}, which cannot be used: ${reason}`);
      report(`database: ${title}: ${reason.split('\n', 1).join('')}`);
      failed.push(`${title}: ${reason.replaceAll('\n', '\n     ')}`);
    }
  }
  throw nothingWorks(failed);
}

/** Lists every link with its reason, so that the user can fix the easiest one. */
function nothingWorks(failed: readonly string[]): DatabaseUnavailable {
  const tried = ['MONGODB_URI: not set', ...failed].map((line, index) => `  ${String(index + 1)}. ${line}`);
  return new DatabaseUnavailable(
    [
      'no database could be started. Tried, in this order:',
      ...tried,
      'To fix this, do one of these:',
      '  - set MONGODB_URI to a MongoDB replica set, for example one started by `docker compose up -d mongo`',
      '  - install mongod (https://www.mongodb.com/docs/manual/installation/), or set MONGOD_BINARY to its path',
      '  - allow access to fastdl.mongodb.org, from which mongod is downloaded once',
      '  - install Python 3.10 to 3.13 with its venv module, and allow access to PyPI',
    ].join('\n'),
  );
}

function otherProgram(remembered: Remembered, options: EmbeddedOptions): DatabaseUnavailable {
  const found = options.MONGOD_BINARY ? `MONGOD_BINARY is ${options.MONGOD_BINARY}` : 'the binary found';
  return new DatabaseUnavailable(
    `${found}, but ${createdWith(remembered, options)}, and may not be readable by another program.\n` +
      `Leave MONGOD_BINARY unset to keep using the data. ${startOver(remembered, options)}`,
  );
}

const createdWith = ({ storage, program, version }: Remembered, { DATA_DIR }: EmbeddedOptions): string =>
  `the data in ${DATA_DIR}/${storage} was created with ${program} ${version}`;

const startOver = ({ storage }: Remembered, { DATA_DIR }: EmbeddedOptions): string =>
  `To start over with another database, delete ${memoryFileOf(DATA_DIR)} (the data stays in ${DATA_DIR}/${storage}), or set DATA_DIR to another folder.`;
