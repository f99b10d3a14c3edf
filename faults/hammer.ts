import { isSuccess, labelOf, Tally } from './client';
import type { Gateway } from './gateway';

/** Requests of one key under way at once, for each gateway. */
const AT_ONCE = 16;

export interface Burst {
  /** How many requests each gateway let through. */
  readonly perGateway: readonly number[];
  readonly tally: Tally;
  readonly ms: number;
}

/** Sends `total` requests of one key, an equal part to each gateway, as fast as they are answered. */
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
