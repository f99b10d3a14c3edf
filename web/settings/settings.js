import '../prose.css';
import './dialogs.css';
import './keys.css';
import './webhooks.css';
import './requests.css';
import './overview.css';
import '../settings.css';
import { openEvents } from './audit.js';
import { makeKey, revokeKey, rotateKey } from './dialogs.js';
import { byId } from './dom.js';
import { keyPage } from './keyPage/page.js';
import { loadKeys, openKeys } from './keys.js';
import { loadMembers } from './members.js';
import { openOverview, reloadOverview } from './overview.js';
import { requestList } from './requests.js';
import { followAddress, go, refresh } from './route.js';
import './mode.js';
import './signOut.js';
import { endpointPage } from './webhooks/endpoint.js';
import { loadWebhooks, wireAdding } from './webhooks/list.js';

/* Settings: connects the pages. */

const changed = () => refresh('integrations', 'keys', 'key', 'audit');
const make = byId('make') ? () => makeKey(changed) : undefined;
byId('make')?.addEventListener('click', make);
const rotate = (key) => rotateKey(key, changed);
const actions = {
  use: ({ id }) => go(`/settings/keys/${id}`),
  revoke: (key) => revokeKey(key, changed),
  rotate,
};
const { open: openRequests } = requestList(byId('requests'));
followAddress({
  integrations: { open: () => openOverview({ make, rotate }), refresh: reloadOverview },
  keys: { open: () => openKeys(actions), refresh: loadKeys },
  key: keyPage(changed),
  webhooks: { open: loadWebhooks, refresh: loadWebhooks },
  endpoint: endpointPage(() => refresh('webhooks', 'audit')),
  requests: { open: openRequests },
  members: { open: loadMembers, refresh: loadMembers },
  audit: { open: openEvents, refresh: openEvents },
});
wireAdding(() => refresh('webhooks', 'audit'));
// how many of them fail is said beside all pages
if (!location.pathname.startsWith('/settings/webhooks')) void loadWebhooks();
