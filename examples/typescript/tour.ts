import { formatAmount, Scopegate, ScopegateError } from '@scopegate/client';

/*
 * SCOPEGATE_URL=http://127.0.0.1:4000 SCOPEGATE_KEY=svc_live_… npm start
 * The key needs products:read, products:write and orders:read.
 */
async function main(): Promise<void> {
  const api = new Scopegate();
  const me = await api.get('/me');
  console.log(`key ${me.key.prefix}… of ${me.organisation.name}, ${String(me.rate_limit.remaining)} requests left`);

  // never add two currencies
  const sums = new Map<string, { count: number; total: number }>();
  const orders = api.list('/orders', { query: { status: ['confirmed', 'dispatched', 'completed'] } });
  for await (const { currency, total_minor: total } of orders) {
    const before = sums.get(currency) ?? { count: 0, total: 0 };
    sums.set(currency, { count: before.count + 1, total: before.total + total });
  }
  for (const [currency, { count, total }] of sums)
    console.log(`${String(count)} orders in ${currency}, ${formatAmount(total, currency)} in total`);

  const { created, updated, unchanged, failed, results } = await api.post('/products/bulk', {
    body: {
      products: [
        { sku: 'TS-1', name: 'Tour ticket', unit_price_minor: 1250, currency: 'EUR' },
        { sku: 'TS-2', name: 'Guide', active: false },
        { sku: 'TS-3' },
      ],
    },
  });
  console.log(`products: ${created} created, ${updated} updated, ${unchanged} unchanged, ${failed} failed`);
  for (const { errors } of results) for (const fault of errors) console.log(`  ${fault.pointer}: ${fault.detail}`);
}

main().catch((error: unknown) => {
  const request = error instanceof ScopegateError && error.requestId ? ` (request ${error.requestId})` : '';
  console.error(`${error instanceof Error ? error.message : String(error)}${request}`);
  process.exitCode = 1;
});
