import type { Call, Reply } from './client';
import { type Gateway, isReady } from './gateway';
import { sleep } from './timing';

/** Interval between calls of each gateway's readyz, in milliseconds. */
const PROBE_EVERY = 100;
/** Timeout of such a call, in milliseconds. */
const PROBE_TIMEOUT = 2000;
/** Consecutive failures of readyz after which a gateway is out of service, as in Kubernetes; one success puts it back. */
export const OUT_AFTER = 3;

/** A minimal load balancer: keep-alive connections to the ready gateways, no retries. */
export interface Balancer {
  send(call: Call): Promise<{ reply: Reply; gateway: string }>;
  isIn(gateway: Gateway): boolean;
  stop(): Promise<void>;
}

/** Relies on readyz alone, so a draining gateway gets requests until the failures of its readyz are noticed. */
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
