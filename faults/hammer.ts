import { isSuccess, labelOf, Tally } from './client';
import type { Gateway } from './gateway';

/** Concurrent requests of one key per gateway. */
const AT_ONCE = 16;

export interface Burst {
  /** Number of requests each gateway allowed. */
  readonly perGateway: readonly number[];
  readonly tally: Tally;
  readonly ms: number;
}

/** Sends `total` requests of one key as fast as they are answered, an equal share to each gateway. */
export async function hammer(gateways: readonly Gateway[], key: string, total: number): Promise<Burst> {
  const tally = new Tally();
  const started = performance.now();
  const perGateway = await Promise.all(
    gateways.map(async (gateway) => {
      let [left, allowed] = [Math.ceil(total / gateways.length), 0];
      const worker = async (): Promise<void> => {
        while (left > 0) {
          left -= 1;
          const reply = await gateway.call({ method: 'GET', path: '/api/v1/me', key });
          tally.add(labelOf(reply));
          if (isSuccess(reply)) allowed += 1;
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, worker));
      return allowed;
    }),
  );
  return { perGateway, tally, ms: performance.now() - started };
}
