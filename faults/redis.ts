import { freePort, runToEnd, type Started, startProcess } from './processes';

/** The run's Redis, without persistence. */
export interface FaultRedis {
  readonly url: string;
  readonly version: string;
  kill(): Promise<void>;
  restart(): Promise<void>;
  freeze(): void;
  thaw(): void;
}

export async function startRedis(folder: string): Promise<FaultRedis> {
  const port = await freePort();
  const said = await runToEnd('redis-server', ['--version'], process.env);
  const start = (): Promise<Started> =>
    startProcess('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', folder], {
      env: process.env,
      logFile: `${folder}/redis.log`,
      readyWhen: /Ready to accept connections/,
    });
  let server = await start();
  return {
    url: `redis://127.0.0.1:${String(port)}`,
    version: /v=(\S+)/.exec(said)?.[1] ?? 'unknown',
    kill: async () => {
      server.signal('SIGKILL');
      await server.exited;
    },
    restart: async () => {
      server = await start();
    },
    freeze: () => {
      server.signal('SIGSTOP');
    },
    thaw: () => {
      server.signal('SIGCONT');
    },
  };
}
