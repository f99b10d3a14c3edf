import type { Authenticate, KeySource } from '../access/authenticate';
import { type ApiKey, keyState } from '../access/apiKey';
import type { KeyState, Metrics } from './index';

/** Counts the keys in requests by lookup result; a key that is not looked up is malformed. */
export function countKeys(
  metrics: Metrics,
  apiKeys: KeySource,
  create: (apiKeys: KeySource) => Authenticate,
): Authenticate {
  let wasLookedUp = false;
  const authenticate = create({
    ...apiKeys,
    repeated: (found) => {
      wasLookedUp = true;
      metrics.keyFound(stateOf(found));
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
    // authenticate parses the key and starts its lookup synchronously
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
