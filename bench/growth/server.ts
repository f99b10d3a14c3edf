import { Agent } from 'node:http';
import { join } from 'node:path';
import { freePort, startProcess } from '../../faults/processes';
import { ask, type Call, fetchOnce } from '../load';
import { type Cores, onServerCore } from '../machine';
import type { Rig } from '../rig';

/** Memory of the server after a garbage collection, in MiB. */
export interface Memory {
  readonly rss: number;
  readonly heap: number;
  /** Longest pause for a collection that V8 started itself since the last reading, in milliseconds. */
  readonly pause: number;
}

/** The product's server, started by its own command, with the probe loaded. */
export interface Measured {
  /** Sends a call on a keep-alive connection; returns milliseconds. @throws Error if the answer has another status. */
  time(call: Call, status?: number): Promise<number>;
  memory(): Promise<Memory>;
  stop(): Promise<void>;
}

const PROBE = join(__dirname, 'probe.cjs');
const MIB = 2 ** 20;

export async function startMeasured(rig: Rig, cores: Cores | undefined): Promise<Measured> {
  const [port, probe] = [await freePort(), await freePort()];
  const args = ['--expose-gc', '--require', PROBE, join('dist', 'main.js'), 'serve'];
  const started = await startProcess(...onServerCore(cores, process.execPath, args), {
    env: { ...rig.environment, PORT: String(port), PROBE_PORT: String(probe) },
    logFile: join(rig.place, 'growth.log'),
    readyWhen: /^listening on /,
  });
  const agent = new Agent({ keepAlive: true });
  const url = `http://127.0.0.1:${String(port)}`;
  return {
    async time(call, expected = 200) {
      const from = performance.now();
      const { status, body } = await ask(agent, url, call);
      const took = performance.now() - from;
      if (status !== expected) throw new Error(`${call.method} ${call.path} returned ${String(status)}: ${body}`);
      return took;
    },
    async memory() {
      const call = { method: 'GET', path: '/', headers: {} } as const;
      const { body } = await fetchOnce({ url: `http://127.0.0.1:${String(probe)}` }, call);
      const { rss, heap, pause } = JSON.parse(body) as Memory;
      return { rss: rss / MIB, heap: heap / MIB, pause };
    },
    async stop() {
      agent.destroy();
      await started.stop();
    },
  };
}
