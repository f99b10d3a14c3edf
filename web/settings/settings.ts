import '../prose.css';
import '../settings.css';
import './frame.css';
import './tables.css';
import './pages.css';
import './dialogs.css';
import './keys.css';
import { auditPage } from './audit';
import { insightsPage } from './insights';
import { keyPage } from './keyPage';
import { keysPage } from './keys';
import { membersPage } from './members';
import { overviewPage } from './overview';
import { requestsPage } from './requests';
import { followAddress, isShown, refresh } from './route';
import '../search';
import './links';
import './mode';
import './signOut';
import { endpointPage } from './webhooks/endpoint';
import { webhooksPage } from './webhooks/list';

/* Settings: connects the pages. */

const webhooksChanged = (): void => {
  refresh('integrations', 'webhooks', 'audit');
  // the list of pages shows how many endpoints fail
  if (!isShown('webhooks')) void webhooks.refresh();
};
const webhooks = webhooksPage(webhooksChanged);
followAddress({
  integrations: overviewPage(webhooks.read),
  insights: insightsPage(),
  keys: keysPage(),
  key: keyPage(),
  webhooks,
  endpoint: endpointPage(webhooksChanged),
  requests: requestsPage(),
  members: membersPage(),
  audit: auditPage(),
});
document.querySelector('.pages > .loading')?.remove();
if (!isShown('webhooks') && !isShown('integrations')) void webhooks.refresh();
