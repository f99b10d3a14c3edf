import type { Json } from '../../support/client';
import { served } from '../../support/gateway';
import { SECRET, TOKENS } from './operator';
import { LEAST, LINE, ORDER, patch, put, QUOTE, remove, writing } from './writing';

/* A sequence of elements has the same results, and leaves the same rows, whichever API it is sent to. */

const gateway = served({ ...TOKENS, RATE_LIMIT_PER_MINUTE: '1000000' });

const WRITES: readonly Json[] = [
  ...Object.entries(LEAST).map(([type, least]) => put(type, { ...least, external_ref: `${type}-1` }, 5)),
  put('message', { external_ref: 'm-1', request_ref: 'request-1', author: 'customer', author_name: 'Ann', body: 'Hi' }),
  put('message', { external_ref: 'm-2', request_ref: 'none', author: 'customer', author_name: 'Ann', body: 'Hi' }),
  put('order', { ...ORDER, number: 'O-2', external_ref: 'order-2', quote_ref: 'quote-1', customer_ref: 'customer-1' }),
  put('order', { ...ORDER, number: 'O-3', customer_ref: 'nobody' }),
  put('product', { sku: 'S-1', name: 'Bolt', external_ref: 'product-1' }),
  put('product', { sku: 'S-1', name: 'Nut', external_ref: 'product-1' }, 4),
  put('product', { sku: 'S-1', name: 'Nut', external_ref: 'other' }),
  patch('quote', { external_ref: 'quote-1', status: 'sent', sent_at: '2026-11-27T09:00:00Z' }, 6),
  patch('quote', { external_ref: 'quote-1', status: 'sold' }),
  patch('quote', { external_ref: 'none', status: 'sent' }),
  patch('quote', { external_ref: 'quote-1', lines: [{ ...LINE, qty: -1 }] }),
  put('quote', { ...QUOTE, number: 'Q-4', total_minor: 99 }),
  put('quote', { ...QUOTE, number: 'Q-5', colour: 'red' }),
  put('quote', {}),
  { type: 'quote' },
  { type: 'invoice', put: {} },
  remove('product', { sku: 'S-1' }, 7),
  remove('product', { sku: 'S-1' }, 7),
  put('product', { sku: 'S-1', name: 'Bolt', external_ref: 'product-1' }, 6),
  remove('customer', { external_ref: 'customer-1', name: 'Ann' }),
];

type Writing = Awaited<ReturnType<typeof writing>>;

const APIS: Record<string, (writes: readonly Json[], to: Writing) => Promise<Json[]>> = {
  REST: async (writes, { write }) => (await write(writes)).results,
  GraphQL: async (writes, { caller, organisation: { id } }) => {
    const query = `mutation ($id: ID!, $writes: [WriteElement!]!) {
      write(id: $id, writes: $writes) { results { index type id external_ref outcome errors { code pointer detail } } } }`;
    return (await caller.graphql(query, { id, writes })).body.data.write.results;
  },
  NDJSON: async (writes, { organisation: { id } }) => {
    const response = await fetch(`${gateway.url}/operator/v1/writes`, {
      method: 'POST',
      headers: { authorization: `Bearer ${SECRET}`, 'content-type': 'application/x-ndjson' },
      body: writes.map((element) => JSON.stringify({ organisation: id, ...element })).join('\n'),
    });
    return (await response.text())
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  },
};

const ID = /[0-9a-f]{8}-[0-9a-f-]{27}/g;
const TIME = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;

/** Without ids and the times of the gateway, which differ; pointers begin at the element. */
const comparable = (value: unknown): Json =>
  JSON.parse(
    JSON.stringify(value)
      .replace(ID, 'an id')
      .replace(TIME, 'a time')
      .replaceAll(/\/writes\/\d+/g, ''),
  );

async function sentTo(api: string): Promise<Json> {
  const to = await writing(gateway);
  const results = await APIS[api]!(WRITES, to);
  const collections = ['products', 'customers', 'quotes', 'orders', 'requests', 'messages'];
  const rows = await Promise.all(collections.map(to.rows));
  return {
    results: comparable(results),
    rows: rows.map((own) => own.map((row) => JSON.stringify(comparable(row))).sort()),
  };
}

test.each(['GraphQL', 'NDJSON'])('%s stores and answers what REST does', async (api) => {
  const [rest, other] = [await sentTo('REST'), await sentTo(api)];
  const outcomes = new Set(rest.results.map(({ outcome }: Json) => outcome));
  expect([...outcomes].sort()).toEqual(['created', 'deleted', 'failed', 'stale', 'unchanged', 'updated']);
  expect(rest.rows.map((rows: Json) => rows.length > 0)).toEqual([false, true, true, true, true, true]);
  expect(other).toEqual(rest);
});
