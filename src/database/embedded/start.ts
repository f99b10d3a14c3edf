import { once } from 'node:events';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Unusable } from './failures';
import { identify, whyUnreachable } from './ping';
import { spawnGuarded, tailOf } from './process';
import { becomePrimary } from './replicaSet';
import type { Chain, ServerPlan } from './types';

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

/** Waits until the server answers; its process number. */
async function ready(plan: ServerPlan, port: number, uri: string, signal: AbortSignal): Promise<number> {
  const deadline = performance.now() + READY_MS;
  // much cheaper than a driver connection while a server is starting
  while ((await whyUnreachable(new URL(`http://127.0.0.1:${String(port)}`))) !== undefined) {
    if (performance.now() > deadline) throw new Error(`${plan.title} is not ready after ${String(READY_MS / 1000)} s`);
    await pause(25, undefined, { signal });
  }
  if (plan.program === 'mongod') await becomePrimary(`127.0.0.1:${String(port)}`, plan.replicaSet, signal);
  return identify(uri, 15_000);
}

/** The wanted port if it is free, any free one for 0; undefined if it is in use. */
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
