import type { Authenticate, KeySource } from '../access/authenticate';
import { keyState } from '../access/keyState';
import type { ApiKey } from '../access/apiKey';
import type { KeyState, Metrics } from './index';

/** Counts the keys that requests come with, by what a look-up finds; a key that is not looked up was none. */
export function countKeys(
  metrics: Metrics,
  apiKeys: KeySource,
  create: (apiKeys: KeySource) => Authenticate,
): Authenticate {
  let wasLookedUp = false;
  const authenticate = create({
    repeated: (found) => {
      wasLookedUp = true;
      metrics.keyFound(stateOf(found));
    },
    markUsed: (key, address) => {
      apiKeys.markUsed(key, address);
    },
    async find(id) {
      wasLookedUp = true;
      const key = await apiKeys.find(id);
      metrics.keyFound(stateOf(key));
      return key;
    },
  });
  const isLookedUp = (): boolean => wasLookedUp;
  return (authorization, address) => {
    wasLookedUp = false;
    // the text of a key is judged, and its look-up begun, before this returns
    const result = authenticate(authorization, address);
    if (!isLookedUp()) metrics.keyFound('malformed');
    return result;
  };
}

function stateOf(key: ApiKey | null): KeyState {
  if (!key) return 'unknown';
  const state = keyState(key, new Date());
  return state === 'active' ? 'live' : state;
}
