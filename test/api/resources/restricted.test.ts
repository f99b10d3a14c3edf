import { randomUUID } from 'node:crypto';
import type { Organisation } from '../../../src/auth/principal';
import { events as eventLog } from '../../../src/events/collection';
import type { Change, LoggedChange } from '../../../src/events/tail/changes';
import { createOwners } from '../../../src/events/tail/customers';
import { databaseName } from '../../../src/mongo/databaseNames';
import { AppError } from '../../../src/errors';
import { resourceOf } from '../../../src/resources';
import { webhookDeliveries } from '../../../src/webhooks/deliveries';
import { feedReader } from '../../operations/feed';
import { client, type Client, type Json } from '../../support/client';
import { makeKey, makeOrganisation, northwind, store } from '../../support/factories';
import { subscribe } from '../../support/eventStream';
import { driver, servedBy, startGateway } from '../../support/gateway';
import { startReceiver, stopReceivers } from '../../support/receiver';
import { eventually } from '../http/eventually';
import { ENVIRONMENT, officeOf } from '../webhooks/office';

/* What a key restricted to customers writes, and what it and a webhook endpoint for the same customers are told (that it sees nothing else: test/security/attacks/restricted.test.ts). */

jest.mock('../../../src/async/loop', () => jest.requireActual<object>('../../support/quickLoops'));
jest.mock('../../../src/webhooks/post', () => jest.requireActual<object>('../../support/longPosts'));
jest.mock('../../../src/units', () => jest.requireActual<object>('../../support/longPosts'));

const gateway = servedBy(() =>
  startGateway({ ...ENVIRONMENT, CONTROL_DATABASE: `scopegate_restricted_${randomUUID().slice(0, 8)}`, EVENTS: 'on' }),
);
const bare = driver();

const AS_TEXT = { 'content-type': 'text/plain', 'content-disposition': 'attachment; filename="note.txt"' };

/** Objects whose customer a tail remembers: fewer than one batch is of. */
const FEW = 1;

interface Row {
  readonly _id: string;
  readonly [member: string]: unknown;
}

/** An organisation with two customers, a key for everything, and one for the first customer. */
async function newScene() {
  const organisation = await makeOrganisation(gateway);
  const whole = client(gateway, (await makeKey(gateway, organisation)).key);
  const created = await whole.post('/customers/bulk', {
    customers: ['MINE', 'THEIRS'].map((external_ref) => ({ external_ref, name: external_ref })),
  });
  const [mine, theirs] = created.body.results.map(({ id }: Json) => id as string) as [string, string];
  const { key } = await makeKey(gateway, organisation, { customerIds: [mine] });
  return { organisation, whole, mine, theirs, key, restricted: client(gateway, key) };
}

/** Without what happened before there could be an endpoint, by id. */
const later = (events: readonly Json[]): Json[] =>
  events.filter(({ type }) => type !== 'customer.created').sort((one, other) => (one.id < other.id ? -1 : 1));

/** Makes a webhook endpoint for a customer. Resolves with the function that expects it to be sent these events, each once, and no others. */
async function newEndpoint(organisation: Organisation, customer: string) {
  const { url, arrived } = await startReceiver();
  const { admin } = await officeOf(gateway, organisation);
  const { endpoint } = await admin('create_webhook', { url, customer_ids: [customer] });
  expect(endpoint.customer_ids).toEqual([customer]);
  return async (events: readonly Json[]): Promise<void> => {
    const sent = (): Json[] => later(arrived.map(({ event }) => event));
    const isDone = async (): Promise<boolean> => (await admin('webhooks')).data[0].lag_seconds === 0;
    await eventually(async () => sent().length >= later(events).length && (await isDone()));
    expect(sent()).toEqual(later(events));
    // what it was sent can be read and sent again, as what another one was
    const { data: deliveries } = await admin('webhook_deliveries', { webhook_id: endpoint.id });
    expect(await admin('resend_event', { webhook_id: endpoint.id, delivery: deliveries[0].id })).toMatchObject({
      ok: true,
    });
    expect(arrived.at(-1)!.id).toBe(deliveries[0].event_id);
  };
}
afterAll(stopReceivers);

const open = async (caller: Client, customer_id: string, more: Json = {}): Promise<string> =>
  (await caller.post('/requests', { text: 'When?', customer_id, ...more })).body.id as string;
const faultOf = ({ status, body }: { status: number; body: Json }): unknown[] => [
  status,
  body.code,
  ...(body.errors ?? []).map(({ pointer, code }: Json) => `${String(pointer)} ${String(code)}`),
];

test('attachments of another customer’s request are not there to read, add or delete; its own are', async () => {
  const { whole, restricted, mine, theirs } = await newScene();
  for (const [customer, expected] of [
    [theirs, [404, 404, 404, 200]],
    [mine, [201, 200, 200, 404]],
  ] as const) {
    const files = `/requests/${await open(whole, customer)}/attachments`;
    const add = (by: Client) => by.send('POST', files, { body: 'A note.', headers: AS_TEXT });
    const file = `${files}/${String((await add(whole)).body.id)}`;
    const read = (by: Client) => by.send('HEAD', file);
    const answers = [
      await add(restricted),
      await read(restricted),
      await restricted.send('DELETE', file),
      await read(whole),
    ];
    expect(answers.map(({ status }) => status)).toEqual(expected);
  }
});

test('a restricted key writes what belongs to its customers, before and after, and creates no customers', async () => {
  const { whole, restricted, mine, theirs } = await newScene();
  const opened = (body: Json) => restricted.post('/requests', { text: 'When?', ...body });
  expect(faultOf(await opened({}))).toEqual([422, 'validation_failed', '/customer_id required']);
  for (const id of [theirs, randomUUID()])
    expect(faultOf(await opened({ customer_id: id }))).toEqual([422, 'validation_failed', '/customer_id not_found']);
  const id = await open(restricted, mine, { external_ref: 'T-1' });
  const foreign = await open(whole, theirs, { external_ref: 'T-2' });
  const change = (body: Json, of = id) => restricted.patch(`/requests/${of}`, body);
  expect(faultOf(await change({ customer_id: theirs }))).toEqual([422, 'validation_failed', '/customer_id not_found']);
  expect(faultOf(await change({ customer_id: null }))).toEqual([422, 'validation_failed', '/customer_id required']);
  expect(faultOf(await change({ status: 'closed' }, foreign))).toEqual([404, 'not_found']);
  expect((await change({ status: 'closed', customer_id: mine })).body).toMatchObject({ status: 'closed' });
  expect((await restricted.post(`/requests/${id}/messages`, { text: 'Soon.' })).status).toBe(201);
  expect(faultOf(await restricted.post(`/requests/${foreign}/messages`, { text: 'Soon.' }))).toEqual([
    404,
    'not_found',
  ]);
  expect((await whole.get(`/requests/${foreign}`)).body).toMatchObject({ status: 'open', message_count: 1 });

  // values are unique in the organisation: that one is taken cannot be hidden, but by which object it is
  for (const [external_ref, owner] of [
    ['T-1', id],
    ['T-2', foreign],
  ] as const) {
    const taken = await opened({ customer_id: mine, external_ref });
    expect(faultOf(taken)).toEqual([409, 'conflict', '/external_ref conflict']);
    expect(taken.text.includes(owner)).toBe(owner === id);
  }
  const renamed = await restricted.patch(`/customers/${mine}`, { external_ref: 'THEIRS' });
  expect(faultOf(renamed)).toEqual([409, 'conflict', '/external_ref conflict']);
  expect(renamed.text).not.toContain(theirs);

  const customers = ['MINE', 'THEIRS', 'NEW'].map((external_ref) => ({ external_ref, name: 'Renamed' }));
  const { body } = await restricted.post('/customers/bulk', { customers });
  expect(body.results.map(({ outcome }: Json) => outcome as string)).toEqual(['updated', 'failed', 'failed']);
  const [, another, none] = body.results.map(({ index: _index, external_ref: _ref, errors, ...others }: Json) => ({
    ...others,
    errors: errors.map(({ pointer: _pointer, ...error }: Json) => error),
  }));
  expect(another).toEqual(none);
  expect(another).toMatchObject({ id: null, errors: [{ code: 'not_allowed' }] });
  const atomic = await restricted.post('/customers/bulk', { customers: customers.slice(1), atomic: true });
  expect(faultOf(atomic)).toEqual([422, 'validation_failed', '/customers/0 not_allowed', '/customers/1 not_allowed']);
  expect((await whole.get(`/customers/${theirs}`)).body.name).toBe('THEIRS');
  expect((await whole.get('/customers')).body.data).toHaveLength(2);
});

test('what a collection cannot restrict, the data of a restricted key do not have', async () => {
  const { organisation, mine } = await newScene();
  const data = gateway.databases.organisationData(organisation).restrictedTo([mine]);
  const [orders, messages] = [resourceOf('orders'), resourceOf('messages')];
  expect(() => data.database).toThrow('restricted key');
  expect(() => data.collection(webhookDeliveries)).toThrow('no way to webhook_deliveries');
  expect(() => data.collection({ ...orders, name: 'visits', restriction: { refused: 'Not this.' } })).toThrow(
    new AppError('forbidden', 'Not this.'),
  );
  const rows = data.collection(orders);
  expect('deleteMany' in rows || 'replaceOne' in rows || 'watch' in rows).toBe(false);
  for (const stage of [
    { $unionWith: 'quotes' },
    { $lookup: { from: 'webhook_deliveries', as: 'all', pipeline: [] } },
    { $lookup: { from: 'products', as: 'all', pipeline: [{ $unionWith: 'quotes' }] } },
    { $out: 'x' },
  ])
    expect(() => rows.aggregate([stage])).toThrow('no way to');
  // parts of what has been restricted, unless the ids may be others by then
  const parts = { from: 'messages', localField: '_id', foreignField: 'request_id', as: 'parts', pipeline: [] };
  const requests = data.collection(resourceOf('requests'));
  requests.aggregate([{ $sort: { _id: 1 } }, { $project: { _id: 1 } }, { $lookup: parts }]);
  for (const stage of [
    { $group: { _id: '$title' } },
    { $project: { _id: '$title' } },
    { $replaceRoot: { newRoot: { _id: mine } } },
  ])
    expect(() => requests.aggregate([stage, { $lookup: parts }])).toThrow('no way to messages: $lookup');
  await expect(rows.bulkWrite([{ deleteMany: { filter: {} } }])).rejects.toThrow('no way to orders: deleteMany');
  for (const write of [{ insertOne: { document: {} } }, { deleteOne: { filter: {} } }])
    await expect(data.collection(eventLog).bulkWrite([write as never])).rejects.toThrow('no way to events');
  const update = { updateOne: { filter: {}, update: { $rename: { number: 'customer_id' } } } };
  await expect(rows.bulkWrite([update as never])).rejects.toThrow('$set and $unset alone');
  await expect(data.collection(messages).findOne({ body: 'x' } as never)).rejects.toThrow('parts of no object');
  expect(() => data.collection(messages).find({ request_id: mine } as never)).toThrow('no way to messages: a cursor');
});

test("an object that belongs to the key's customer leads to nothing that does not", async () => {
  const { organisation, restricted, mine, theirs } = await newScene();
  const [quote, order] = [northwind('quotes')[0]!, northwind('orders')[0]!];
  await store(gateway, organisation, {
    quotes: [{ ...quote, customer_id: theirs }],
    orders: [{ ...order, customer_id: mine, quote_id: quote.id }],
  });
  expect((await restricted.get(`/orders/${order.id}`)).body.quote_id).toBe(quote.id);
  const { body } = await restricted.graphql(`{ order(id: "${order.id}") { quote { id } customer { id } } }`);
  expect(body).toEqual({ data: { order: { quote: null, customer: { id: mine } } } });
});

test('events, of a webhook endpoint too, are those of the objects of its customers, the one by which an object leaves them included, and of what is nobody’s', async () => {
  const { organisation, whole, restricted, mine, theirs, key } = await newScene();
  const requests = bare.db(databaseName(organisation.id)).collection<Row>('requests');
  const stream = await subscribe({ url: gateway.url, key });
  expect(stream.status).toBe(200);
  const expectSent = await newEndpoint(organisation, mine);
  const [own, foreign, moved] = [await open(whole, mine), await open(whole, theirs), await open(whole, mine)];
  for (const id of [own, foreign]) await whole.post(`/requests/${id}/messages`, { text: 'Soon.' });
  await whole.patch(`/requests/${moved}`, { customer_id: theirs });
  await whole.patch(`/requests/${moved}`, { status: 'closed' });
  for (const id of [own, foreign, moved]) await requests.deleteOne({ _id: id });
  await whole.post('/products/bulk', { products: [{ sku: 'LAST', name: 'Last' }] });

  const events = await feedReader(restricted)(({ type }: Json) => type === 'product.created');
  const told = events.map(({ type, object }: Json) => [type, object.id]);
  expect(told).toEqual([
    ['customer.created', mine],
    ['request.created', own],
    ['request.message_added', own],
    ['request.created', moved],
    ['request.message_added', moved],
    ['request.message_added', own],
    ['request.updated', own],
    // whoever reads it now gets 404; what follows is the other customer's
    ['request.updated', moved],
    ['request.deleted', own],
    ['product.created', expect.any(String)],
  ]);
  expect(JSON.stringify(events)).not.toContain(foreign);
  expect(JSON.stringify(events)).not.toContain(theirs);
  // whose an object is, is stored with its events, and told to nobody
  expect(JSON.stringify(events)).not.toContain('customers"');
  const ids = (all: readonly Json[]): string[] => all.map(({ id }) => id as string);
  const since = events.filter(({ type }: Json) => type !== 'customer.created');
  expect(ids(await stream.first(since.length))).toEqual(ids(since));
  expect((await restricted.get('/events', { object_id: foreign })).body.data).toEqual([]);
  stream.leave();
  await expectSent(events);

  // a gateway that takes over remembers nothing: then the objects' last events say whose they were
  const owners = createOwners(FEW);
  const database = databaseName(organisation.id);
  const deleted = (id: string): LoggedChange => ({
    change: { operationType: 'delete', ns: { db: database, coll: 'requests' }, documentKey: { _id: id } } as Change,
    time: '',
    ordinal: 1,
  });
  const changes = [own, moved, foreign].map(deleted);
  const noPart = (): unknown => undefined;
  const customersOf = await owners.read(gateway.databases.organisationData(organisation), changes, noPart);
  expect(changes.map(({ change }) => customersOf(change).customers)).toEqual([[mine], [theirs], [theirs]]);
});

test('once an object is another customer’s or nobody’s, its former customer is told nothing more, whoever moved it', async () => {
  const { organisation, whole, restricted, mine, theirs } = await newScene();
  const database = bare.db(databaseName(organisation.id));
  const requests = database.collection<Row>('requests');
  const expectSent = await newEndpoint(organisation, mine);
  const [moved, quiet] = [await open(whole, mine), await open(whole, mine)];
  const rows = await requests.find().toArray();
  const next = database.collection<Row>('made_elsewhere');
  await next.insertMany(rows.map((row) => ({ ...row, customer_id: theirs })));
  await next.rename('requests', { dropTarget: true });
  await requests.updateOne({ _id: moved }, { $set: { status: 'closed' } });
  const freed = await open(whole, mine);
  await whole.patch(`/requests/${freed}`, { customer_id: null });
  await requests.updateOne({ _id: freed }, { $set: { status: 'closed' } });
  await whole.post('/products/bulk', { products: [{ sku: 'LAST', name: 'Last' }] });

  const events = await feedReader(restricted)(({ type }: Json) => type === 'product.created');
  const types = events.map(({ type }: Json) => type as string);
  const told = events.slice(types.lastIndexOf('feed.gap')).map(({ type, object }: Json) => [type, object?.id]);
  expect(told).toEqual([
    ['feed.gap', undefined],
    ['request.created', freed],
    ['request.message_added', freed],
    ['request.updated', freed],
    ['product.created', expect.any(String)],
  ]);
  await expectSent(events);

  // the same to a gateway that takes over
  const owners = createOwners(FEW);
  await database.collection<Row>('events').deleteOne({ type: 'request.status_changed', 'object.id': freed });
  const change = (operationType: string, id: string, more: Partial<Change> = {}): LoggedChange => ({
    change: {
      operationType,
      ns: { db: database.databaseName, coll: 'requests' },
      documentKey: { _id: id },
      ...more,
    } as Change,
    time: '',
    ordinal: 1,
  });
  const changes = [
    change('delete', moved),
    change('delete', quiet),
    change('update', freed, { paths: ['customer_id'], set: { customer_id: theirs } }),
  ];
  const noPart = (): unknown => undefined;
  const customersOf = await owners.read(gateway.databases.organisationData(organisation), changes, noPart);
  expect(changes.map(({ change }) => customersOf(change).customers)).toEqual([[theirs], undefined, [theirs]]);
});
