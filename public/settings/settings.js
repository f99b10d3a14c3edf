import { loadEvents } from './audit.js';
import { makeKey, revokeKey, rotateKey } from './dialogs.js';
import { byId } from './dom.js';
import { loadKeys } from './keys.js';
import { followUsage, showUsage } from './usage.js';
import { followAddress } from './webhooks/endpoint.js';
import { loadWebhooks, wireAdding } from './webhooks/list.js';

/* Settings → Integrations: connects the parts of the page. */

function changed() {
  void loadKeys();
  void loadEvents();
}

byId('make')?.addEventListener('click', () => makeKey(changed));
void loadKeys({
  use: showUsage,
  rotate: (key) => rotateKey(key, changed),
  revoke: (key) => revokeKey(key, changed),
});
void followUsage();
void loadEvents();
wireAdding(() => {
  void loadWebhooks();
  void loadEvents();
});
void loadWebhooks();
followAddress(loadEvents);
