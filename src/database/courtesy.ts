import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';

/** Longest that one piece of heavy work waits for others, in milliseconds: they slow it down, and never stop it. */
const LONGEST = 20;

/**
 * Pauses between the pieces of heavy work. Someone else's read takes some five turns of the event loop and would wait for a
 * piece in each of them (docs/decisions/bodies-and-fairness.md).
 */
export interface Courtesy {
  /** A turn of the event loop, and more of them while another organisation's requests are in hand. */
  readonly giveWay: (organisationId: string) => Promise<void>;
  /** Says who tells whether requests of others than an organisation are in hand; nobody until then. */
  readonly giveWayTo: (othersAsk: (organisationId: string) => boolean) => void;
}

export function createCourtesy(): Courtesy {
  let othersAsk = (_organisationId: string): boolean => false;
  return {
    async giveWay(organisationId) {
      await turn();
      const until = performance.now() + LONGEST;
      while (othersAsk(organisationId) && performance.now() < until) await sleep(1);
    },
    giveWayTo(judge) {
      othersAsk = judge;
    },
  };
}
