import { randomUUID } from 'node:crypto';
import type { mongo } from 'mongoose';
import { stampedWrite } from '../../../src/tenant/openWrites';
import { databaseName } from '../../../src/mongo/databaseNames';
import type { Writer } from '../../../src/tenant/slots';
import { recordKinds, resourceOf } from '../../../src/resources';
import { type ImportRecord, storeRecords } from '../../../src/stored/records';
import { feedReader } from '../../operations/feed';
import { client, type Json } from '../../support/client';
import { makeKey, makeOrganisation, northwind } from '../../support/factories';
import { driver, startGateway } from '../../support/gateway';

const products = resourceOf('products');

/* Who caused an event (docs/decisions/origin.md), read from the database's log. */

interface Row {
  readonly _id: string;
  readonly [member: string]: unknown;
}

const bare = driver();

test('an event says who caused it, whatever was written: a key, a user, an operator, or another program', async () => {
  await using gateway = await startGateway({
    CONTROL_DATABASE: `scopegate_origins_${randomUUID().slice(0, 8)}`,
    EVENTS: 'on',
  });
  const organisation = await makeOrganisation(gateway);
  const { key: value, id } = await makeKey(gateway, organisation);
  const caller = client(gateway, value);
  const data = gateway.databases.organisationData(organisation);
  const shop: mongo.Collection<Row> = bare.db(databaseName(organisation.id)).collection<Row>('products');
  const rename = (name: string) => caller.post('/products/bulk', { products: [{ sku: 'A', name }] });
  const remove = (sku: string, by: Writer) =>
    stampedWrite(data, (session) => data.collection(products).deleteOne({ sku }, { session }), {
      writes: [products],
      by,
    });

  await caller.post('/products/bulk', { products: ['A', 'B', 'C'].map((sku) => ({ sku, name: sku })) });
  // twice the same key, with the same row of open_writes
  await rename('One');
  await rename('Two');
  // with every member that the gateway stored
  const copied = (await shop.findOne({ sku: 'B' }))!;
  await shop.replaceOne({ sku: 'B' }, { ...copied, name: 'Copied' });
  await bare.withSession((session) =>
    session.withTransaction(() => shop.updateOne({ sku: 'A' }, { $set: { name: 'Foreign' } }, { session })),
  );
  await remove('A', 'operator:billing');
  await remove('B', 'user:app:7');
  await shop.deleteOne({ sku: 'C' });
  await caller.post('/requests', { text: 'How long?' }, { 'idempotency-key': 'once' });
  const [record] = northwind('products') as unknown as readonly ImportRecord[];
  await storeRecords(recordKinds[0]!, data, [record!], { by: 'operator' });

  // more changes of one transaction than the log answers at once
  const many = Array.from({ length: 1000 }, (_none, n) => ({ sku: `M-${String(n)}`, name: 'Many' }));
  await caller.post('/products/bulk', { products: many });
  await caller.post('/products/bulk', { products: [{ sku: 'LAST', name: 'Last' }] });
  const { _id: last } = (await shop.findOne({ sku: 'LAST' }))!;

  const isLast = ({ object }: Json): boolean => object?.id === last;
  const events = await feedReader(caller)(isLast);
  const [key, other] = [
    { kind: 'key', id, name: null },
    { kind: 'other', id: null, name: null },
  ];
  expect(events.map(({ type, origin }) => [type, origin])).toEqual([
    ...[1, 2, 3].map(() => ['product.created', key]),
    ...[1, 2].map(() => ['product.updated', key]),
    ...[1, 2].map(() => ['product.updated', other]),
    ['product.deleted', { kind: 'operator', id: null, name: 'billing' }],
    ['product.deleted', { kind: 'user', id: 'app:7', name: null }],
    ['product.deleted', other],
    ...['request.created', 'request.message_added'].map((type) => [type, key]),
    ['product.created', { kind: 'operator', id: null, name: null }],
    ...[...many, last].map(() => ['product.created', key]),
  ]);
  expect((await caller.get('/me')).body.key.id).toBe(id);
  await bare.db(gateway.databases.control.name).dropDatabase();
});
