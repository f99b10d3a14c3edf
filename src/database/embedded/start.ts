import { once } from 'node:events';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { identify, whyUnreachable, withClient } from './ping';
import { spawnGuarded, tailOf } from './process';
import { unless } from './recordFile';
import { type Chain, type ServerPlan, Unusable } from './types';

const NOT_YET_INITIALIZED = 94;
const ALREADY_INITIALIZED = 23;
const ELECTION_MS = 30_000;
/** Long, because recovery after a crash replays the journal. */
const READY_MS = 90_000;

/** Starts the server on a free port of 127.0.0.1 and waits until it is ready. @throws Unusable with the end of its log */
export const startServer: Chain['start'] = async (plan, options, preferredPort = 0) => {
  const storagePath = join(options.DATA_DIR, plan.storage);
  const [logFile, configFile] = [`${storagePath}.log`, `${storagePath}.conf`];
  await mkdir(storagePath, { recursive: true });
  // the previous log is moved, so that the tail only covers this start
  await rename(logFile, `${logFile}.previous`).catch(() => undefined);
  await writeFile(configFile, '# empty on purpose: keeps the server from using a configuration it finds elsewhere\n');

  const port = (await freePort(preferredPort)) ?? (await freePort(0));
  if (port === undefined) throw new Unusable('no free port on 127.0.0.1');
  const args = plan.args({ port, storagePath, configFile });
  const child = await spawnGuarded({ command: plan.command, args, logFile, rousePort: port });
  const ended = child.exited.then(({ text }) => {
    throw new Error(`it did not start (${text})`);
  });
  const failed = new AbortController();
  const signal = AbortSignal.any([failed.signal, ...(options.signal ? [options.signal] : [])]);
  const uri = uriOf(port, plan.replicaSet);
  try {
    const pid = await Promise.race([ready(plan, port, uri, signal), ended]);
    // on Windows a venv's python.exe is a launcher with its own process
    if (process.platform !== 'win32' && pid !== child.pid)
      throw new Error(`port ${String(port)} was taken by another server`);
  } catch (error) {
    // stops the loser of the race
    failed.abort();
    await child.stop();
    options.signal?.throwIfAborted();
    throw new Unusable(`${(error as Error).message}; its log ${logFile} ends with:\n${await tailOf(logFile)}`);
  }
  child.unref();
  return { ...child, uri, port };
};

/** directConnection: connects to the one member, whatever name it has in the set. The write concern is from the contract: majority and journalled. */
const uriOf = (port: number, replicaSet: string): string =>
  `mongodb://127.0.0.1:${String(port)}/?directConnection=true&replicaSet=${replicaSet}&retryWrites=true&w=majority&journal=true`;

/** Waits until the server answers. Resolves with its process id. */
async function ready(plan: ServerPlan, port: number, uri: string, signal: AbortSignal): Promise<number> {
  const deadline = performance.now() + READY_MS;
  // much cheaper than a driver connection while a server is starting
  while ((await whyUnreachable(new URL(`http://127.0.0.1:${String(port)}`))) !== undefined) {
    if (performance.now() > deadline) throw new Error(`${plan.title} is not ready after ${String(READY_MS / 1000)} s`);
    await pause(25, undefined, { signal });
  }
  if (plan.program === 'mongod') {
    const host = `127.0.0.1:${String(port)}`;
    // without the set's name, which a mongod that is not in the set yet rejects
    await withClient(`mongodb://${host}/?directConnection=true`, ELECTION_MS, (client) =>
      formReplicaSet(client.db('admin'), plan.replicaSet, host, signal),
    );
  }
  return identify(uri, 15_000);
}

/** The wanted port, or any free one if that is 0; undefined if the wanted port is in use. */
async function freePort(wanted: number): Promise<number | undefined> {
  const server = createServer().listen(wanted, '127.0.0.1');
  try {
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  } catch {
    return undefined;
  } finally {
    server.close();
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
  let configured = false;
  while (performance.now() < deadline) {
    configured ||= await configure(admin, replicaSet, host);
    if (configured && (await admin.command({ hello: 1 })).isWritablePrimary === true) return;
    await pause(50, undefined, { signal });
  }
  throw new Error(`the replica set has no primary after ${String(ELECTION_MS / 1000)} s`);
}

/** False while mongod is still reading its configuration from disk: it then says that it has none, yet refuses to be initiated. */
async function configure(admin: Commands, replicaSet: string, host: string): Promise<boolean> {
  const found = await unless(NOT_YET_INITIALIZED, admin.command({ replSetGetConfig: 1 }));
  if (!found) {
    const config = { _id: replicaSet, members: [{ _id: 0, host }] };
    return (await unless(ALREADY_INITIALIZED, admin.command({ replSetInitiate: config }))) !== undefined;
  }
  const config = found.config as { version: number; members: { host: string }[] };
  if (config.members[0]?.host === host) return true;
  // forced, because a member that is not in the set cannot become primary
  const moved = { ...config, version: config.version + 1, members: [{ ...config.members[0], host }] };
  await admin.command({ replSetReconfig: moved, force: true });
  return true;
}
