import { AppError } from '../errors';

/** Posts by hand at the same time: of an organisation, and of a gateway. Each holds a request for up to 17 s. */
const MOST = { organisation: 2, gateway: 16 } as const;

/** Runs what a person posts by hand, as long as it is not too much at once. */
export function byHandGate() {
  const running = new Map<string, number>();
  let all = 0;
  return async <T>(organisation: string, work: () => Promise<T>): Promise<T> => {
    const own = running.get(organisation) ?? 0;
    if (own >= MOST.organisation || all >= MOST.gateway) {
      const detail = 'Too many webhooks are being sent by hand at the moment; wait for their outcome.';
      throw new AppError('rate_limited', detail, { retryAfter: 5 });
    }
    running.set(organisation, own + 1);
    all += 1;
    try {
      return await work();
    } finally {
      all -= 1;
      const left = (running.get(organisation) ?? 1) - 1;
      if (left > 0) running.set(organisation, left);
      else running.delete(organisation);
    }
  };
}
