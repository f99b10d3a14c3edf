import '../prose.css';
import './dialogs.css';
import './keys.css';
import './webhooks.css';
import './requests.css';
import './overview.css';
import '../settings.css';
import { settings } from './api';
import { auditPage } from './audit';
import { makeKey, revokeKey, rotateKey } from './dialogs';
import { byId } from './dom';
import { keyPage } from './keyPage/page';
import { keysPage } from './keys';
import { membersPage } from './members';
import { overviewPage } from './overview';
import { requestsIn } from './requests';
import { followAddress, go, refresh } from './route';
import './mode';
import './signOut';
import { endpointPage } from './webhooks/endpoint';
import { loadWebhooks, wireAdding } from './webhooks/list';

/* Settings: connects the pages. */

const changed = () => refresh('integrations', 'keys', 'key', 'audit');
const make = settings.mayChange && settings.hasPlan ? () => makeKey(changed) : undefined;
const rotate = (key) => rotateKey(key, changed);
const actions = {
  use: ({ id }) => go(`/settings/keys/${id}`),
  revoke: (key) => revokeKey(key, changed),
  rotate,
  make,
};
const { open: openRequests } = requestsIn(byId('requests'));
followAddress({
  integrations: overviewPage(actions),
  keys: keysPage(actions),
  key: keyPage(changed),
  webhooks: { open: loadWebhooks, refresh: loadWebhooks },
  endpoint: endpointPage(() => refresh('webhooks', 'audit')),
  requests: { open: openRequests },
  members: membersPage(),
  audit: auditPage(),
});
wireAdding(() => refresh('webhooks', 'audit'));
// how many of them fail is said beside all pages
if (!location.pathname.startsWith('/settings/webhooks')) void loadWebhooks();
