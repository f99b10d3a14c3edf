import { once } from 'node:events';
import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import mongoose from 'mongoose';
import { unless } from './files';
import { spawnGuarded } from './process';
import { type EmbeddedOptions, type Program, type ServerRecord, Unusable } from './types';

/** Whoever can read the database's files can read every organisation's data. */
export const OWNER_ONLY = 0o700;
/** Error codes of MongoDB. */
const NOT_YET_INITIALIZED = 94;
const ALREADY_INITIALIZED = 23;
/** How long a mongod may take to become the primary of its set. */
const ELECTION_MS = 30_000;
/** How long a server may take to answer: long, because recovery after a crash replays the journal. */
const READY_MS = 90_000;
/** How long a server that listens may take to say who it is: it has recovered by then, and a mongod is primary. */
const IDENTIFY_MS = 15_000;

const ORIGINS = { 'memory-server': 'downloaded by mongodb-memory-server', secantusdb: 'from PyPI' } as const;

/** For people: "SecantusDB 0.7.0b3 (MongoDB-compatible, from PyPI)". */
export function titleOf({ kind, program, version, command }: Program): string {
  const origin = kind === 'binary' ? command : ORIGINS[kind];
  return program === 'mongod'
    ? `MongoDB ${version} (${origin})`
    : `SecantusDB ${version} (MongoDB-compatible, ${origin})`;
}

/** The name of the replica set of a server; SecantusDB's is its own choice. */
const setOf = ({ program }: Pick<Program, 'program'>): string => (program === 'mongod' ? 'rs0' : 'secantus');

/** The URI of a server. directConnection: connects to the one member, whatever name it has in the set. The contract promises the write concern: majority, journalled. */
export const uriOf = ({ program, port }: Pick<ServerRecord, 'program' | 'port'>): string =>
  `mongodb://127.0.0.1:${String(port)}/?directConnection=true&replicaSet=${setOf({ program })}&retryWrites=true&w=majority&journal=true`;

/** Where a server listens and stores its data. */
interface Place {
  readonly port: number;
  readonly storagePath: string;
  /** An empty configuration, since SecantusDB without one uses any that it finds. */
  readonly configFile: string;
  readonly logEntries?: number | undefined;
}

/** Entries that SecantusDB keeps in its log. Not more: to tell the oldest entry, it loads the whole log into memory (60,000 of 2 KB took 480 MB; with a million it was killed at 16 GB). */
const LOG_ENTRIES = 100_000;

/** The command-line arguments of a server. */
export function argumentsOf(
  { program }: Program,
  { port, storagePath, configFile, logEntries = LOG_ENTRIES }: Place,
): string[] {
  if (program === 'mongod')
    return [
      // transactions require a replica set
      ...['--replSet', setOf({ program }), '--bind_ip', '127.0.0.1', '--port', String(port), '--dbpath', storagePath],
      // a socket in /tmp would be accessible to every user and left behind after a crash
      ...(process.platform === 'win32' ? [] : ['--nounixsocket']),
      // a killed process holds the documents of its transaction for this long; 60 s by default
      ...['--setParameter', 'transactionLifetimeLimitSeconds=15'],
    ];
  return [
    // isolated, so that neither PYTHONPATH nor a module in the current folder can shadow SecantusDB's own modules
    ...(program === 'secantusd-py' ? ['-I', '-u', '-m', 'secantus'] : []),
    ...['--config', configFile, '--host', '127.0.0.1', '--port', String(port), '--storage-path', storagePath],
    // without it kill -9 lost 138 of 22,192 acknowledged writes
    '--sync-on-commit',
    // how long it keeps its log, from which events are recorded: a week (3,600 s by default); and how many entries
    ...['--oplog-retention-seconds', '604800', '--oplog-max-entries', String(logEntries), '--log-level', 'WARNING'],
    // 4 GB by default
    ...(program === 'secantusd-rs' ? ['--cache-size', '1G'] : []),
  ];
}

export type RunningServer = Omit<Awaited<ReturnType<typeof startServer>>, 'unref'>;

/** Starts a server on a free port of 127.0.0.1 and waits until it is ready. @throws Unusable with the end of its log */
export async function startServer(
  program: Program,
  { DATA_DIR, signal: cancel, logEntries }: EmbeddedOptions,
  preferredPort = 0,
) {
  const storagePath = join(DATA_DIR, program.storage);
  const logFile = `${storagePath}.log`;
  const configFile = `${storagePath}.conf`;
  await mkdir(storagePath, { recursive: true, mode: OWNER_ONLY });
  // for a folder that an earlier version created; a mounted one may not have modes
  await chmod(storagePath, OWNER_ONLY).catch(() => undefined);
  // the previous log is moved, so that the tail only covers this start
  await rename(logFile, `${logFile}.previous`).catch(() => undefined);
  await writeFile(configFile, '# empty on purpose: keeps the server from using a configuration it finds elsewhere\n');

  const port = (await freePort(preferredPort)) ?? (await freePort(0));
  if (port === undefined) throw new Unusable('no free port on 127.0.0.1');
  const args = argumentsOf(program, { port, storagePath, configFile, logEntries });
  const child = await spawnGuarded({ command: program.command, args, logFile });
  // rejects when the server ends; after the race below nobody waits for that
  const ended = child.exited.then(({ text }) => {
    throw new Error(`it did not start (${text})`);
  });
  const failed = new AbortController();
  const signal = AbortSignal.any([failed.signal, ...(cancel ? [cancel] : [])]);
  try {
    const pid = await Promise.race([ready(program, port, signal), ended]);
    // on Windows a venv's python.exe is a launcher with its own process
    if (process.platform !== 'win32' && pid !== child.pid)
      throw new Error(`port ${String(port)} was taken by another server`);
  } catch (error) {
    // stops the loser of the race
    failed.abort();
    await child.stop();
    cancel?.throwIfAborted();
    const log = await readFile(logFile, 'utf8').catch(() => '');
    const tail = log.trimEnd().split('\n').slice(-8).join('\n');
    throw new Unusable(`${(error as Error).message}; its log ${logFile} ends with:\n${tail}`);
  }
  child.unref();
  return { ...child, port, uri: uriOf({ ...program, port }) };
}

/** Waits until the server answers. Resolves with its process id. */
async function ready(program: Program, port: number, signal: AbortSignal): Promise<number> {
  const deadline = performance.now() + READY_MS;
  // much cheaper than a driver connection while a server is starting
  while (!(await listens(port))) {
    if (performance.now() > deadline) throw new Error(`it is not ready after ${String(READY_MS / 1000)} s`);
    await pause(25, undefined, { signal });
  }
  if (program.program === 'mongod') {
    const host = `127.0.0.1:${String(port)}`;
    // without the set's name, which a mongod that is not in the set yet rejects
    await withClient(`mongodb://${host}/?directConnection=true`, ELECTION_MS, (client) =>
      formReplicaSet(client.db('admin'), setOf(program), host, signal),
    );
  }
  return identify(uriOf({ ...program, port }), IDENTIFY_MS);
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** The wanted port, or any free one if that is 0; undefined if the wanted port is in use. */
export async function freePort(wanted: number, host = '127.0.0.1'): Promise<number | undefined> {
  const server = createServer().listen(wanted, host);
  try {
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  } catch {
    return undefined;
  } finally {
    server.close();
  }
}

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

/** The part of a connection used here. */
export interface Commands {
  command(command: Record<string, unknown>): Promise<Record<string, unknown>>;
}

/** Makes a mongod the primary of its own replica set, which transactions require: initiates the set, or moves it to this address. */
export async function formReplicaSet(
  admin: Commands,
  replicaSet: string,
  host: string,
  signal?: AbortSignal,
): Promise<void> {
  const deadline = performance.now() + ELECTION_MS;
  while (performance.now() < deadline) {
    const reply = await unless(NOT_YET_INITIALIZED, admin.command({ replSetGetConfig: 1 }));
    const config = reply?.config as { version: number; members: { host: string }[] } | undefined;
    if (!config) {
      // a mongod that is still reading its configuration says that it has none, yet refuses to be initiated
      const initial = { _id: replicaSet, members: [{ _id: 0, host }] };
      await unless(ALREADY_INITIALIZED, admin.command({ replSetInitiate: initial }));
    } else if (config.members[0]?.host !== host) {
      // forced, because a member that is not in the set cannot become primary
      const moved = { ...config, version: config.version + 1, members: [{ ...config.members[0], host }] };
      await admin.command({ replSetReconfig: moved, force: true });
    } else if ((await admin.command({ hello: 1 })).isWritablePrimary === true) return;
    await pause(50, undefined, { signal });
  }
  throw new Error(`the replica set has no primary after ${String(ELECTION_MS / 1000)} s`);
}
