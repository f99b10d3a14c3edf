import type { Call, Reply } from './client';
import { type Gateway, isReady } from './gateway';
import { sleep } from './timing';

/** How often each gateway's readyz is asked, in milliseconds. */
const PROBE_EVERY = 100;
/** Longest wait for its answer, in milliseconds. */
const PROBE_TIMEOUT = 2000;

/** What a load balancer does: keep-alive to the gateways that are ready, each request sent once. */
export interface Balancer {
  send(call: Call): Promise<{ reply: Reply; gateway: string }>;
  isIn(gateway: Gateway): boolean;
  stop(): Promise<void>;
}

/** A gateway is out from the first refusal, 503 of readyz, or answer with `Connection: close`; in again when ready. */
export function startBalancer(gateways: readonly Gateway[]): Balancer {
  const inService = new Set(gateways);
  let [turn, isOver] = [0, false];

  async function probe(gateway: Gateway): Promise<void> {
    while (!isOver) {
      if (await isReady(gateway, PROBE_TIMEOUT)) inService.add(gateway);
      else inService.delete(gateway);
      await sleep(PROBE_EVERY);
    }
  }

  const probes = gateways.map(probe);
  return {
    async send(call) {
      turn += 1;
      const ready = [...inService];
      const gateway = ready[turn % ready.length];
      if (!gateway) {
        const reply = { kind: 'failed', reason: 'no gateway is ready', mayHaveArrived: false, ms: 0 } as const;
        return { reply, gateway: 'none' };
      }
      const reply = await gateway.call(call);
      if (reply.kind === 'failed' || reply.headers.connection === 'close') inService.delete(gateway);
      return { reply, gateway: gateway.name };
    },
    isIn: (gateway) => inService.has(gateway),
    async stop() {
      isOver = true;
      await Promise.all(probes);
    },
  };
}
