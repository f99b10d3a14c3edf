import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { sourceOf } from '../config';
import { CANDIDATES } from './candidates';
import { unless, withLock, writeAtomically } from './files';
import { GRACE_MS, isAlive, signalQuietly, waitUntilGone } from './process';
import { keepRunning, type RestartOptions } from './restarts';
import { identify, OWNER_ONLY, type RunningServer, startServer, titleOf, uriOf } from './server';
import {
  type Candidate,
  type Database,
  DatabaseUnavailable,
  type EmbeddedOptions,
  type Program,
  recordShape,
  type ServerRecord,
  Unusable,
} from './types';

export { type Database, DatabaseUnavailable, type EmbeddedOptions } from './types';

/** What is tried and how it is started, replaceable so that the choice can be tested without servers. */
export interface Means {
  readonly candidates: readonly Candidate[];
  readonly start: (program: Program, options: EmbeddedOptions, preferredPort?: number) => Promise<RunningServer>;
  /** How long to wait before each restart of a server that ended by itself, in milliseconds. */
  readonly pauses?: RestartOptions['pauses'];
}
const MEANS: Means = { candidates: CANDIDATES, start: startServer };

/** How long to wait for a server that may be stopping already: closing its storage took 0.1 to 2 s when measured. */
const CLOSING_MS = 5_000;
/** How long to wait for a server that was told to stop: longer than its watchdog does before it kills it. */
const STOP_MS = GRACE_MS + 5_000;
/** How long a running server may take to answer. */
const ANSWER_MS = 5_000;

/**
 * The database to use: MONGODB_URI, or the server that is already running for this data folder, or a new one that `stop()` stops.
 * @throws DatabaseUnavailable with what was tried and what to do
 */
export async function chooseDatabase(settings: EmbeddedOptions, means = MEANS): Promise<Database> {
  const { MONGODB_URI: uri, report, signal } = settings;
  if (uri)
    return externalDatabase(
      { uri, kind: 'uri', description: `${sourceOf('MONGODB_URI')} (${hostsOf(uri)})`, isStandIn: false },
      report,
    );

  // absolute, because these paths are stored and must be valid in any working folder
  const options = { ...settings, DATA_DIR: resolve(settings.DATA_DIR), CACHE_DIR: resolve(settings.CACHE_DIR) };
  try {
    await mkdir(options.DATA_DIR, { recursive: true, mode: OWNER_ONLY });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new DatabaseUnavailable(`DATA_DIR: ${options.DATA_DIR} cannot be made (${why}); name another folder`);
  }
  const onWait = (pid: number): void => {
    report(`database: waiting for process ${String(pid)} to start it`);
  };
  // the lock is only held during the start; a process that waited for it then finds the server that the other one started
  return withLock(
    lockFileOf(options.DATA_DIR),
    async () => (await joinRunning(options)) ?? (await startOwn(options, means)),
    { signal, onWait },
  );
}

const lockFileOf = (dataDir: string): string => join(dataDir, 'database.lock');

/** Whether it is SecantusDB, which stands in for MongoDB. */
const isStandIn = ({ program }: Pick<Program, 'program'>): boolean => program !== 'mongod';

/** A server that somebody else stops. */
function externalDatabase(server: Omit<Database, 'stop'>, report: EmbeddedOptions['report']): Database {
  report(`database: ${server.description}`);
  return { ...server, stop: () => Promise.resolve() };
}

/** The hosts only, since the rest of the URI may contain secrets. */
const hostsOf = (uri: string): string =>
  /^mongodb(?:\+srv)?:\/\/(?:.*@)?([^/?]+)/.exec(uri)?.[1] ?? 'not a mongodb:// URI';

/** The file with a data folder's {@link ServerRecord}. */
export const recordOf = (dataDir: string): string => join(dataDir, 'database.json');

/** The record of the server that created the data of a folder; undefined before the first start. */
async function readRecord(dataDir: string): Promise<ServerRecord | undefined> {
  const file = recordOf(dataDir);
  if (!existsSync(file)) return undefined;
  try {
    return recordShape.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    // guessing could start an empty database next to the user's data
    throw new DatabaseUnavailable(
      `${file}, which records the server that created the data, cannot be read; fix it, or delete it to choose a database again`,
    );
  }
}

const writeRecord = (dataDir: string, record: ServerRecord): Promise<void> =>
  writeAtomically(recordOf(dataDir), `${JSON.stringify(record, undefined, 2)}\n`);

/** The server that another process has started for the data folder, which stops it; undefined if none runs. */
async function joinRunning({ DATA_DIR, report }: EmbeddedOptions): Promise<Database | undefined> {
  const record = await readRecord(DATA_DIR);
  const ownerPid = record?.running?.ownerPid;
  // an orphan is about to be stopped by its watchdog
  if (!record || ownerPid === undefined || !isAlive(ownerPid) || !(await answers(record))) return undefined;
  const description = `${titleOf(record)}, already running (started by process ${String(ownerPid)})`;
  return externalDatabase({ uri: uriOf(record), kind: record.kind, description, isStandIn: isStandIn(record) }, report);
}

/** Whether the recorded process answers: another process on this machine may have its id by now. */
async function answers(record: ServerRecord): Promise<boolean> {
  const serverPid = record.running?.serverPid;
  if (serverPid === undefined || !isAlive(serverPid)) return false;
  return (await identify(uriOf(record), ANSWER_MS).catch(() => undefined)) === serverPid;
}

/** Starts a server that this process stops, and starts again if it ends by itself, and records it in the data folder. Requires the lock. */
async function startOwn(options: EmbeddedOptions, means: Means): Promise<Database> {
  const { DATA_DIR, report, signal } = options;
  const known = await readRecord(DATA_DIR);
  if (known) await waitForEnd(known, options);
  const { program, server } = await startOne(options, known, means);
  const storagePath = join(DATA_DIR, program.storage);
  const description = `${titleOf(program)}, data in ${storagePath}`;
  const record = { ...program, port: server.port };
  try {
    await writeRecord(DATA_DIR, { ...record, running: { serverPid: server.pid, ownerPid: process.pid } });
    report(`database: ${description}`);
    // to somebody who is in the wrong folder, the data would seem lost
    if (!known)
      report(`database: created in ${DATA_DIR}, which had none; to use an existing one, set DATA_DIR or MONGODB_URI`);
    signal?.throwIfAborted();
  } catch (error) {
    await server.stop();
    throw error;
  }
  const stopping = new AbortController();
  /** The server that this process started last. */
  let current = server;
  const keeping = keepRunning(server, {
    start: () => withLock(lockFileOf(DATA_DIR), startAgain, { signal: stopping.signal }),
    report: (line) => {
      report(`${line}; see ${storagePath}.log`);
    },
    signal: stopping.signal,
    pauses: means.pauses,
  });
  let stopped: Promise<void> | undefined;

  async function startAgain(): Promise<RunningServer | undefined> {
    const latest = await readRecord(DATA_DIR);
    // a command that found it dead may have started one for itself, and stops it when it ends
    if (latest && latest.running?.serverPid !== current.pid && (await answers(latest))) return undefined;
    const next = await means.start(program, { ...options, signal: stopping.signal }, record.port);
    try {
      // clients know no other port
      if (next.port !== record.port) throw new Unusable(`port ${String(record.port)} is taken`);
      stopping.signal.throwIfAborted();
      await writeRecord(DATA_DIR, { ...record, running: { serverPid: next.pid, ownerPid: process.pid } });
      return (current = next);
    } catch (error) {
      await next.stop();
      throw error;
    }
  }

  const stop = async (): Promise<void> => {
    stopping.abort();
    const { pid } = current;
    /** Records what still runs, unless the folder is gone, or another process has started a server. */
    const note = async (running?: ServerRecord['running']): Promise<void> => {
      const latest = await readRecord(DATA_DIR);
      if (latest?.running?.serverPid === pid) await unless('ENOENT', writeRecord(DATA_DIR, { ...record, running }));
    };
    await note({ serverPid: pid });
    await current.stop();
    await keeping;
    await note();
  };
  return {
    uri: server.uri,
    kind: program.kind,
    description,
    isStandIn: isStandIn(program),
    stop: () => (stopped ??= stop()),
  };
}

/** Waits until the recorded server has ended, and stops one without an owner. @throws DatabaseUnavailable if it does not end */
async function waitForEnd(record: ServerRecord, { DATA_DIR, signal }: EmbeddedOptions): Promise<void> {
  const { serverPid, ownerPid } = record.running ?? {};
  if (serverPid === undefined || (await waitUntilGone(serverPid, CLOSING_MS, signal))) return;
  // the pid probably belongs to another process by now; if not, the storage's own lock prevents a second server
  if (!(await answers(record))) return;
  // owner and watchdog were both killed, so nobody else can stop it
  if (ownerPid !== undefined && !isAlive(ownerPid)) signalQuietly(serverPid, 'SIGTERM');
  if (!(await waitUntilGone(serverPid, STOP_MS, signal)))
    throw new DatabaseUnavailable(
      `a database server (process ${String(serverPid)}) is still using ${DATA_DIR} and does not stop; kill that process and start again`,
    );
}

/**
 * Starts the recorded server, or the binary in MONGOD_BINARY, or the first candidate that works. In the first two cases nothing else is tried:
 * with another server than the recorded one the user's data would seem lost, and the binary is the user's choice. @throws DatabaseUnavailable
 */
export async function startOne(options: EmbeddedOptions, record?: ServerRecord, { candidates, start } = MEANS) {
  const { MONGOD_BINARY: named, report, signal } = options;
  if (named && record && record.kind !== 'binary') throw otherProgram(record, options);
  const only = record?.kind ?? (named ? 'binary' : undefined);
  const failed: string[] = [];
  for (const candidate of candidates) {
    const { kind, title } = candidate;
    if (only !== undefined && kind !== only) continue;
    signal?.throwIfAborted();
    try {
      const program = await candidate.find(options, record);
      if (record && program.program !== record.program) throw otherProgram(record, options);
      return { program, server: await start(program, options, record?.port) };
    } catch (error) {
      if (!(error instanceof Unusable)) throw error;
      const { message: reason } = error;
      if (record)
        throw new DatabaseUnavailable(
          `${createdWith(record, options)} (${title}), which cannot be started now: ${reason}\n${startOver(record, options)}`,
        );
      if (named) throw new DatabaseUnavailable(`MONGOD_BINARY is ${named}, which cannot be used: ${reason}`);
      const next = candidates[candidates.indexOf(candidate) + 1];
      const trying = next ? `; trying ${next.title} instead` : '';
      report(`database: ${title}: ${reason.split('\n', 1).join('')}${trying}`);
      failed.push(`${title}: ${reason.replaceAll('\n', '\n     ')}`);
    }
  }
  throw nothingWorks(failed);
}

/** Lists every candidate with its reason, so that the user can fix the easiest one. */
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
      '  - install Python 3.10 to 3.13 with its venv module (on Debian and Ubuntu: apt install python3-venv), and allow access to PyPI',
    ].join('\n'),
  );
}

function otherProgram(record: ServerRecord, options: EmbeddedOptions): DatabaseUnavailable {
  const binary = options.MONGOD_BINARY ? `MONGOD_BINARY is ${options.MONGOD_BINARY}` : 'the binary found';
  return new DatabaseUnavailable(
    `${binary}, but ${createdWith(record, options)}, and may not be readable by another program.\n` +
      `Leave MONGOD_BINARY unset to keep using the data. ${startOver(record, options)}`,
  );
}

const createdWith = ({ storage, program, version }: ServerRecord, { DATA_DIR }: EmbeddedOptions): string =>
  `the data in ${DATA_DIR}/${storage} was created with ${program} ${version}`;

const startOver = ({ storage }: ServerRecord, { DATA_DIR }: EmbeddedOptions): string =>
  `To start over with another database, delete ${recordOf(DATA_DIR)} (the data stays in ${DATA_DIR}/${storage}), or set DATA_DIR to another folder.`;
