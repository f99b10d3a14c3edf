import { devNull } from 'node:os';
import { freePort, runToEnd, type Started, startProcess } from './processes';

/** A separate, real Redis, without persistence; redis-server must be on the PATH (Debian: apt-get install redis-server). */
export interface OwnRedis {
  readonly url: string;
  /** Stops responding without closing connections, until `resume`. */
  pause(): void;
  resume(): void;
  kill(): Promise<void>;
  /** Restarts it, empty, on the same port. */
  restart(): Promise<void>;
}

export async function startRedis(logFile = devNull): Promise<OwnRedis> {
  const port = await freePort();
  const start = (): Promise<Started> =>
    startProcess('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'], {
      env: process.env,
      logFile,
      readyWhen: /Ready to accept connections/,
    });
  let server = await start();
  return {
    url: `redis://127.0.0.1:${String(port)}`,
    pause: () => void server.signal('SIGSTOP'),
    resume: () => void server.signal('SIGCONT'),
    kill: async () => {
      server.signal('SIGKILL');
      await server.exited;
    },
    restart: async () => {
      server = await start();
    },
  };
}

/** The version of redis-server. */
export async function redisVersion(): Promise<string> {
  return /v=(\S+)/.exec(await runToEnd('redis-server', ['--version'], process.env))?.[1] ?? 'unknown';
}
