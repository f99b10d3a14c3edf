import { isAlive } from '../src/database/embedded/liveness';
import { type Caller, createCaller, isSuccess } from './client';
import { freePort, type Started, startProcess } from './processes';

/** One gateway of this run: the same port through every restart. */
export interface Gateway {
  readonly name: string;
  readonly port: number;
  readonly call: Caller;
  pid(): number;
  isAlive(): boolean;
  /** Asks for its end: SIGKILL ends it at once, SIGTERM lets it drain. Resolves with its exit code when it is gone. */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null>;
  /** Starts it again; resolves when it says that it listens. */
  restart(): Promise<void>;
}

export interface GatewayOptions {
  readonly name: string;
  /** dist/main.js */
  readonly program: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly logFile: string;
}

export async function startGateway({ name, program, env, logFile }: GatewayOptions): Promise<Gateway> {
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
    end: async (signal) => {
      running.signal(signal);
      return (await running.exited).code;
    },
    restart: async () => {
      running = await start();
    },
  };
}

/** Whether /readyz says, by its status code, that the gateway may be sent requests; degraded is fit to serve. */
export async function isReady(gateway: Gateway, timeoutMs: number): Promise<boolean> {
  return isSuccess(await gateway.call({ method: 'GET', path: '/readyz', fresh: true }, timeoutMs));
}

/** What /readyz says: its status word, or why it said nothing. */
export async function readiness(gateway: Gateway, timeoutMs = 5000): Promise<string> {
  const reply = await gateway.call({ method: 'GET', path: '/readyz', fresh: true }, timeoutMs);
  if (reply.kind === 'failed') return reply.reason;
  const said = JSON.parse(reply.body) as { status?: string };
  return said.status ?? `status ${String(reply.status)}`;
}
