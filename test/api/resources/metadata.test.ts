import { entityTag } from '../../../src/schema/entityTags';
import { METADATA_KEY, metadataValue } from '../../../src/schema/metadata';
import { published } from '../../../src/schema/model';
import { patternOf } from '../../../src/schema/storedTypes';
import type { Json } from '../../support/client';
import { ask, query, refusal } from '../../support/faces';
import { callerOf, makeOrganisation } from '../../support/factories';
import { late, served } from '../../support/gateway';
import { ALL_FACES, GRAPHQL, MCP, REST } from '../../support/operations';

/* Metadata of objects (docs/decisions/metadata.md). */

const gateway = served({ RATE_LIMIT_PER_MINUTE: '1000000' });
const organisation = late(() => makeOrganisation(gateway));
const caller = late(() => callerOf(gateway, organisation));
const data = () => gateway.databases.organisationData(organisation);

/** Keys that mean something to JavaScript, to MongoDB or to the gateway, if they are more than texts. */
const ODD = Object.fromEntries(
  ['__proto__', 'constructor', 'a.b.0', '10', '2', 'id', 'customer_id', 'search', 'toString'].map((key) => [
    key,
    `A ${key} $gt`,
  ]),
);
const many = (count: number, from = 0): Json =>
  Object.fromEntries(Array.from({ length: count }, (_none, at) => [`k${String(from + at)}`, 'v']));

let made = 0;
async function newProduct(metadata?: Json): Promise<string> {
  const sku = `M-${String((made += 1))}`;
  const { results } = await ask(REST, caller, 'upsert_products', {
    products: [{ sku, name: 'Bolt', ...(metadata !== undefined && { metadata }) }],
  });
  return results[0].id as string;
}
const rowOf = (id: string, collection = 'products'): Promise<Json> =>
  data()
    .database.collection(collection)
    .findOne({ _id: id } as never);
const shown = async (id: string): Promise<Json> => (await ask(REST, caller, 'product', { id })).metadata;

test('the form of a key is that of the SDL', () => {
  const key = published.fieldsOf('MetadataPair').find(({ name }) => name.value === 'key');
  expect(METADATA_KEY.source).toBe(patternOf(key)?.source);
});

describe.each(ALL_FACES)('over $name', (face) => {
  test('a change sets the keys it has, null removes one or all, and nothing changes nothing', async () => {
    const id = await newProduct({ a: '1', b: '2' });
    const change = (metadata: unknown): Promise<Json> => ask(face, caller, 'update_product', { id, metadata });
    expect((await change({ b: '3', c: '4' })).metadata).toEqual({ a: '1', b: '3', c: '4' });
    expect((await change({ a: null, nothing: null })).metadata).toEqual({ b: '3', c: '4' });
    const before = await rowOf(id);
    expect(before.metadata).toEqual([
      { key: 'b', value: '3' },
      { key: 'c', value: '4' },
    ]);
    for (const same of [{}, { b: '3' }, { nothing: null }]) await change(same);
    expect(await rowOf(id)).toEqual(before);
    // over MCP null leaves an argument out
    await ask(face === MCP ? REST : face, caller, 'update_product', { id, metadata: null });
    expect(await rowOf(id)).not.toHaveProperty('metadata');
    expect(await shown(id)).toEqual({});
  });

  test('any key is a text, in reads and in filters', async () => {
    const id = await newProduct();
    await ask(face, caller, 'update_product', { id, metadata: ODD });
    const read = (await ask(face, caller, 'product', { id })).metadata;
    expect(Object.entries(read as object).sort()).toEqual(Object.entries(ODD).sort());
    for (const [key, value] of Object.entries(ODD)) {
      const { data: rows } = await ask(face, caller, 'products', { metadata: [`${key}:${value}`, '10:A 10 $gt'] });
      expect(rows.map((row: Json) => row.id)).toEqual([id]);
    }
    expect((await ask(face, caller, 'products', { metadata: ['10:A 10 $gt', '2:other'] })).data).toEqual([]);
    expect(Object.getOwnPropertyNames(Object.prototype)).not.toContain('polluted');
    await ask(face, caller, 'update_product', { id, metadata: null });
  });

  const inForm = (pointer: string, at: number): string =>
    face === GRAPHQL ? pointer.replace(/\/metadata\/(.+)$/, `/metadata/${String(at)}/value`) : pointer;
  test.each<[string, unknown, string, string]>([
    ['a long value', { a: '1', b: 'x'.repeat(501) }, '/metadata/b', 'length'],
    ['an empty value', { a: '1', b: '' }, '/metadata/b', 'length'],
    ['a broken value', { a: '1', b: 'x\u0000' }, '/metadata/b', 'format'],
  ])('%s is refused, in a change and in an element', async (_what, metadata, pointer, code) => {
    const id = await newProduct({ kept: '1' });
    const at = inForm(pointer, 1);
    const refused = await refusal(face, caller, 'update_product', { id, metadata });
    expect([refused.status, refused.errors]).toEqual([422, [expect.objectContaining({ pointer: at, code })]]);
    const { results } = await ask(face, caller, 'upsert_products', {
      products: [{ sku: `F-${face.name}`, name: 'N', metadata }],
    });
    const errors: Json[] = results[0].errors;
    expect(errors).toEqual([expect.objectContaining({ pointer: `/products/0${at}`, code })]);
    expect(await shown(id)).toEqual({ kept: '1' });
  });

  test('more than 50 pairs are refused as sent, and as stored', async () => {
    const id = await newProduct(many(50));
    for (const metadata of [many(51), many(1, 50)]) {
      const refused = await refusal(face, caller, 'update_product', { id, metadata });
      expect([refused.status, refused.errors]).toEqual([
        422,
        [expect.objectContaining({ pointer: '/metadata', code: 'length' })],
      ]);
    }
    const { sku } = await rowOf(id);
    const { results } = await ask(face, caller, 'upsert_products', { products: [{ sku, metadata: many(1, 50) }] });
    expect(results[0].errors).toEqual([expect.objectContaining({ pointer: '/products/0/metadata', code: 'length' })]);
    await ask(face, caller, 'update_product', { id, metadata: { k0: null, k50: 'v' } });
    expect(Object.keys((await shown(id)) as object)).toHaveLength(50);
  });

  test('an element merges, is unchanged as it was read, and a row without metadata stays without', async () => {
    const id = await newProduct({ a: '1' });
    const { sku } = await rowOf(id);
    const upsert = async (metadata: unknown): Promise<string> =>
      (await ask(face, caller, 'upsert_products', { products: [{ sku, metadata }] })).results[0].outcome as string;
    expect(await upsert({ b: '2' })).toBe('updated');
    expect(await upsert(await shown(id))).toBe('unchanged');
    expect(await upsert({ a: null })).toBe('updated');
    expect(await shown(id)).toEqual({ b: '2' });
    expect(await upsert(null)).toBe('updated');
    expect([await upsert(null), await upsert({})]).toEqual(['unchanged', 'unchanged']);
    expect(await rowOf(id)).not.toHaveProperty('metadata');
    const { results } = await ask(face, caller, 'upsert_products', {
      products: [{ sku: `${sku as string}b`, name: 'N' }],
    });
    expect(await rowOf(results[0].id as string)).not.toHaveProperty('metadata');
  });

  test('a thread is opened with metadata, and changed', async () => {
    const { id } = await ask(face, caller, 'open_request', { text: 'Hello', metadata: { ticket: '7', left: null } });
    expect((await ask(face, caller, 'request', { id })).metadata).toEqual({ ticket: '7' });
    await ask(face, caller, 'update_request', { id, metadata: { ticket: null, queue: 'b' } });
    expect((await ask(face, caller, 'requests', { metadata: ['queue:b'], id: [id] })).data).toHaveLength(1);
    const refused = await refusal(face, caller, 'open_request', { text: 'Hello', metadata: many(51) });
    expect(refused.errors).toEqual([expect.objectContaining({ pointer: '/metadata', code: 'length' })]);
  });

  test('a key that may write but not read is not told it', async () => {
    const id = await newProduct({ secret: '1' });
    const writer = await callerOf(gateway, organisation, { scopes: ['products:write'] });
    const args = { id, metadata: { own: '2' } };
    if (face === GRAPHQL) {
      const refused = await writer.graphql(
        'mutation($id: ID!) { update_product(id: $id, metadata: [{ key: "own", value: "2" }]) { id metadata { key } } }',
        { id },
      );
      expect(refused.body.errors[0].extensions.code).toBe('insufficient_scope');
      return;
    }
    expect(await ask(face, writer, 'update_product', args)).toEqual({ id });
    expect(await shown(id)).toEqual({ secret: '1', own: '2' });
  });

  test.each([
    [['no-colon']],
    [['key:']],
    [['a b:c']],
    [[`${'k'.repeat(41)}:v`]],
    [[`k:${'v'.repeat(501)}`]],
    [['a:1', 'b:2', 'c:3', 'd:4']],
  ])('the filter %j is refused', async (metadata) => {
    expect((await refusal(face, caller, 'products', { metadata })).status).toBe(400);
  });
});

test.each([
  ['{"a b":"1"}', '/metadata/a b', 'format'],
  [`{"${'k'.repeat(41)}":"1"}`, `/metadata/${'k'.repeat(41)}`, 'length'],
  ['{"$where":"1"}', '/metadata/$where', 'format'],
  ['{"a":1}', '/metadata/a', 'type'],
  ['{"a":{"$gt":""}}', '/metadata/a', 'type'],
  ['{"__proto__":{"polluted":true}}', '/metadata/__proto__', 'type'],
  ['["a"]', '/metadata', 'type'],
  ['[{"key":"a","value":"1"}]', '/metadata', 'type'],
])('REST refuses %s, in a change and in an element', async (metadata, pointer, code) => {
  const id = await newProduct();
  const headers = { 'content-type': 'application/json' };
  const { status, body } = await caller.send('PATCH', `/products/${id}`, { body: `{"metadata":${metadata}}`, headers });
  expect([status, body.errors]).toEqual([422, [expect.objectContaining({ pointer, code })]]);
  const products = `{"products":[{"sku":"R","name":"N","metadata":${metadata}}]}`;
  const bulk = await caller.send('POST', '/products/bulk', { body: products, headers });
  expect(bulk.body.results[0].errors).toEqual([expect.objectContaining({ pointer: `/products/0${pointer}`, code })]);
});

test('the value of a key is a text, whatever another program stored beside and in its pair', () => {
  expect(metadataValue([null, { key: 'a', value: {} }, { key: 'a', value: 5 }], 'a')).toBe('5');
  expect(metadataValue([{ key: 'b', value: true }], 'a')).toBeNull();
});

test('GraphQL refuses a key twice and keys of another form', async () => {
  const id = await newProduct();
  const change = async (pairs: Json[]): Promise<Json> => {
    const document = 'mutation($id: ID!, $p: [MetadataChange!]) { update_product(id: $id, metadata: $p) { id } }';
    return (await caller.graphql(document, { id, p: pairs })).body.errors[0].extensions.errors;
  };
  expect(
    await change([
      { key: 'a', value: '1' },
      { key: 'a', value: null },
    ]),
  ).toEqual([expect.objectContaining({ pointer: '/metadata/1/key', code: 'duplicate' })]);
  expect(await change([{ key: '$a', value: '1' }])).toEqual([
    expect.objectContaining({ pointer: '/metadata/0/key', code: 'format' }),
  ]);
});

describe('metadata_value in GraphQL', () => {
  const FIELDS = `one: metadata_value(key: "a.b.0") two: metadata_value(key: "__proto__") none: metadata_value(key: "x")`;
  const EXPECTED = { one: ODD['a.b.0'], two: ODD.__proto__, none: null };

  test('is the value of a key alone or beside the pairs, in a read, a list and the answer to a change', async () => {
    const id = await newProduct(ODD);
    const { product } = await query(caller, `query($id: ID!) { product(id: $id) { ${FIELDS} } }`, { id });
    expect(product).toEqual(EXPECTED);
    const list = `query($id: [ID!]) { products(id: $id) { data { metadata { key } ${FIELDS} } } }`;
    const [row] = (await query(caller, list, { id: [id] })).products.data;
    expect(row).toMatchObject(EXPECTED);
    expect(Object.keys(row.metadata)).toHaveLength(Object.keys(ODD).length);
    const change = `mutation($id: ID!) { update_product(id: $id, active: false) { ${FIELDS} } }`;
    expect((await query(caller, change, { id })).update_product).toEqual(EXPECTED);
    const without = await newProduct();
    expect(
      (await query(caller, `query($id: ID!) { product(id: $id) { ${FIELDS} } }`, { id: without })).product,
    ).toEqual({ one: null, two: null, none: null });
  });

  test('needs the scope to read, and a key of the right form', async () => {
    const id = await newProduct({ secret: '1' });
    const writer = await callerOf(gateway, organisation, { scopes: ['products:write'] });
    const selected = 'metadata_value(key: "secret")';
    const change = `mutation($id: ID!) { update_product(id: $id, metadata: [{ key: "a", value: "2" }]) { ${selected} } }`;
    const refused = await writer.graphql(change, { id });
    expect(refused.body.errors[0].extensions.code).toBe('insufficient_scope');
    for (const key of ['', '$a', 'k'.repeat(41)]) {
      const document = 'query($id: ID!, $key: String!) { product(id: $id) { metadata_value(key: $key) } }';
      const { body } = await caller.graphql(document, { id, key });
      expect(body.errors[0].extensions.code).toBe('invalid_request');
    }
  });
});

describe('the entity tag', () => {
  const tags = async (id: string): Promise<[string | null, string]> => {
    const document = 'query($id: ID!) { product(id: $id) { etag } }';
    return [
      (await caller.get(`/products/${id}`)).headers.get('etag'),
      (await query(caller, document, { id })).product.etag,
    ];
  };

  test('of an object without metadata is that of the version before metadata', async () => {
    const id = await newProduct();
    // nor attachments, which came later
    const { metadata, attachments, ...before } = (await caller.get(`/products/${id}`)).body;
    expect([metadata, attachments]).toEqual([{}, []]);
    const kept = entityTag(JSON.stringify(before));
    expect(await tags(id)).toEqual([kept, kept]);
    const { status, headers } = await caller.patch(`/products/${id}`, { name: 'Nut' }, { 'if-match': kept });
    expect([status, headers.get('etag')]).toEqual([200, (await tags(id))[1]]);
  });

  test('changes with metadata, and is the same in each API', async () => {
    const id = await newProduct();
    const [none] = await tags(id);
    await ask(REST, caller, 'update_product', { id, metadata: ODD });
    const [rest, graphql] = await tags(id);
    expect(rest).toBe(graphql);
    expect(rest).not.toBe(none);
    await ask(REST, caller, 'update_product', { id, metadata: { '2': 'other' } });
    expect((await tags(id))[0]).not.toBe(rest);
  });
});
