import { mkdir, rename, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { StartFailure, reasonOf } from './failures';
import { pause } from './liveness';
import { identify, isListening } from './ping';
import { spawnGuarded, tailOf, type GuardedProcess } from './process';
import { becomePrimary } from './replicaSet';
import type { EmbeddedOptions, RunningServer, ServerPlan, StartServer } from './types';

/** Recovery after a crash replays the journal, which can take a while. */
const READY_MS = 90_000;

/** Starts the server on a free port of 127.0.0.1 and waits until it answers; throws `StartFailure` with the end of its log. */
export const startServer: StartServer = async (plan, options, preferredPort) => {
  const storagePath = join(options.dataDir, plan.storage);
  const logFile = logFileOf(plan, options);
  await mkdir(storagePath, { recursive: true });
  // one earlier log is kept, so that this one's tail tells of this start alone
  await rename(logFile, `${logFile}.previous`).catch(() => undefined);

  const port = (await freePort(preferredPort ?? 0)) ?? (await freePort(0));
  if (port === undefined) throw new StartFailure('no port of 127.0.0.1 is free');
  const uri = uriOf(port, plan.replicaSet);
  const configFile = join(options.dataDir, `${plan.storage}.conf`);
  await writeFile(
    configFile,
    '# empty on purpose: keeps the server from taking up a configuration it finds elsewhere\n',
  );
  const args = plan.args({ port, storagePath, configFile });
  const child = await spawnGuarded({ command: plan.command, args, logFile, rousePort: port });
  const failed = new AbortController();
  const signal = AbortSignal.any([failed.signal, ...(options.signal ? [options.signal] : [])]);
  try {
    await Promise.race([ready(plan, child, { port, uri }, signal), diesFirst(child)]);
  } catch (error) {
    // ends the waiting of whichever lost the race
    failed.abort();
    await child.stop();
    options.signal?.throwIfAborted();
    throw new StartFailure(`${reasonOf(error)}; its log ${logFile} ends with:\n${await tailOf(logFile)}`);
  }
  return lifeOf(child, uri, port);
};

const logFileOf = (plan: ServerPlan, { dataDir }: EmbeddedOptions): string => join(dataDir, `${plan.storage}.log`);

/** directConnection: the one member is meant, whatever name it gives itself. The rest is the contract's "all writes majority, journalled". */
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
    if (performance.now() > deadline)
      throw new Error(`${plan.title} does not answer after ${String(READY_MS / 1000)} s`);
    await pause(25, signal);
  }
  // a mongod that is not yet in its set refuses a client that asks for the set by name
  if (plan.program === 'mongod')
    await becomePrimary(`mongodb://127.0.0.1:${String(port)}/?directConnection=true`, plan.replicaSet, port, signal);
  const { pid } = await identify(uri, 15_000);
  // on Windows python.exe of a venv is a launcher with a process of its own
  if (process.platform !== 'win32' && pid !== child.pid)
    throw new Error(`port ${String(port)} was taken by another server`);
}

async function diesFirst(child: GuardedProcess): Promise<never> {
  const { text } = await child.exited;
  throw new Error(`it does not start (${text})`);
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

/** The port asked for when it is free, for 0 any; undefined when it is taken. */
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
