import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, Json } from '../support/client';

/**
 * Reads a caller's feed on from where it stopped, from its beginning at first. Waits until there is an event that `isLast` accepts, and
 * resolves with all that came until then.
 */
export function feedReader(caller: Client): (isLast: (event: Json) => boolean) => Promise<Json[]> {
  let after: string | undefined;
  return async (isLast) => {
    const all: Json[] = [];
    for (let turn = 0; turn < 200; turn += 1) {
      const { status, body } = await caller.get('/events', {
        limit: 100,
        wait: 2,
        ...(after !== undefined && { after }),
      });
      if (status !== 200) {
        // nobody has recorded anything yet
        expect(body.code).toBe('unavailable');
        await sleep(200);
        continue;
      }
      all.push(...body.data);
      after = body.next_cursor;
      if (!body.has_more && all.some(isLast)) return all;
    }
    throw new Error(`not among ${JSON.stringify(all)}`);
  };
}
