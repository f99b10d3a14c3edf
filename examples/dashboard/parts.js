/* The parts of the page: what each asks for, and which changes put it out of date. */

/** How many customers and products are shown of each currency. */
export const MOST = 10;
/** How many names of customers one request asks for; the gateway takes 20 fields. */
export const MOST_NAMES = 20;

const AMOUNTS = ['currency', 'total_minor'];

/** `reads` is the object that a part is made of, and `fields` those of its fields that the part depends on. */
export const PARTS = {
  months: {
    query:
      'order_totals(group_by: [MONTH], from: $from, to: $to) { data { month currency count total_minor } has_more }',
    reads: 'order',
    fields: [...AMOUNTS, 'placed_at'],
  },
  statuses: {
    query: 'order_totals(group_by: [STATUS], from: $from, to: $to) { data { status currency count total_minor } }',
    reads: 'order',
    fields: [...AMOUNTS, 'placed_at', 'status'],
  },
  quotes: {
    query: 'quote_totals(group_by: [STATUS], from: $from, to: $to) { data { status currency count total_minor } }',
    reads: 'quote',
    fields: [...AMOUNTS, 'created_at', 'status'],
  },
  customers: {
    query:
      'order_totals(group_by: [CUSTOMER], from: $from, to: $to) { data { customer_id currency count total_minor } has_more }',
    reads: 'order',
    fields: [...AMOUNTS, 'placed_at', 'customer_id'],
  },
  products: {
    query: `product_sales(limit: ${MOST}, from: $from, to: $to) { data { sku description currency uom qty net_minor } }`,
    reads: 'order',
    fields: ['currency', 'placed_at', 'status', 'lines'],
  },
};

export const ALL = Object.keys(PARTS);

/** Who the key belongs to, what it may read, and where the feed of events ends now: what is read later is not older. */
export const START = `query Start {
  me { organisation { name } key { scopes } }
  events(after: "now", limit: 1) { next_cursor }
}`;

/** The months of all years that have orders. */
const YEARS = 'years: order_totals(group_by: [MONTH]) { data { month } }';

/** One request for all of these parts, and for all years if they are not known: it costs a point for each. */
export function queryFor(names, { withYears }) {
  const fields = [...names.map((name) => `${name}: ${PARTS[name].query}`), ...(withYears ? [YEARS] : [])];
  return `query Dashboard($from: DateTime, $to: DateTime) {\n  ${fields.join('\n  ')}\n}`;
}

/** The totals have only the ids of customers; this asks for their names, a point for each. */
export function namesRequest(ids) {
  const declared = ids.map((_, n) => `$id${n}: ID!`).join(', ');
  const fields = ids.map((_, n) => `c${n}: customer(id: $id${n}) { name }`).join(' ');
  return [`query Names(${declared}) { ${fields} }`, Object.fromEntries(ids.map((id, n) => [`id${n}`, id]))];
}

/** The times that a year includes, of all orders and quotes if it is empty. */
export function periodOf(year) {
  const begin = (number) => `${String(number).padStart(4, '0')}-01-01T00:00:00Z`;
  return year === '' ? {} : { from: begin(year), to: begin(Number(year) + 1) };
}

/** The types of events to follow: asking for one without its scope is an error. */
export function typesFor(scopes) {
  const types = {
    orders: ['order.created', 'order.updated', 'order.status_changed', 'order.deleted'],
    quotes: ['quote.created', 'quote.updated', 'quote.status_changed', 'quote.deleted'],
    customers: ['customer.created', 'customer.updated', 'customer.erased', 'customer.deleted'],
  };
  const heard = Object.entries(types).filter(([resource]) => scopes.includes(`${resource}:read`));
  return heard.length === 0 ? [] : [...heard.flatMap(([, names]) => names), 'feed.gap'];
}

/** The parts that an event puts out of date. */
export function partsOf({ type, object, changes }) {
  if (type === 'feed.gap') return ALL;
  return ALL.filter((name) => {
    const { reads, fields } = PARTS[name];
    // no changes are named of what was created or deleted
    return reads === object.type && (changes.length === 0 || changes.some((change) => fields.includes(change)));
  });
}
