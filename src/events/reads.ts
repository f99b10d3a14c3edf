import { LRUCache } from 'lru-cache';
import { createGate, type Gate } from '../database/gate';

/** How many streams of an organisation, and of a gateway, read what they have missed at once. */
const AT_ONCE = { organisation: 4, gateway: 8 };
/** Organisations whose gates are kept. */
const MOST_KEPT = 1000;

/** Lets streams read a few at a time, since all of them do when their change stream fails, or a gateway begins. */
export function createReads(): <T>(organisation: string, read: () => Promise<T>) => Promise<T> {
  const ofGateway = createGate(AT_ONCE.gateway);
  const ofOrganisations = new LRUCache<string, Gate>({ max: MOST_KEPT });
  return (organisation, read) => {
    let gate = ofOrganisations.get(organisation);
    if (!gate) ofOrganisations.set(organisation, (gate = createGate(AT_ONCE.organisation)));
    return gate(() => ofGateway(read));
  };
}
