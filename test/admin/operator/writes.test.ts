import { randomUUID } from 'node:crypto';
import { published } from '../../../src/schema/model';
import type { Json } from '../../support/client';
import { callerOf } from '../../support/factories';
import { served } from '../../support/gateway';
import { TOKENS } from './operator';
import { LEAST, LINE, ORDER, patch, put, QUOTE, remove, writing } from './writing';

const gateway = served({ ...TOKENS, RATE_LIMIT_PER_MINUTE: '1000000' });
const start = () => writing(gateway);

describe.each(Object.entries(LEAST))('a %s', (type, members) => {
  const collection = [...published.collections.values()].find(({ object }) => object === type)!.collection;
  const ref = { external_ref: 'r-1' };

  test('is created, unchanged when put again, changed by a patch, and deleted', async () => {
    const { outcomes, rows } = await start();
    const name = type === 'customer' ? 'name' : type === 'request' ? 'subject' : 'external_ref';
    expect(await outcomes(put(type, { ...members, ...ref }))).toEqual(['created']);
    const [made] = await rows(collection);
    expect(await outcomes(put(type, { ...members, ...ref }))).toEqual(['unchanged']);
    expect(await rows(collection)).toEqual([made]);
    expect(await outcomes(patch(type, { id: made._id, [name]: 'other' }))).toEqual(['updated']);
    const [changed] = await rows(collection);
    expect(changed).toMatchObject({ ...made, [name]: 'other', updated_at: changed.updated_at, search: changed.search });
    expect(changed.updated_at.getTime()).toBeGreaterThanOrEqual(made.updated_at.getTime());
    expect(await outcomes(remove(type, { id: made._id }))).toEqual(['deleted']);
    expect(await outcomes(remove(type, { id: made._id }))).toEqual(['unchanged']);
    expect(await rows(collection)).toEqual([]);
  });

  test('is what the API shows, and can be put back as it was read', async () => {
    const { organisation, outcomes } = await start();
    await outcomes(put(type, { ...members, ...ref }));
    const caller = await callerOf(gateway, organisation);
    const { body } = await caller.get(`/${collection}?external_ref=r-1`);
    const { body: whole } = await caller.get(`/${collection}/${String(body.data[0].id)}`);
    expect(whole).toMatchObject({ ...members, ...ref, ...(members.lines && { lines: [{ ...LINE, position: 0 }] }) });
    expect(await outcomes(put(type, whole))).toEqual(['unchanged']);
  });
});

test('references are named by external_ref or id, must exist, and a part stays with its object', async () => {
  const { write, row } = await start();
  const { results } = await write([
    put('customer', { external_ref: 'c-7', name: 'Ann' }),
    put('quote', { ...QUOTE, external_ref: 'q-1', customer_ref: 'c-7' }),
    put('order', { ...ORDER, external_ref: 'o-1', quote_ref: 'q-1', customer_ref: null }),
    put('order', { ...ORDER, number: 'O-2', customer_ref: 'c-8' }),
    put('order', { ...ORDER, number: 'O-3', customer_id: randomUUID() }),
    put('order', { ...ORDER, number: 'O-4', customer_ref: 'c-7', customer_id: randomUUID() }),
    put('order', { ...ORDER, number: 'O-5', customer_ref: 7 }),
    put('message', { external_ref: 'm-1', author: 'customer', body: 'x' }),
  ]);
  expect(
    results.map(({ outcome, errors }: Json) => [
      outcome,
      ...errors.map((error: Json) => `${String(error.code)} ${String(error.pointer)}`),
    ]),
  ).toEqual([
    ['created'],
    ['created'],
    ['created'],
    ['failed', 'not_found /writes/3/put/customer_ref'],
    ['failed', 'not_found /writes/4/put/customer_id'],
    ['failed', 'not_allowed /writes/5/put/customer_ref'],
    ['failed', 'type /writes/6/put/customer_ref'],
    ['failed', 'required /writes/7/put/request_id'],
  ]);
  const [customer, quote, order] = [
    await row('customers', 'c-7'),
    await row('quotes', 'q-1'),
    await row('orders', 'o-1'),
  ];
  expect([quote.customer_id, order.quote_id, order.customer_id]).toEqual([customer._id, quote._id, null]);
  // a null beside the other is as if left out, in either order; a member is cleared if there is nothing but null
  const customerOf = async (members: Json): Promise<unknown> => {
    await write([patch('order', { external_ref: 'o-1', ...members })]);
    return (await row('orders', 'o-1')).customer_id;
  };
  expect(await customerOf({ customer_id: customer._id, customer_ref: null })).toBe(customer._id);
  expect(await customerOf({ customer_id: null, customer_ref: null })).toBeNull();
  expect(await customerOf({ customer_ref: 'c-7', customer_id: null })).toBe(customer._id);
  expect(await customerOf({ customer_ref: null })).toBeNull();
  const threads = ['t-1', 't-2'].map((ref) => put('request', { external_ref: ref, subject: 'x' }));
  const message = { external_ref: 'm-1', request_id: null, request_ref: 't-1', author: 'customer', body: 'x' };
  await write([...threads, put('message', message)]);
  const moved = await write([put('message', { ...message, request_ref: 't-2' })]);
  expect(moved.results[0].errors).toMatchObject([{ code: 'conflict', pointer: '/writes/0/put/request_id' }]);
});

test('an older version is stale, of deleted objects too, by whichever name', async () => {
  const { organisation, outcomes, row, rows } = await start();
  const quote = (status: string, version?: number) => put('quote', { ...QUOTE, external_ref: 'q-1', status }, version);
  expect(await outcomes(quote('draft', 5), quote('withdrawn', 4), quote('withdrawn', 5))).toEqual([
    'created',
    'stale',
    'updated',
  ]);
  expect(await outcomes(quote('withdrawn', 9), quote('draft', 8))).toEqual(['unchanged', 'stale']);
  expect(await outcomes(patch('quote', { external_ref: 'q-1', status: 'draft' }, 7))).toEqual(['stale']);
  expect(await outcomes(quote('draft'))).toEqual(['updated']);
  expect(await outcomes(remove('quote', { external_ref: 'q-1' }, 8))).toEqual(['stale']);
  expect((await row('quotes', 'q-1')).status).toBe('draft');
  const { _id: id } = await row('quotes', 'q-1');
  const wrote = jest.spyOn(gateway.databases.organisationData(organisation), 'wrote');
  const versions = (await rows('write_versions')).length;
  expect(await outcomes(remove('quote', { external_ref: 'q-1' }, 10))).toEqual(['deleted']);
  // so that the collection gets its indexes in time
  const [, most = 0] = wrote.mock.lastCall ?? [];
  expect((await rows('write_versions')).length - versions).toBeLessThanOrEqual(most);
  expect(await outcomes(quote('draft', 9))).toEqual(['stale']);
  expect(await outcomes(put('quote', QUOTE, 9), put('quote', { ...QUOTE, id }, 9))).toEqual(['stale', 'stale']);
  expect(await rows('quotes')).toEqual([]);
  expect(await outcomes(quote('draft', 10))).toEqual(['created']);
  // what is deleted before it was ever seen
  expect(
    await outcomes(
      remove('product', { external_ref: 'p-1' }, 3),
      put('product', { external_ref: 'p-1', sku: 'S', name: 'N' }, 2),
    ),
  ).toEqual(['unchanged', 'stale']);
  // by a name that an element of the same call has given it
  const { _id: newId } = await row('quotes', 'q-1');
  expect(
    await outcomes(
      patch('quote', { id: newId, external_ref: 'q-2' }),
      put('quote', { ...QUOTE, external_ref: 'q-2', status: 'withdrawn' }, 9),
      patch('quote', { id: newId, external_ref: 'q-1' }),
    ),
  ).toEqual(['updated', 'stale', 'updated']);
  // a deletion without a version keeps the one that the object had
  expect(await outcomes(remove('quote', { external_ref: 'q-1' }), quote('draft', 9))).toEqual(['deleted', 'stale']);
});

test('elements of one object are applied in order, also where they hand on a unique value', async () => {
  const { outcomes, rows, write } = await start();
  const product = (external_ref: string, sku: string) => put('product', { external_ref, sku, name: external_ref });
  expect(await outcomes(product('a', '1'), product('b', '2'))).toEqual(['created', 'created']);
  expect(
    await outcomes(
      patch('product', { external_ref: 'a', sku: '3' }),
      patch('product', { external_ref: 'b', sku: '1' }),
      patch('product', { external_ref: 'a', sku: '2' }),
      patch('product', { external_ref: 'b', name: 'B' }),
      product('c', '1'),
    ),
  ).toEqual(['updated', 'updated', 'updated', 'updated', 'failed conflict']);
  expect(await outcomes(product('d', '7'))).toEqual(['created']);
  expect(
    await outcomes(
      remove('product', { sku: '7' }),
      product('c', '7'),
      patch('product', { external_ref: 'c', name: 'C' }),
    ),
  ).toEqual(['deleted', 'created', 'updated']);
  const all = (await rows('products')).map(({ external_ref, sku, name }) => [external_ref, sku, name]).sort();
  expect(all).toEqual([
    ['a', '2', 'a'],
    ['b', '1', 'B'],
    ['c', '7', 'C'],
  ]);
  expect(await outcomes(product('d', '4'), remove('product', { external_ref: 'd' }))).toEqual(['created', 'deleted']);
  const dry = await write(
    [
      product('e', '5'),
      patch('product', { external_ref: 'e', name: 'E' }),
      remove('product', { sku: '2' }),
      product('f', '2'),
    ],
    { dry_run: true },
  );
  expect(dry.results.map(({ outcome, id }: Json) => [outcome, id === null])).toEqual([
    ['created', true],
    ['updated', false],
    ['deleted', false],
    ['created', true],
  ]);
  expect(await rows('products')).toHaveLength(3);
});

test('a name that is new adopts the object with the unique member, unless that has another name', async () => {
  const { outcomes, rows } = await start();
  await outcomes(put('product', { sku: 'S', name: 'N' }));
  expect(await outcomes(put('product', { external_ref: 'p-1', sku: 'S', name: 'N' }))).toEqual(['updated']);
  expect(await outcomes(put('product', { external_ref: 'p-2', sku: 'S', name: 'N' }))).toEqual(['failed conflict']);
  expect(await outcomes(patch('product', { external_ref: 'p-3', sku: 'S', name: 'N' }))).toEqual(['failed not_found']);
  expect(await rows('products')).toMatchObject([{ external_ref: 'p-1' }]);
});

test('one contact at most is primary, put or patched; one with two of another program can be changed otherwise', async () => {
  const { write, outcomes, rows, database } = await start();
  const [ann, bob] = ['Ann', 'Bob'].map((name) => ({ id: randomUUID(), name, primary: true }));
  const customer = { ...LEAST.customer, external_ref: 'c-1' };
  const { results } = await write([
    put('customer', { ...customer, contacts: [ann, bob] }),
    put('customer', { ...customer, contacts: [ann] }),
    patch('customer', { external_ref: 'c-1', contacts: [ann, bob] }),
  ]);
  expect(results.map(({ errors }: Json) => errors.map(({ pointer, code }: Json) => [pointer, code]))).toEqual([
    [['/writes/0/put/contacts/1/primary', 'duplicate']],
    [],
    [['/writes/2/patch/contacts/1/primary', 'duplicate']],
  ]);
  const [row] = await rows('customers');
  await database
    .collection('customers')
    .updateOne({ _id: row._id }, { $set: { 'contacts.1': { ...row.contacts[0], id: bob!.id } } });
  expect(await outcomes(patch('customer', { external_ref: 'c-1', name: 'Other' }))).toEqual(['updated']);
});

test('two parts of an object have different ids, put or patched; the second one has the fault', async () => {
  const { write, rows } = await start();
  const id = '0c8b4d6a-6f1e-4b63-8d1c-3f6c9f3f6c55';
  const twice = [{ ...LINE, id }, LINE, { ...LINE, id: id.toUpperCase() }];
  const contacts = [
    { id, name: 'Ann', primary: false },
    { id, name: 'Bob', primary: false },
  ];
  const { results } = await write([
    put('quote', { ...QUOTE, lines: twice }),
    put('order', { ...ORDER, lines: [{ ...LINE, id }] }),
    patch('order', { number: ORDER.number, lines: twice }),
    put('customer', { ...LEAST.customer, contacts }),
  ]);
  expect(results.map(({ errors }: Json) => errors)).toEqual([
    [{ pointer: '/writes/0/put/lines/2/id', code: 'duplicate', detail: 'is that of an earlier quote line' }],
    [],
    [{ pointer: '/writes/2/patch/lines/2/id', code: 'duplicate', detail: 'is that of an earlier order line' }],
    [{ pointer: '/writes/3/put/contacts/1/id', code: 'duplicate', detail: 'is that of an earlier contact' }],
  ]);
  expect(await rows('quotes')).toEqual([]);
});

test('lines keep their ids by content, then by position', async () => {
  const { outcomes, row } = await start();
  const line = (description: string, more: object = {}) => ({ ...LINE, description, ...more });
  const quote = (...lines: object[]) => put('quote', { ...QUOTE, external_ref: 'q', lines });
  const idsOf = async () =>
    Object.fromEntries((await row('quotes', 'q')).lines.map((line: Json) => [line.description, line.id]));
  expect(await outcomes(quote(line('a'), line('b'), line('c')))).toEqual(['created']);
  const before = await idsOf();
  expect(await outcomes(quote(line('b'), line('a'), line('d')))).toEqual(['updated']);
  expect(await idsOf()).toEqual({ a: before.a, b: before.b, d: before.c });
  expect((await row('quotes', 'q')).lines.map(({ position }: Json) => position)).toEqual([0, 1, 2]);
  const id = randomUUID();
  expect(await outcomes(quote(line('a', { id: id.toUpperCase() }), line('b')))).toEqual(['updated']);
  expect(await idsOf()).toEqual({ a: id, b: before.b });
  const many = await outcomes(quote(...Array.from({ length: 1001 }, () => line('x'))));
  expect(many).toEqual(['failed length']);
});

test('what is left out becomes null or its default in a put, and is kept in a patch; null clears', async () => {
  const { outcomes, row } = await start();
  const full = { external_ref: 'p', sku: 'S', name: 'N', uom: 'box', category: 'C', active: false, lead_time_days: 3 };
  await outcomes(put('product', { ...full, created_at: '2020-01-01' }));
  await outcomes(patch('product', { external_ref: 'p', uom: null, category: null, description: 'D' }));
  expect(await row('products', 'p')).toMatchObject({ ...full, uom: 'each', category: null, description: 'D' });
  await outcomes(put('product', { external_ref: 'p', sku: 'S', name: 'N' }));
  const after = await row('products', 'p');
  expect(after).toMatchObject({ uom: 'each', currency: 'USD', active: true, lead_time_days: null, description: null });
  expect(after.created_at).toEqual(new Date('2020-01-01'));
  expect(await outcomes(patch('product', { external_ref: 'p', name: null }))).toEqual(['failed required']);
});

test('the gateway sets its own members, whatever is sent', async () => {
  const { outcomes, row } = await start();
  const sent = { updated_at: '2001-01-01T00:00:00.000Z', erased_at: '2001-01-01T00:00:00.000Z' };
  await outcomes(put('customer', { external_ref: 'c', name: 'N', ...sent }));
  const customer = await row('customers', 'c');
  expect(customer.updated_at.getTime()).toBeGreaterThan(Date.now() - 600_000);
  expect(customer.erased_at ?? null).toBeNull();
  await outcomes(put('request', { external_ref: 't', subject: 'S', message_count: 7, last_message_at: '2001-01-01' }));
  const thread = await row('requests', 't');
  expect([thread.message_count, thread.last_message_at]).toEqual([0, thread.created_at]);
});
