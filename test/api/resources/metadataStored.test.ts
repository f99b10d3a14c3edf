import { randomUUID } from 'node:crypto';
import { changedMembers } from '../../../src/events/tail/changes';
import { collections, recordKinds, resourceOf } from '../../../src/resources';
import { eraseCustomer } from '../../../src/resources/eraseCustomer';
import { published } from '../../../src/schema/model';
import { TOKENS } from '../../admin/operator/operator';
import { LEAST, patch, put, remove, writing } from '../../admin/operator/writing';
import type { Client, Json } from '../../support/client';
import { ask, refusal } from '../../support/faces';
import { callerOf, makeOrganisation, store } from '../../support/factories';
import { late, served } from '../../support/gateway';
import { ALL_FACES, FACES, GRAPHQL, REST } from '../../support/operations';

/* Metadata as it is stored by other programs, operators, files and erasure. */

const gateway = served({ ...TOKENS, RATE_LIMIT_PER_MINUTE: '1000000' });
const organisation = late(() => makeOrganisation(gateway));
const caller = late(() => callerOf(gateway, organisation));
const data = () => gateway.databases.organisationData(organisation);

const many = (count: number): Json =>
  Object.fromEntries(Array.from({ length: count }, (_none, at) => [`k${String(at)}`, 'v']));

let made = 0;
async function newProduct(): Promise<string> {
  const products = [{ sku: `S-${String((made += 1))}`, name: 'Bolt' }];
  return (await ask(REST, caller, 'upsert_products', { products })).results[0].id as string;
}

describe('rows of other programs', () => {
  const insert = async (metadata: unknown): Promise<string> => {
    const id = await newProduct();
    const rows = data().database.collection('products');
    await rows.updateOne({ _id: id } as never, { $set: { metadata } }, { bypassDocumentValidation: true });
    return id;
  };

  test.each([[null], [[]]])('%j is no metadata', async (stored) => {
    const id = await insert(stored);
    for (const face of ALL_FACES) expect((await ask(face, caller, 'product', { id })).metadata).toEqual({});
  });

  test('of too many pairs some can be removed, and none added', async () => {
    const stored = Object.entries(many(53)).map(([key, value]) => ({ key, value }));
    const id = await insert(stored);
    // not by REST, whose document has no answer with so many
    const tell = (operation: string, args: Json) => ask(GRAPHQL, caller, operation, args);
    await tell('update_product', { id, metadata: { k0: null, k1: 'w' } });
    const { sku } = await tell('product', { id });
    const { results } = await tell('upsert_products', { products: [{ sku, metadata: { k1: null } }] });
    expect(results).toMatchObject([{ outcome: 'updated' }]);
    const refused = await refusal(GRAPHQL, caller, 'update_product', { id, metadata: { k2: 'v', more: 'v' } });
    expect([refused.status, refused.errors[0].pointer]).toEqual([422, '/metadata']);
    expect(Object.keys((await tell('product', { id })).metadata as object)).toHaveLength(51);
  });

  test.each([
    [
      'a key twice',
      [
        { key: 'a', value: '1' },
        { key: 'a', value: '2' },
      ],
      '/metadata/1/key',
    ],
    ['a key of another form', [{ key: '$a', value: '1' }], '/metadata/0/key'],
    ['an object', { a: '1' }, '/metadata'],
    ['a pair without a value', [{ key: 'a' }], '/metadata/0/value'],
  ])('%s is named, and left out of lists', async (_what, stored, pointer) => {
    const id = await insert(stored);
    for (const face of FACES) {
      const refused = await refusal(face, caller, 'product', { id });
      expect([refused.status, refused.errors[0].pointer]).toEqual([500, pointer]);
      expect((await ask(face, caller, 'products', { id: [id] })).data).toEqual([]);
    }
    await data()
      .database.collection('products')
      .deleteOne({ _id: id } as never);
  });

  test('what is no pair is gone once a change of the metadata is stored', async () => {
    const id = await insert([null, { key: 'a', value: 1 }, { key: 'b', value: { toString: 1 } }]);
    const { metadata } = await ask(REST, caller, 'update_product', { id, metadata: { c: 'v' } });
    expect(metadata).toEqual({ a: '1', c: 'v' });
  });
});

test.each<[unknown]>([[[{ key: { toString: 1 }, value: 'x' }]], [[{ key: 'a', value: { toString: 1 } }]], [[null]]])(
  '%j of another program fails what patches its object, and nothing else',
  async (metadata) => {
    const { write, database } = await writing(gateway);
    await write([put('product', { sku: 'S', name: 'N' })]);
    await database.collection('products').updateOne({}, { $set: { metadata } }, { bypassDocumentValidation: true });
    const { results } = await write([
      patch('product', { sku: 'S', name: 'M' }),
      put('product', { sku: 'T', name: 'N' }),
      put('product', { sku: 'S', name: 'M' }),
    ]);
    expect(results.map(({ outcome }: Json) => outcome)).toEqual(['failed', 'created', 'updated']);
    expect(results[0].errors.map(({ pointer }: Json) => pointer)).toEqual(['/writes/0/patch/metadata']);
  },
);

describe.each(Object.entries(LEAST))('the feed writes metadata of a %s:', (type, members) => {
  const ref = { external_ref: 'meta-1' };

  test('a put replaces, a patch merges, and both are read back', async () => {
    const { outcomes, row, organisation: own } = await writing(gateway);
    const collection = [...published.collections.values()].find(({ object }) => object === type)!.collection;
    const reader: Client = await callerOf(gateway, own);
    const now = async (): Promise<Json> =>
      (await ask(REST, reader, type, { id: (await row(collection, 'meta-1'))._id })).metadata;
    expect(await outcomes(put(type, { ...members, ...ref, metadata: { a: '1', customer_id: 'ABC' } }))).toEqual([
      'created',
    ]);
    expect(await now()).toEqual({ a: '1', customer_id: 'ABC' });
    expect(await outcomes(patch(type, { ...ref, metadata: { a: null, b: '2' } }))).toEqual(['updated']);
    expect(await now()).toEqual({ b: '2', customer_id: 'ABC' });
    expect(await outcomes(patch(type, { ...ref, metadata: {} }))).toEqual(['unchanged']);
    expect(await outcomes(put(type, { ...members, ...ref, metadata: { c: '3' } }))).toEqual(['updated']);
    expect(await now()).toEqual({ c: '3' });
    expect(
      await outcomes(
        patch(type, { ...ref, metadata: many(50) }),
        patch(type, { ...ref, metadata: many(51) }),
        // also where all of them would be removed
        patch(type, {
          ...ref,
          metadata: Object.fromEntries(Object.keys(many(51) as object).map((key) => [key, null])),
        }),
        put(type, { ...members, ...ref, metadata: many(51) }),
        patch(type, { ...ref, metadata: { 'a b': '1' } }),
        patch(type, { ...ref, metadata: { 'a b': null } }),
        patch(type, { ...ref, metadata: { a: 1 } }),
        patch(type, { ...ref, metadata: [] }),
      ),
    ).toEqual([
      ...['failed length', 'failed length', 'failed length', 'failed length', 'failed format'],
      ...['failed required format', 'failed type', 'failed type'],
    ]);
    expect(await now()).toEqual({ c: '3' });
    expect(await outcomes(patch(type, { ...ref, metadata: null }))).toEqual(['updated']);
    expect(await row(collection, 'meta-1')).not.toHaveProperty('metadata');
    expect(await outcomes(put(type, { ...members, ...ref }))).toEqual(['unchanged']);
    expect(await outcomes(remove(type, ref))).toEqual(['deleted']);
  });
});

test('an export has it, an import replaces it, and a file from before needs none', async () => {
  const own = await makeOrganisation(gateway);
  const [kind] = recordKinds;
  const of = gateway.databases.organisationData(own);
  const sample = { ...LEAST.product, name: 'Bolt', description: null, category: null, uom: 'each', currency: 'EUR' };
  const times = { created_at: '2026-01-01T00:00:00.000Z', updated_at: '2026-01-01T00:00:00.000Z' };
  const record: Json = {
    id: randomUUID(),
    ...sample,
    unit_price_minor: 1,
    vat_exempt: true,
    lead_time_days: null,
    active: true,
    ...times,
  };
  const exported = async (): Promise<Json[]> => {
    const records: Json[] = [];
    for await (const one of kind!.read(of)) {
      expect(kind!.faultIn(one)).toBeUndefined();
      records.push(JSON.parse(JSON.stringify(one)));
    }
    return records;
  };
  for (const given of [record, { ...record, metadata: { 'a.b': '1', ['__proto__']: '2' } }, record]) {
    await store(gateway, own, { products: [given] });
    expect(await exported()).toEqual([given]);
  }
});

test('erasing a customer empties it, and that of its requests, quotes and orders', async () => {
  const { outcomes, row, rows, organisation: own } = await writing(gateway);
  const metadata = { who: 'Ann' };
  const of = { customer_ref: 'c-1', metadata };
  const parts = Object.entries(LEAST).filter(([type]) => type !== 'product' && type !== 'customer');
  await outcomes(put('customer', { ...LEAST.customer, metadata }));
  await outcomes(
    ...parts.map(([type, members]) => put(type, { ...members, ...of })),
    put('product', { ...LEAST.product, metadata }),
  );
  const customer = await row('customers', 'c-1');
  const erasure = { by: 'operator', signal: new AbortController().signal } as const;
  const counts = await eraseCustomer(gateway.databases.organisationData(own), customer._id as string, erasure);
  expect(counts).toMatchObject({ customers: 1, requests: 1, quotes: 1, orders: 1 });
  for (const collection of ['customers', 'requests', 'quotes', 'orders']) {
    const [{ metadata: left = null }] = (await rows(collection)) as [Json];
    expect([collection, left]).toEqual([collection, null]);
  }
  expect((await rows('products'))[0].metadata).toEqual([{ key: 'who', value: 'Ann' }]);
  const again = await eraseCustomer(gateway.databases.organisationData(own), customer._id as string, erasure);
  expect(Object.values(again).every((count) => count === 0)).toBe(true);
});

test('events name it among the changes', () => {
  const paths = ['metadata.0.value', 'updated_at'];
  const found = published.collections.get('products')!;
  expect(changedMembers({ paths } as never, found)).toEqual(['metadata', 'updated_at']);
});

test('every type with a list filters by it, through an index that only rows with metadata are in', () => {
  const listed = collections.filter(({ stored }) => published.rootField(stored.collection));
  expect(listed.map(({ mostPairs }) => mostPairs)).toEqual(listed.map(() => 50));
  for (const { indexes, name } of listed) {
    const index = indexes.find(({ options }) => options?.name === 'metadata');
    expect([name, index?.options?.partialFilterExpression]).toEqual([name, { metadata: { $exists: true } }]);
  }
  expect(resourceOf('messages').mostPairs).toBe(0);
});
