import type { Organisation, Plan } from '../../src/auth/principal';
import type { ImportRecord } from '../../src/stored/records';
import type { Answer } from '../support/client';
import { makeStored, northwind } from '../support/factories';
import type { TestGateway } from '../support/gateway';
import type { Ids } from '../support/operations';
import { RESOURCES } from '../support/resources';

const [order] = northwind('orders') as [ImportRecord];
const [product] = northwind('products') as [ImportRecord];

function named(file: string, id: unknown): ImportRecord {
  return northwind(file).find((row) => row.id === id)!;
}

const quote = named('quotes', order.quote_id);
const customer = named('customers', order.customer_id);
const request = northwind('requests').find((row) => row.customer_id === customer.id)!;

/** The first row of a file, or of the customer if its rows have one. */
function rowOf(list: string): ImportRecord {
  const rows = northwind(list);
  return rows.find((row) => row.customer_id === customer.id) ?? rows[0]!;
}

/** One row of each resource, related to each other: a customer's order from a quote. */
export const IDS: Ids = {
  ...Object.fromEntries(RESOURCES.map(({ list, one }) => [one, rowOf(list).id])),
  product: product.id,
  customer: customer.id,
  quote: quote.id,
  order: order.id,
  request: request.id,
};

const ROWS = {
  ...Object.fromEntries(RESOURCES.map(({ list }) => [list, [rowOf(list)]])),
  products: [product],
  customers: [customer],
  quotes: [quote],
  orders: [order],
  requests: [request],
};

/** Creates an organisation with the rows of {@link IDS}. */
export const makeStocked = (gateway: TestGateway, input: { plan?: Plan } = {}): Promise<Organisation> =>
  makeStored(gateway, ROWS, input);

/** Sent with requests whose answers must be identical. */
export const SAME_ID = { 'x-request-id': 'the-same-id' };

/** What a caller sees of an answer, except the date and the rate limit. */
export function seen({ status, headers, text }: Answer): {
  status: number;
  headers: Record<string, string>;
  text: string;
} {
  const others = [...headers].filter(([name]) => name !== 'date' && !/^(x-)?ratelimit/.test(name));
  return { status, headers: Object.fromEntries(others), text };
}
