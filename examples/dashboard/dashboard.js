import { amount, barChart, barTable, clear } from './draw.js';

const QUERY = `query Dashboard($from: DateTime, $to: DateTime) {
  me { organisation { name } }
  months: order_totals(group_by: [MONTH], from: $from, to: $to) {
    data { month currency count total_minor }
    has_more
  }
  quotes: quote_totals(group_by: [STATUS], from: $from, to: $to) {
    data { status currency count total_minor }
  }
  products: product_sales(limit: 10, from: $from, to: $to) {
    data { sku description currency uom qty net_minor }
  }
}`;

const form = document.getElementById('connect');
const message = document.getElementById('message');
const panels = document.getElementById('panels');

/** Error codes worth retrying for reads (guide for integrators, "Retrying"). */
const RETRIED = ['rate_limited', 'unavailable', 'internal'];
const MOST_TRIES = 4;

const pause = (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));

/** Queries the gateway; retries after the delay it asks for. */
async function ask(url, key, variables) {
  for (let attempt = 1; ; attempt += 1) {
    const { data, errors } = await send(url, key, variables).catch((error) => {
      if (attempt === MOST_TRIES) throw error;
      return { errors: [{ extensions: { code: 'unavailable', retry_after: attempt / 4 } }] };
    });
    if (!errors) return data;
    const [{ message: words, extensions }] = errors;
    if (attempt === MOST_TRIES || !RETRIED.includes(extensions.code)) {
      throw new Error(`${words} (${extensions.code}, request ${extensions.request_id})`);
    }
    const seconds = extensions.retry_after ?? attempt;
    if (extensions.code === 'rate_limited') {
      message.textContent = `Rate limit reached; retrying in ${seconds} s.`;
    }
    await pause(seconds);
  }
}

/** @throws TypeError if there is no answer */
async function send(url, key, variables) {
  const answer = await fetch(new URL('/graphql', url), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${key}` },
    body: JSON.stringify({ query: QUERY, variables }),
  });
  return answer.json();
}

/** Groups rows by currency, so that a chart never mixes currencies. */
function byCurrency(rows) {
  return Object.entries(Object.groupBy(rows, ({ currency }) => currency));
}

function show({ me, months, quotes, products }) {
  document.getElementById('title').textContent = me.organisation.name;
  const [monthly, best, statuses] = ['months', 'products', 'quotes'].map((id) => clear(document.getElementById(id)));
  for (const [currency, rows] of byCurrency(months.data)) {
    const sum = rows.reduce((total, { total_minor: minor }) => total + minor, 0);
    const count = rows.reduce((total, row) => total + row.count, 0);
    monthly.append(
      barChart({
        caption: `${currency}: ${amount(sum, currency)} in ${count.toLocaleString()} orders`,
        bars: rows.map((row) => ({ name: row.month, value: row.total_minor, text: amount(row.total_minor, currency) })),
      }),
    );
  }
  for (const [currency, rows] of byCurrency(products.data)) {
    best.append(
      barTable({
        caption: `${currency}, net of discounts`,
        headings: ['Product', 'Quantity', 'Sales'],
        rows: rows.map((row) => ({
          cells: [row.description, `${row.qty.toLocaleString()} ${row.uom}`, amount(row.net_minor, currency)],
          value: row.net_minor,
        })),
      }),
    );
  }
  for (const [currency, rows] of byCurrency(quotes.data)) {
    statuses.append(
      barTable({
        caption: currency,
        headings: ['Status', 'Quotes', 'Total'],
        rows: rows
          .toSorted((a, b) => b.count - a.count)
          .map((row) => ({
            cells: [row.status, row.count.toLocaleString(), amount(row.total_minor, currency)],
            value: row.count,
          })),
      }),
    );
  }
  offerYears(months.data);
}

/** Fills the year selection from the first answer, which covers all years. */
function offerYears(rows) {
  const { year } = form.elements;
  if (year.options.length > 1) return;
  for (const name of new Set(rows.map(({ month }) => month.slice(0, 4)))) year.append(new Option(name));
}

async function refresh() {
  const { url, key, year } = form.elements;
  const variables = year.value
    ? { from: `${year.value}-01-01T00:00:00Z`, to: `${Number(year.value) + 1}-01-01T00:00:00Z` }
    : {};
  message.textContent = 'Loading…';
  try {
    show(await ask(url.value, key.value, variables));
    panels.hidden = false;
    message.textContent = '';
  } catch (error) {
    panels.hidden = true;
    message.textContent =
      error instanceof TypeError
        ? `Cannot reach ${url.value}: is CORS_ORIGINS set to ${location.origin}?`
        : error.message;
  }
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  void refresh();
});
form.elements.year.addEventListener('change', () => void refresh());

// #url=…&key=… fills in the form; fragments are never sent to a server
const given = new URLSearchParams(location.hash.slice(1));
for (const [name, value] of given) if (form.elements[name]) form.elements[name].value = value;
if (given.has('key')) void refresh();
