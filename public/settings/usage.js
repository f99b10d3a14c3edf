import { choose, chosen } from './address.js';
import { call, newest } from './api.js';
import { drawChart } from './chart.js';
import { byId, element, showFailure } from './dom.js';

/* The usage of one key, which the address names with its period. */

const body = byId('usage-body');
const place = byId('usage-failure');
const chart = byId('chart');
const periods = document.querySelectorAll('input[name="period"]');
const MONTH = 'last_30d';
// an answer that comes after another key or period was chosen is dropped
const { attempt, drop } = newest();
let shown;
/** Draws the chart with a width. */
let draw = () => undefined;

/** Shows the usage of a key. */
export async function showUsage(key) {
  if (key.id !== shown?.id) body.hidden = true;
  shown = key;
  choose({ key: key.id });
  byId('usage').hidden = false;
  byId('usage-title').textContent = `Usage of ${key.name}`;
  byId('usage-title').focus();
  await load();
}

/** Shows what the address names, if anything. */
export async function followUsage() {
  for (const choice of periods) choice.checked = (choice.value === MONTH) === (chosen('period') === MONTH);
  const id = chosen('key');
  if (id === null) return;
  byId('usage').hidden = false;
  const key = await attempt(() => call('key', { id }), place, followUsage);
  if (!key) return;
  shown = key;
  byId('usage-title').textContent = `Usage of ${key.name}`;
  await load();
}

async function load() {
  const period = document.querySelector('input[name="period"]:checked').value;
  const { id, name } = shown;
  const usage = await attempt(() => call('usage', { id, period }), place, load);
  if (usage) fill(name, usage, period);
  else if (!place.hidden) body.hidden = true;
}

function fill(name, usage, period) {
  const isHourly = period !== MONTH;
  const words = (count) => count.toLocaleString('en');
  byId('total-requests').textContent = words(usage.requests);
  byId('total-errors').textContent = words(usage.errors);
  byId('total-limited').textContent = words(usage.rate_limited);
  const span = isHourly ? 'the last 24 hours' : 'the last 30 days';
  const description = `Requests with ${name} in ${span}: ${words(usage.requests)}, including ${words(usage.errors)} errors and ${words(usage.rate_limited)} with status 429.`;
  draw = (width) => chart.replaceChildren(drawChart(usage.buckets, isHourly, description, width));
  // shown first, because a hidden element has no width
  body.hidden = false;
  draw(chart.clientWidth);
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

for (const choice of periods) {
  choice.addEventListener('change', () => {
    choose({ period: choice.value === MONTH ? MONTH : null });
    if (shown) void load();
  });
}

byId('close-usage').addEventListener('click', () => {
  const button = shown && document.querySelector(`[data-focus$=":${shown.id}"]`);
  drop();
  shown = undefined;
  draw = () => undefined;
  choose({ key: null });
  byId('usage').hidden = true;
  body.hidden = true;
  showFailure(place);
  (button || byId('keys-title')).focus();
});

let width = 0;
new ResizeObserver(([{ contentRect }]) => {
  if (contentRect.width === width || contentRect.width === 0) return;
  width = contentRect.width;
  draw(width);
}).observe(chart);
