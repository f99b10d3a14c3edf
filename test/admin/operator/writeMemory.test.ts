import { request as openRequest } from 'node:http';
import { mongo } from 'mongoose';
import { eventually } from '../../api/http/eventually';
import { metric, served } from '../../support/gateway';
import { SECRET, TOKENS } from './operator';
import { patch, put, writing } from './writing';

/* What operators' writes count of the memory of rows. */

const gateway = served({ ...TOKENS, MAX_BODY_MEMORY: '16', RATE_LIMIT_PER_MINUTE: '1000000' });
afterEach(() => jest.restoreAllMocks());

test('a transaction that runs again counts the rows that it reads once', async () => {
  const { organisation, post, write } = await writing(gateway);
  // alone a request may keep more than the 4 MiB of its token
  const other = openRequest(`${gateway.url}/operator/v1/organisations/${organisation.id}/writes`, {
    method: 'POST',
    headers: { authorization: `Bearer ${SECRET}`, 'content-type': 'application/json' },
  });
  other.on('error', () => undefined);
  other.write(' '.repeat(100_000));
  await eventually(async () => (await metric(gateway, 'scopegate_http_body_bytes')) > 0);
  const metadata = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`k${String(at)}`, '€'.repeat(500)]));
  const skus = ['1', '2', '3', '4', '5', '6', '7', '8'];
  for (const sku of skus) await write([put('product', { sku, name: 'N', metadata })]);
  let attempts = 0;
  const bulkWrite = Reflect.get(mongo.Collection.prototype, 'bulkWrite') as (...args: unknown[]) => Promise<never>;
  jest.spyOn(mongo.Collection.prototype, 'bulkWrite').mockImplementation(function (this: mongo.Collection, ...args) {
    attempts += 1;
    const taken = new mongo.MongoServerError({ message: 'by test', code: 11_000 });
    return attempts < 5 ? Promise.reject(taken) : bulkWrite.apply(this, args);
  });
  const { status, body } = await post({ writes: skus.map((sku) => patch('product', { sku, name: 'M' })) });
  other.destroy();
  expect({ status, updated: body.updated, attempts }).toEqual({ status: 200, updated: 8, attempts: 5 });
});
