import { mkdir, rename, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { StartFailure, reasonOf } from './failures';
import { pause } from './liveness';
import { identify, isListening } from './ping';
import { spawnGuarded, tailOf, type GuardedProcess } from './process';
import { becomePrimary } from './replicaSet';
import type { EmbeddedOptions, RunningServer, ServerPlan, StartServer } from './types';

/** Long, because recovery after a crash replays the journal. */
const READY_MS = 90_000;

/** Starts the server on a free port of 127.0.0.1 and waits until it is ready. @throws StartFailure with the end of its log */
export const startServer: StartServer = async (plan, options, preferredPort) => {
  const storagePath = join(options.dataDir, plan.storage);
  const logFile = logFileOf(plan, options);
  await mkdir(storagePath, { recursive: true });
  // the previous log is moved, so that the tail only covers this start
  await rename(logFile, `${logFile}.previous`).catch(() => undefined);

  const port = (await freePort(preferredPort ?? 0)) ?? (await freePort(0));
  if (port === undefined) throw new StartFailure('no free port on 127.0.0.1');
  const uri = uriOf(port, plan.replicaSet);
  const configFile = join(options.dataDir, `${plan.storage}.conf`);
  await writeFile(configFile, '# empty on purpose: keeps the server from using a configuration it finds elsewhere\n');
  const args = plan.args({ port, storagePath, configFile });
  const child = await spawnGuarded({ command: plan.command, args, logFile, rousePort: port });
  const failed = new AbortController();
  const signal = AbortSignal.any([failed.signal, ...(options.signal ? [options.signal] : [])]);
  try {
    await Promise.race([ready(plan, child, { port, uri }, signal), diesFirst(child)]);
  } catch (error) {
    // stops the loser of the race
    failed.abort();
    await child.stop();
    options.signal?.throwIfAborted();
    throw new StartFailure(`${reasonOf(error)}; its log ${logFile} ends with:\n${await tailOf(logFile)}`);
  }
  return lifeOf(child, uri, port);
};

const logFileOf = (plan: ServerPlan, { dataDir }: EmbeddedOptions): string => join(dataDir, `${plan.storage}.log`);

/** directConnection: connects to the one member, whatever name it has in the set. The write concern is from the contract: majority and journalled. */
const uriOf = (port: number, replicaSet: string): string =>
  `mongodb://127.0.0.1:${String(port)}/?directConnection=true&replicaSet=${replicaSet}&retryWrites=true&w=majority&journal=true`;

async function ready(
  plan: ServerPlan,
  child: GuardedProcess,
  { port, uri }: { port: number; uri: string },
  signal: AbortSignal,
): Promise<void> {
  const deadline = performance.now() + READY_MS;
  while (!(await isListening(port))) {
    if (performance.now() > deadline) throw new Error(`${plan.title} is not ready after ${String(READY_MS / 1000)} s`);
    await pause(25, signal);
  }
  // a mongod that is not in its set yet rejects clients that specify the set's name
  if (plan.program === 'mongod')
    await becomePrimary(`mongodb://127.0.0.1:${String(port)}/?directConnection=true`, plan.replicaSet, port, signal);
  const { pid } = await identify(uri, 15_000);
  // on Windows a venv's python.exe is a launcher with its own process
  if (process.platform !== 'win32' && pid !== child.pid)
    throw new Error(`port ${String(port)} was taken by another server`);
}

async function diesFirst(child: GuardedProcess): Promise<never> {
  const { text } = await child.exited;
  throw new Error(`it did not start (${text})`);
}

function lifeOf(child: GuardedProcess, uri: string, port: number): RunningServer {
  let stopping: Promise<void> | undefined;
  const lost = new Promise<string>((resolve) => {
    void child.exited.then(({ text }) => {
      if (!stopping) resolve(text);
    });
  });
  return { uri, port, pid: child.pid, lost, stop: () => (stopping ??= child.stop()) };
}

/** The wanted port if it is free, any free one for 0; undefined if it is in use. */
function freePort(wanted: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server
      .once('error', () => {
        resolve(undefined);
      })
      .listen(wanted, '127.0.0.1', () => {
        const address = server.address();
        server.close(() => {
          resolve(address && typeof address === 'object' ? address.port : undefined);
        });
      });
  });
}
