import { scopegate } from './client';
import { amount } from './money';
import type { paths } from './scopegate';

/*
 * SCOPEGATE_URL=http://127.0.0.1:4000 SCOPEGATE_KEY=svc_live_… npm start
 * The key needs products:read, products:write and orders:read.
 */
const { SCOPEGATE_URL: url = 'http://127.0.0.1:4000', SCOPEGATE_KEY: key = '' } = process.env;
const api = scopegate({ url, key });

type Query = NonNullable<paths['/orders']['get']['parameters']['query']>;

/** All orders that match the filters, page by page; cursors neither skip nor repeat orders. */
async function* orders(filters: Query) {
  for (let cursor: string | undefined; ;) {
    const { data, error } = await api.GET('/orders', { params: { query: { ...filters, limit: 100, cursor } } });
    if (error) throw new Error(`${error.code}: ${error.detail} (request ${error.request_id})`);
    yield* data.data;
    if (data.next_cursor === null) return;
    cursor = data.next_cursor;
  }
}

async function main(): Promise<void> {
  const { data: me, error } = await api.GET('/me');
  if (error) throw new Error(`${error.code}: ${error.detail}`);
  console.log(`key ${me.key.prefix}… of ${me.organisation.name}, ${String(me.rate_limit.remaining)} requests left`);

  // never add two currencies
  const sums = new Map<string, { count: number; total: number }>();
  for await (const { currency, total_minor: total } of orders({ status: ['confirmed', 'dispatched', 'completed'] })) {
    const before = sums.get(currency) ?? { count: 0, total: 0 };
    sums.set(currency, { count: before.count + 1, total: before.total + total });
  }
  for (const [currency, { count, total }] of sums)
    console.log(`${String(count)} orders in ${currency}, ${amount(total, currency)} in total`);

  const written = await api.POST('/products/bulk', {
    body: {
      products: [
        { sku: 'TS-1', name: 'Tour ticket', unit_price_minor: 1250, currency: 'EUR' },
        { sku: 'TS-2', name: 'Guide', active: false },
        { sku: 'TS-3' },
      ],
    },
  });
  if (written.error) throw new Error(`${written.error.code}: ${written.error.detail}`);
  const { created, updated, unchanged, failed, results } = written.data;
  console.log(`products: ${created} created, ${updated} updated, ${unchanged} unchanged, ${failed} failed`);
  for (const { errors } of results) for (const fault of errors) console.log(`  ${fault.pointer}: ${fault.detail}`);
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
