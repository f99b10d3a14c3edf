import type { Config } from '../../config';
import { NO_SECRET, webhookSettings } from '../../webhooks/settings';
import { masterSecret, OTHER_SECRET, RESTORE_SECRET } from '../../webhooks/masterSecret';
import type { Store } from '../common/open';
import { type Check, examine, Finding } from './check';

/** Whether webhooks can be sent: WEBHOOK_SECRET is that of the endpoints, if there are any. */
export function checkWebhooks(store: Store, config: Config): Promise<Check> {
  return examine('webhooks', RESTORE_SECRET, async () => {
    const { master } = webhookSettings(config);
    const counts = await store.control.webhooks.counts();
    const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
    if (master === undefined) {
      if (all === 0) return NO_SECRET;
      const fix = 'set WEBHOOK_SECRET to its former value for every gateway and command';
      throw new Finding(`WEBHOOK_SECRET is not set, so nothing is sent to ${endpoints(all)}`, fix);
    }
    if (!(await masterSecret(store, master).fits())) throw new Error(OTHER_SECRET);
    if (all === 0) return 'no endpoints yet';
    const states = [...counts].filter(([, count]) => count > 0).map(([state, count]) => `${String(count)} ${state}`);
    return `${endpoints(all)}: ${states.join(', ')}`;
  });
}

const endpoints = (count: number): string => `${String(count)} ${count === 1 ? 'endpoint' : 'endpoints'}`;
