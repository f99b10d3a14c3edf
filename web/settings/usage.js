import { choose, chosen } from './route';
import { call, newest } from './api';
import { drawChart } from './chart';
import { byId, cell, element, showFailure } from './dom';
import { length } from './requests';

/* The usage of one key, on its page; the address has the period. */

const body = byId('usage-body');
const place = byId('usage-failure');
const chart = byId('chart');
const periods = document.querySelectorAll('input[name="key-period"]');
const none = byId('no-usage');
/** Said with every count of nothing, since what has just been requested is missing. */
export const AGE = 'Figures are up to a minute old.';
const MONTH = 'last_30d';
// an answer that comes after another key or period was chosen is dropped
const { attempt, drop } = newest();
let shown;
/** Draws the chart with a width. */
let draw = () => undefined;

/** Shows the usage of a key; undefined leaves it. */
export async function openUsage(key) {
  if (key?.id !== shown?.id) {
    body.hidden = true;
    showFailure(place);
    draw = () => undefined;
  }
  shown = key;
  if (key === undefined) return drop();
  for (const choice of periods) choice.checked = (choice.value === MONTH) === (chosen('period') === MONTH);
  await load();
}

async function load() {
  const period = document.querySelector('input[name="key-period"]:checked').value;
  const { id, name } = shown;
  const usage = await attempt(() => call('usage', { id, period }), place, load);
  if (usage) fill(name, usage, period);
  else if (!place.hidden) body.hidden = true;
}

export const words = (count) => count.toLocaleString('en');

function fill(name, usage, period) {
  const isHourly = period !== MONTH;
  byId('total-requests').textContent = words(usage.requests);
  byId('total-errors').textContent = words(usage.errors);
  byId('total-limited').textContent = words(usage.rate_limited);
  byId('total-mcp').textContent = words(usage.mcp);
  const span = isHourly ? 'the last 24 hours' : 'the last 30 days';
  const description = `Requests with ${name} in ${span}: ${words(usage.requests)}, including ${words(usage.errors)} errors and ${words(usage.rate_limited)} with status 429.`;
  draw = (width) => chart.replaceChildren(drawChart(usage.buckets, isHourly, description, width));
  none.hidden = usage.requests > 0;
  byId('usage-hint').hidden = usage.requests === 0;
  none.textContent = `No requests with this key in ${span}. ${AGE}`;
  // shown first, because a hidden element has no width
  body.hidden = false;
  draw(chart.clientWidth);
  byId('buckets').replaceChildren(...usage.buckets.toReversed().map((bucket) => bucketRow(bucket, isHourly)));
  byId('usage-operations').replaceChildren(...usage.operations.map(operationRow));
  byId('usage-codes').replaceChildren(...usage.codes.map(codeRow));
  byId('usage-parts').hidden = usage.operations.length === 0;
  byId('usage-errors').hidden = usage.codes.length === 0;
}

function bucketRow({ start, requests, errors, rate_limited: limited }, isHourly) {
  return element(
    'tr',
    {},
    element('th', { scope: 'row' }, isHourly ? start.slice(0, 16).replace('T', ' ') : start.slice(0, 10)),
    ...[requests, errors, limited].map((count) => element('td', {}, words(count))),
  );
}

/** Labels that are no names of operations. */
const LABELS = {
  none: 'failed before it was known',
  multiple: 'several in one request',
  other: 'not in the schema',
  introspection: 'of the schema',
};

/** The row of an operation, also of those of all keys. */
export function operationRow({ operation, requests, errors, rate_limited: limited, p50_ms: median, p95_ms: high }) {
  const label = LABELS[operation] ?? element('code', {}, operation);
  return element(
    'tr',
    {},
    head('Operation', label),
    cell('Requests', words(requests)),
    cell('Errors', words(errors)),
    cell('429s', words(limited)),
    cell('Median', time(median)),
    cell('95th', time(high)),
  );
}

/** The row of an error code. */
export function codeRow({ code, requests }) {
  const link = element('a', { href: `/errors/${code}` }, element('code', {}, code));
  return element('tr', {}, head('Error code', link), cell('Requests', words(requests)));
}

function head(label, content) {
  return element('th', { scope: 'row', 'data-label': label }, element('div', {}, content));
}

const time = (ms) => (ms === null ? 'none' : length(ms));

for (const choice of periods) {
  choice.addEventListener('change', () => {
    choose({ period: choice.value === MONTH ? MONTH : null });
    if (shown) void load();
  });
}

let width = 0;
new ResizeObserver(([{ contentRect }]) => {
  if (contentRect.width === width || contentRect.width === 0) return;
  width = contentRect.width;
  draw(width);
}).observe(chart);
