import assert from 'node:assert/strict';
import { Scopegate, ScopegateError } from '@scopegate/client';

/* What the client does most, on what proxies change: tags, large headers, large answers, streams. client.py does the same. */

const api = new Scopegate();
const run = String(process.pid);

const orders = [];
for await (const order of api.list('/orders')) orders.push(order);
assert.ok(orders.length > 700, 'every page of a list');
const some = orders.slice(0, 100).map(({ id }) => id);
const { data } = await api.get('/orders', { query: { id: some, limit: 50, include: ['customer'] } });
assert.equal(data.length, 50, 'a list by 100 ids');

const [{ id }] = (await api.get('/products', { query: { limit: 1 } })).data;
const path = { id };
let { etag } = await api.read('/products/{id}', { path });
const first = etag;
for (const name of ['one', 'two', 'three']) {
  await api.patch('/products/{id}', { path, body: { name: `${name} ${run}` }, ifMatch: etag });
  ({ etag } = await api.read('/products/{id}', { path }));
}
const stale = api.patch('/products/{id}', { path, body: { name: 'late' }, ifMatch: first });
await assert.rejects(stale, (error) => error instanceof ScopegateError && error.code === 'precondition_failed');
const headers = { authorization: `Bearer ${process.env.SCOPEGATE_KEY}`, 'if-none-match': etag };
const unchanged = await fetch(`${process.env.SCOPEGATE_URL}/api/v1/products/${id}`, { headers });
assert.equal(unchanged.status, 304, 'a read of what is unchanged');

const description = 'lorem ipsum '.repeat(40);
// inactive, as the catalogue does not have them
const products = Array.from({ length: 500 }, (_, at) => ({
  sku: `${run}-${at}`,
  name: 'Bulk',
  description,
  active: false,
}));
for (const created of [500, 500]) {
  const report = await api.post('/products/bulk', { body: { products }, idempotencyKey: `bulk-${run}` });
  assert.equal(report.created, created, 'a bulk call, and its repetition');
}
const found = await api.graphql('{ orders(limit: 100) { data { id number total_minor customer { name } } } }');
assert.equal(found.orders.data.length, 100, 'a query');

const { next_cursor: after } = await api.get('/events', { query: { after: 'now' } });
const late = setTimeout(() => assert.fail('an event was not streamed within 10 s'), 10_000);
// once the stream is open
setTimeout(() => void api.patch('/products/{id}', { path, body: { name: `streamed ${run}` } }), 1000);
// the bulk call's events may come first
for await (const { object } of api.events({ after, types: ['product.updated'] })) if (object?.id === id) break;
clearTimeout(late);
