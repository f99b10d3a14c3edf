import { call, newest } from './api.js';
import { loadEvents } from './audit.js';
import { drawChart } from './chart.js';
import { makeKey, revokeKey, rotateKey } from './dialogs.js';
import { byId, element } from './dom.js';
import { loadKeys } from './keys.js';
import { followAddress } from './webhooks/endpoint.js';
import { loadWebhooks, wireAdding } from './webhooks/list.js';

/* Settings → Integrations: connects the parts of the page. */

const { attempt } = newest();
let shown;

async function showUsage() {
  const period = document.querySelector('input[name="period"]:checked').value;
  const isHourly = period === 'last_24h';
  const usage = await attempt(() => call('usage', { id: shown.id, period }));
  if (!usage) return;
  const words = (count) => count.toLocaleString('en');
  byId('usage-title').textContent = `Usage of ${shown.name}`;
  byId('total-requests').textContent = words(usage.requests);
  byId('total-errors').textContent = words(usage.errors);
  byId('total-limited').textContent = words(usage.rate_limited);
  const span = isHourly ? 'the last 24 hours' : 'the last 30 days';
  const description = `Requests with ${shown.name} in ${span}: ${words(usage.requests)}, including ${words(usage.errors)} errors and ${words(usage.rate_limited)} with status 429.`;
  // shown first, because a hidden element has no width
  byId('usage').hidden = false;
  const chart = byId('chart');
  chart.replaceChildren(drawChart(usage.buckets, isHourly, description, chart.clientWidth));
  byId('buckets').replaceChildren(
    ...usage.buckets
      .toReversed()
      .map(({ start, requests, errors, rate_limited: limited }) =>
        element(
          'tr',
          {},
          element('th', { scope: 'row' }, isHourly ? start.slice(0, 16).replace('T', ' ') : start.slice(0, 10)),
          ...[requests, errors, limited].map((count) => element('td', {}, words(count))),
        ),
      ),
  );
}

for (const choice of document.querySelectorAll('input[name="period"]')) choice.addEventListener('change', showUsage);

function changed() {
  void loadKeys();
  void loadEvents();
}

byId('make')?.addEventListener('click', () => makeKey(changed));
void loadKeys({
  async use(key) {
    shown = key;
    await showUsage();
    byId('usage-title').focus();
  },
  rotate: (key) => rotateKey(key, changed),
  revoke: (key) => revokeKey(key, changed),
});
void loadEvents();
wireAdding(() => {
  void loadWebhooks();
  void loadEvents();
});
void loadWebhooks();
followAddress(loadEvents);
