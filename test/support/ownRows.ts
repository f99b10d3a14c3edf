import type { ImportRecord } from '../../src/stored/records';

/* Rows of the folder that `scopegate schema init` writes, for the suites that run on it as well (jest.config.js, project own). */

export const HAS_OWN_SCHEMA = process.env.SCHEMA_DIR !== undefined;

const STATUSES = ['open', 'paid', 'void'];
const TERM = 30 * 24 * 60 * 60 * 1000;

const INVOICES = 120;

/** An invoice for each of Northwind's first orders. */
export function invoicesFor(orders: readonly ImportRecord[]): ImportRecord[] {
  return orders
    .slice(0, INVOICES)
    .map(({ id, number, currency, total_minor, customer_id, placed_at, created_at, updated_at }, at) => ({
      // the order's id with another version
      id: id.replace(/-5/, '-4'),
      number: String(number).replace('SO', 'INV'),
      status: STATUSES[at % STATUSES.length],
      currency,
      total_minor,
      customer_id,
      created_at,
      updated_at,
      due_on: at % 5 === 0 ? null : new Date(Date.parse(String(placed_at)) + TERM).toISOString().slice(0, 10),
    })) as ImportRecord[];
}

/** Quotes with what the folder adds to them. */
export function withProjects(quotes: ImportRecord[]): ImportRecord[] {
  if (!HAS_OWN_SCHEMA) return quotes;
  return quotes.map((quote, at) => ({ ...quote, project_code: at % 4 === 0 ? null : `P-${String(at % 4)}` }));
}

/** Members that a row of the API has beside those of its record; undefined for resources of the contract. */
export function addedMembers(record: ImportRecord): object | undefined {
  if ('due_on' in record) return {};
  return HAS_OWN_SCHEMA && 'valid_until' in record
    ? { external_ref: null, metadata: {}, project_code: null }
    : undefined;
}
