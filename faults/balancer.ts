import type { Call, Reply } from './client';
import { type Gateway, isReady } from './gateway';
import { sleep } from './timing';

/** How often each gateway's readyz is asked, in milliseconds. */
const PROBE_EVERY = 100;
/** Longest wait for its answer, in milliseconds. */
const PROBE_TIMEOUT = 2000;
/** Refusals of readyz in a row after which a gateway is out, as in Kubernetes; one success and it is in again. */
export const OUT_AFTER = 3;

/** What a load balancer does: keep-alive to the gateways that are ready, each request sent once. */
export interface Balancer {
  send(call: Call): Promise<{ reply: Reply; gateway: string }>;
  isIn(gateway: Gateway): boolean;
  stop(): Promise<void>;
}

/** Goes by readyz alone: whoever drains is sent requests until its refusals have been noticed. */
export function startBalancer(gateways: readonly Gateway[]): Balancer {
  const inService = new Set(gateways);
  let [turn, isOver] = [0, false];

  async function probe(gateway: Gateway): Promise<void> {
    let refusals = 0;
    while (!isOver) {
      refusals = (await isReady(gateway, PROBE_TIMEOUT)) ? 0 : refusals + 1;
      if (refusals === 0) inService.add(gateway);
      if (refusals === OUT_AFTER) inService.delete(gateway);
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
      return { reply: await gateway.call(call), gateway: gateway.name };
    },
    isIn: (gateway) => inService.has(gateway),
    async stop() {
      isOver = true;
      await Promise.all(probes);
    },
  };
}
