import '../prose.css';
import './dialogs.css';
import './keys.css';
import './webhooks.css';
import './requests.css';
import './overview.css';
import '../settings.css';
import { loadEvents } from './audit.js';
import { makeKey, revokeKey, rotateKey } from './dialogs.js';
import { byId } from './dom.js';
import { followKeys, openKey, reloadKey } from './keyPage/page.js';
import { loadKeys } from './keys.js';
import { loadMembers } from './members.js';
import { openOverview, reloadOverview } from './overview.js';
import { requestList } from './requests.js';
import './mode.js';
import './signOut.js';
import { followAddress } from './webhooks/endpoint.js';
import { loadWebhooks, wireAdding } from './webhooks/list.js';

/* Settings → Integrations: connects the parts of the page. */

function changed() {
  void loadKeys();
  void loadEvents();
  reloadKey();
  void reloadOverview();
}

const make = byId('make') ? () => makeKey(changed) : undefined;
byId('make')?.addEventListener('click', make);
openOverview({ make, rotate: (key) => rotateKey(key, changed) });
void loadKeys({
  use: openKey,
  rotate: (key) => rotateKey(key, changed),
  revoke: (key) => revokeKey(key, changed),
});
void loadEvents();
void loadMembers();
wireAdding(() => {
  void loadWebhooks();
  void loadEvents();
});
void loadWebhooks();
followAddress(loadEvents);
const requests = requestList(byId('requests'));
// after the pages of endpoints, whose own way back shows the lists
followKeys({
  changed,
  listed: (areShown) => (areShown ? void requests.open() : requests.close()),
});
