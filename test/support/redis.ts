import { devNull } from 'node:os';
import { cleanUp } from '../../faults/cleanup';
import { freePort, type Started, startProcess } from '../../faults/processes';
import { findProgram } from './programs';

export const REDIS = findProgram('redis-server');
export const INSTALL_REDIS = 'apt-get install redis-server';

// a failed test leaves its Redis running
afterAll(cleanUp);

/** A separate, real Redis, without persistence. */
export async function startRedis() {
  const port = await freePort();
  const start = (): Promise<Started> =>
    startProcess('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'], {
      env: process.env,
      logFile: devNull,
      readyWhen: /Ready to accept connections/,
    });
  let server = await start();
  return {
    url: `redis://127.0.0.1:${String(port)}`,
    /** Stops responding without closing connections, until `resume`. */
    pause: () => void server.signal('SIGSTOP'),
    resume: () => void server.signal('SIGCONT'),
    kill: async () => {
      server.signal('SIGKILL');
      await server.exited;
    },
    /** Restarts it, empty, on the same port. */
    restart: async () => {
      server = await start();
    },
  };
}

export type TestRedis = Awaited<ReturnType<typeof startRedis>>;
