import { isAlive } from '../src/database/embedded/liveness';
import { type Caller, createCaller, isSuccess } from './client';
import { freePort, type Started, startProcess } from './processes';
import { until } from './timing';

/** A gateway of this run; it keeps its port across restarts. */
export interface Gateway {
  readonly name: string;
  readonly port: number;
  readonly call: Caller;
  pid(): number;
  isAlive(): boolean;
  /** Ends it immediately (SIGKILL) or after a drain (SIGTERM). Resolves with the exit code once the process is gone. */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null>;
  /** Restarts it; resolves once it reports that it is listening. */
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

/** Milliseconds until the gateway serves a key's reads; undefined if not within a minute. */
export function untilServed(gateway: Gateway, key: string): Promise<number | undefined> {
  const ask = async (): Promise<boolean> =>
    isSuccess(await gateway.call({ method: 'GET', path: '/api/v1/products?limit=5', key }, 5000));
  return until(ask, 60_000, 20);
}

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
