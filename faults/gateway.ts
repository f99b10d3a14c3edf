import { isAlive } from '../src/embedded/process';
import { createCaller, isSuccess } from './client';
import { freePort, type Started, startProcess } from './processes';

interface GatewayOptions {
  readonly name: string;
  /** dist/main.js */
  readonly program: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly logFile: string;
}

/** A gateway of this run; it keeps its port across restarts. */
export async function startGateway({ name, program, env, logFile }: GatewayOptions) {
  const port = await freePort();
  const start = (): Promise<Started> =>
    startProcess(process.execPath, [program, 'serve'], {
      env: { ...env, PORT: String(port) },
      logFile,
      readyWhen: /^listening on /,
    });
  let running = await start();
  return {
    name,
    port,
    call: createCaller(port),
    pid: () => running.pid,
    isAlive: () => isAlive(running.pid),
    /** Ends it immediately (SIGKILL) or after a drain (SIGTERM). Resolves with the exit code once the process is gone. */
    end: async (signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> => {
      running.signal(signal);
      return (await running.exited).code;
    },
    /** Restarts it; resolves once it reports that it is listening. */
    restart: async (): Promise<void> => {
      running = await start();
    },
  };
}

export type Gateway = Awaited<ReturnType<typeof startGateway>>;

/** Whether /readyz returns 2xx, i.e. the gateway can serve requests; that includes degraded. */
export async function isReady(gateway: Gateway, timeoutMs: number): Promise<boolean> {
  return isSuccess(await gateway.call({ method: 'GET', path: '/readyz', fresh: true }, timeoutMs));
}

/** The `status` that /readyz returns, or why it did not answer. */
export async function readiness(gateway: Gateway, timeoutMs = 5000): Promise<string> {
  const reply = await gateway.call({ method: 'GET', path: '/readyz', fresh: true }, timeoutMs);
  if (reply.kind === 'failed') return reply.reason;
  const said = JSON.parse(reply.body) as { status?: string };
  return said.status ?? `status ${String(reply.status)}`;
}
