import { choose, chosen } from './route';
import { call, newest, now, settings } from './api';
import { drawChart } from './chart';
import { byId, element } from './dom';
import { keyLink, noteNames, shownName } from './keyPage/link';
import { keyText } from './keyPage/words';
import { redraw } from './modal';
import { ago } from './time';
import { AGE, codeRow, operationRow, words } from './usage';

/* Above the keys: which end soon, what to do first, and the requests of all keys. The address has the period. */

const SOON = 7 * 86_400_000;
/** How many of them are listed. */
const MOST_EXPIRING = 20;
const MONTH = 'last_30d';
const body = byId('traffic-body');
const chart = byId('all-chart');
const steps = byId('first-steps');
const warning = byId('expiring');
const periods = [...document.querySelectorAll('input[name="overview"]')];
const place = byId('traffic-failure');
// an answer that comes after another period was chosen is dropped
const traffic = newest();
const keys = newest();
const expiring = newest();
let actions = {};
/** Draws the chart with a width. */
let draw = () => undefined;

for (const choice of periods) {
  choice.addEventListener('change', () => {
    choose({ period: choice.value === MONTH ? MONTH : null });
    void loadTraffic();
  });
}

/** Shows the overview; `on` has what its buttons do: {make, rotate}. */
export function openOverview(on) {
  actions = on;
  for (const choice of periods) choice.checked = (choice.value === MONTH) === (chosen('period') === MONTH);
  return reloadOverview();
}

/** Shows it as it is after a key was changed. */
export async function reloadOverview() {
  await Promise.all([loadKeys(), loadExpiring()]);
}

/** Whether there has ever been a key. */
async function loadKeys() {
  const page = await keys.attempt(() => call('newestKeys'), place, loadKeys);
  if (!page) return;
  noteNames(page.data);
  const isNew = page.data.length === 0;
  steps.hidden = !isNew;
  // as an element of its own, so that a focus in it is not lost
  redraw(byId('first-button'), isNew && actions.make ? [makeButton()] : []);
  if (isNew) body.hidden = true;
  else await loadTraffic();
}

function makeButton() {
  return element('button', { class: 'button primary', type: 'button', click: actions.make }, 'Create the first key');
}

async function loadTraffic() {
  const { value: period } = periods.find(({ checked }) => checked);
  byId('traffic-periods').hidden = false;
  const usage = await traffic.attempt(() => call('allUsage', { period }), place, loadTraffic);
  if (usage) fill(usage, period !== MONTH);
  else if (!place.hidden) body.hidden = true;
}

function fill(usage, isHourly) {
  const span = isHourly ? 'the last 24 hours' : 'the last 30 days';
  byId('all-requests').textContent = words(usage.requests);
  byId('all-errors').textContent = words(usage.errors);
  byId('all-limited').textContent = words(usage.rate_limited);
  const isNone = usage.requests === 0;
  byId('no-traffic').hidden = !isNone;
  byId('no-traffic').textContent = `No requests in ${span}. ${AGE}`;
  byId('some-traffic').hidden = isNone;
  const description = `Requests with all keys in ${span}: ${words(usage.requests)}, including ${words(usage.errors)} errors and ${words(usage.rate_limited)} with status 429.`;
  draw = (width) => chart.replaceChildren(drawChart(usage.buckets, isHourly, description, width));
  // shown first, because a hidden element has no width
  body.hidden = false;
  if (chart.clientWidth > 0) draw(chart.clientWidth);
  byId('all-operations').replaceChildren(...usage.operations.map(operationRow));
  byId('all-codes').replaceChildren(...usage.codes.map(codeRow));
  byId('all-errors-by-code').hidden = usage.codes.length === 0;
}

/** Active keys that nothing has replaced yet. */
async function loadExpiring() {
  const expires_before = new Date(now() + SOON).toISOString();
  const found = await expiring.attempt(() => readExpiring(expires_before), place, loadExpiring);
  if (!found) return;
  const soonest = found.toSorted((one, other) => Date.parse(one.expires_at) - Date.parse(other.expires_at));
  const verb = found.length === 1 ? 'key expires' : 'keys expire';
  byId('expiring-title').textContent = `${found.length} ${verb} within 7 days`;
  byId('expiring-more').hidden = found.length <= MOST_EXPIRING;
  warning.hidden = found.length === 0;
  redraw(byId('expiring-keys'), soonest.slice(0, MOST_EXPIRING).map(expiringItem));
}

/** All of them, since the gateway lists the newest first. */
async function readExpiring(expires_before) {
  const found = [];
  let cursor = null;
  do {
    const page = await call('expiringKeys', { expires_before, cursor });
    found.push(...page.data);
    cursor = page.next_cursor;
  } while (cursor !== null && found.length < 1000);
  return found;
}

function expiringItem(key) {
  const { id, expires_at: at } = key;
  const rotate = element(
    'button',
    {
      ...{ class: 'button', type: 'button', 'data-focus': `expiring:${id}` },
      ...{ 'aria-label': `Rotate ${shownName(key)}`, click: () => actions.rotate(key) },
    },
    'Rotate…',
  );
  return element(
    'li',
    {},
    element('span', {}, keyLink(id, shownName(key), `expiring-link:${id}`), ' ', keyText(key), ' expires ', ago(at)),
    settings.mayChange && settings.hasPlan ? rotate : undefined,
  );
}

let width = 0;
new ResizeObserver(([{ contentRect }]) => {
  if (contentRect.width === width || contentRect.width === 0) return;
  width = contentRect.width;
  draw(width);
}).observe(chart);
