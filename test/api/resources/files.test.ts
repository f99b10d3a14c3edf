import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import mongoose from 'mongoose';
import type { Organisation } from '../../../src/auth/principal';
import { events } from '../../../src/events/collection';
import { eventually } from '../http/eventually';
import { openTunnel } from '../http/tunnel';
import { ROOT } from '../../docs/markdown';
import { attaching } from '../../support/attachments';
import type { Client, Json } from '../../support/client';
import { commandsOf, startWatchedGateway } from '../../support/commands';
import { makeNorthwind, northwind } from '../../support/factories';
import { servedBy, startGateway } from '../../support/gateway';
import { grow } from '../../support/grown';
import { HAS_OWN_SCHEMA } from '../../support/ownRows';
import { connectDatabases } from '../../../src/tenant/databases';
import { PATIENT } from '../../../src/mongo/native';
import { createIndexes, differenceOf, indexesOf as definedIndexes, SMALL } from '../../../src/mongo/indexes';
import { writeVersions } from '../../../src/stored/writeVersions';
import { webhookDeliveries } from '../../../src/webhooks/deliveries';
import { filesIn, filesOf, indexesOf, type Tenant, tenantOf } from './tenant';

/* Collections and indexes are files on the database server: created only when needed, and few. */

/** Raised only together with docs/decisions/files.md, which says which query needs each. */
const MOST_FILES = HAS_OWN_SCHEMA ? 77 : 76;
/** Of each resource that the page does not have yet. */
const MOST_OF_OTHERS = 10;
const PAGE = readFileSync(join(ROOT, 'docs', 'decisions', 'files.md'), 'utf8');

const gateway = servedBy(startWatchedGateway);
const tenant = (organisation?: Organisation): Promise<Tenant> => tenantOf(gateway, organisation);

async function exists({ organisation }: Tenant): Promise<boolean> {
  return (await gateway.databases.organisationsWithData()).includes(organisation.id);
}

/** Creates the unique indexes of quotes, as another program may. */
async function createUnique(database: Tenant['database']): Promise<void> {
  await database.collection('quotes').createIndex({ number: 1 }, { unique: true });
  const partialFilterExpression = { external_ref: { $gt: '' } };
  await database.collection('quotes').createIndex({ external_ref: 1 }, { unique: true, partialFilterExpression });
}

const upsert = (caller: Client, sku: string, headers = {}): Promise<Json> =>
  caller.post('/products/bulk', { products: [{ sku, name: 'A' }] }, headers);

test('an organisation that uses everything has every index', async () => {
  const whole = await tenant(await makeNorthwind(gateway, 5));
  expect((await upsert(whole.caller, 'A', { 'idempotency-key': randomUUID() })).status).toBe(200);
  const { status, headers } = await whole.caller.post('/requests', { text: 'Hello' });
  expect(status).toBe(201);
  const { attach } = attaching(whole.caller, () => data);
  expect((await attach(headers.get('location')!.replace('/api/v1', ''))).status).toBe(201);
  const data = gateway.databases.organisationData(whole.organisation);
  // as the gateway does that records its first event, or stores an operator's first version
  await data.prepare([events, webhookDeliveries, writeVersions]);
  await grow(whole.database);
  const found = await filesOf(whole);
  const { collections } = data;
  expect(found).toEqual(Object.fromEntries(collections.map(({ name }) => [name, indexesOf(gateway, name)])));
  const [known, others] = [true, false].map((isKnown) =>
    Object.fromEntries(Object.entries(found).filter(([name]) => PAGE.includes(`\n| ${name} |`) === isKnown)),
  ) as [typeof found, typeof found];
  expect(filesIn(known)).toBeLessThanOrEqual(MOST_FILES);
  expect(filesIn(others)).toBeLessThanOrEqual(MOST_OF_OTHERS * Object.keys(others).length);
});

test('no index is a prefix of another that could replace it', () => {
  const { collections } = gateway.databases.organisationData({ id: randomUUID() });
  const covered = collections.flatMap(({ name, indexes }) => {
    const keys = indexes.map(({ on, options }) => ({ text: JSON.stringify(Object.entries(on)), options }));
    return keys
      .filter(
        ({ text, options }) =>
          !options?.unique &&
          options?.expireAfterSeconds === undefined &&
          keys.some((other) => other.text !== text && other.text.startsWith(text.slice(0, -1))),
      )
      .map(({ text }) => `${name} ${text}`);
  });
  expect(covered).toEqual([]);
});

test('on SecantusDB, whose new indexes may lack rows, a collection has every index from the start', async () => {
  const options = { uri: process.env.TEST_MONGODB_URI!, controlDatabase: 'scopegate_test' };
  const id = randomUUID();
  const { collections } = gateway.databases.organisationData({ id });
  const databases = await connectDatabases({ ...options, collections, isStandIn: true });
  try {
    databases.openedBy({ writeStateOf: () => Promise.resolve('open') });
    const data = databases.organisationData({ id });
    await data.prepare(collections.filter(({ name }) => name === 'products'));
    const made = await data.database.collection('products').indexes();
    expect(made.map(({ name }) => name!).sort()).toEqual(indexesOf(gateway, 'products'));
    await data.drop();
  } finally {
    await databases.close();
  }
});

describe('a new organisation', () => {
  test('has no database, reads as empty, and gets none from reads or dry runs', async () => {
    const one = await tenant();
    for (const path of ['/products', '/quotes', '/orders', '/customers', '/requests']) {
      expect(await one.caller.get(path, { q: 'a' })).toMatchObject({
        status: 200,
        body: { data: [], has_more: false },
      });
      expect(await one.caller.get(path, { updated_since: '2020-01-01T00:00:00Z' })).toMatchObject({ status: 200 });
      expect((await one.caller.get(`${path}/${randomUUID()}`)).status).toBe(404);
    }
    const totals = '{ quote_totals { data { count } } order_totals { data { count } } product_sales { data { sku } } }';
    expect((await one.caller.graphql(totals)).body.data.quote_totals).toEqual({ data: [] });
    const dry = { dry_run: true, products: [{ sku: 'A', name: 'A' }] };
    expect(await one.caller.post('/products/bulk', dry)).toMatchObject({ status: 200, body: { created: 1 } });
    expect(await exists(one)).toBe(false);
  });

  test('gets the collections a write needs at that write, with one command each, and the next write sends none that creates or lists any', async () => {
    const one = await tenant();
    const first = await commandsOf(gateway, one.organisation, () => upsert(one.caller, 'A'));
    const made = first.filter(({ name }) => name === 'createIndexes').map(({ command }) => command.createIndexes);
    expect(made.sort()).toEqual(['open_writes', 'products']);
    expect(await filesOf(one)).toEqual({ open_writes: ['_id_'], products: indexesOf(gateway, 'products', true) });
    const second = await commandsOf(gateway, one.organisation, () => upsert(one.caller, 'B'));
    const names = second.map(({ name }) => name);
    // so that they were recorded
    expect(names).toContain('insert');
    expect(names.filter((name) => /index|collection|create/i.test(name))).toEqual([]);
  });

  test('can be written concurrently on several gateways', async () => {
    await using other = await startGateway();
    const one = await tenant();
    const there = await tenantOf(other, one.organisation);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) => {
        const { caller } = at % 2 === 0 ? one : there;
        const again = { 'idempotency-key': `k${String(at)}` };
        return at % 4 < 2
          ? upsert(caller, `S${String(at % 8)}`, again)
          : caller.post('/requests', { text: 'Hello' }, again);
      }),
    );
    expect([...new Set(answers.map(({ status }) => status as number))].sort()).toEqual([200, 201]);
    const found = await filesOf(one);
    for (const name of ['products', 'requests', 'messages', 'idempotency_records', 'open_writes']) {
      expect([name, found[name]]).toEqual([name, indexesOf(gateway, name, true)]);
    }
    expect((await one.caller.get('/products')).body.data).toHaveLength(4);
    expect((await one.caller.get('/requests', { limit: 100 })).body.data).toHaveLength(10);
  });

  test('gets no collection once it is not in the control database, even from a gateway that has just served it', async () => {
    const one = await tenant();
    expect((await one.caller.get('/products')).status).toBe(200);
    await gateway.databases.control.collection('organisations').deleteOne({ _id: one.organisation.id as never });
    expect(await upsert(one.caller, 'A')).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    expect((await one.caller.post('/requests', { text: 'Hello' })).status).toBe(503);
    expect(await exists(one)).toBe(false);
  });
});

/** Waits until a collection has these indexes; some servers create them one after the other. */
async function has(one: Tenant, name: string, indexes: readonly string[]): Promise<void> {
  await eventually(async () => (await filesOf(one))[name]?.length === indexes.length);
  expect((await filesOf(one))[name]).toEqual(indexes);
}

describe('a collection created by another program', () => {
  const TIMES = ['created_at', 'updated_at', 'sent_at', 'decided_at'];
  const quotes = northwind('quotes').map(({ id, metadata: _metadata, ...row }) => ({
    _id: id,
    ...row,
    search: [],
    ...Object.fromEntries(TIMES.map((name) => [name, row[name] === null ? null : new Date(row[name] as string)])),
  }));

  const manyQuotes = (count: number): Json[] =>
    Array.from({ length: count }, (_, at) => ({ ...quotes[0], _id: randomUUID(), number: `M-${String(at)}` }));

  test('gets its indexes automatically when the gateway first reads it', async () => {
    const one = await tenant();
    await one.database.collection('quotes').insertMany(quotes.slice(0, 10));
    expect((await one.caller.get('/quotes')).body.data).toHaveLength(10);
    await has(one, 'quotes', indexesOf(gateway, 'quotes', true));
    const large = await tenant();
    await large.database.collection('quotes').insertMany(manyQuotes(SMALL));
    expect((await large.caller.get('/quotes')).body.data).toHaveLength(20);
    await has(large, 'quotes', indexesOf(gateway, 'quotes'));
  });

  test.each([
    ['filters its rows', { partialFilterExpression: { number: { $gt: 'M' } } }],
    ['is sparse', { sparse: true }],
    ['has a collation', { collation: { locale: 'en', strength: 2 } }],
  ])('gets its unique index beside one with the same members that %s', async (_what, options) => {
    const one = await tenant();
    const name = 'of another program';
    await one.database.collection('quotes').createIndex({ number: 1 }, { name, unique: true, ...options });
    await one.database.collection('quotes').insertMany(quotes.slice(0, 10));
    expect((await one.caller.get('/quotes')).status).toBe(200);
    await has(one, 'quotes', [...indexesOf(gateway, 'quotes', true), name].sort());
  });

  test('with a collation of its own, which its indexes get too, lacks none of them', async () => {
    const one = await tenant();
    await one.database.createCollection('quotes', { collation: { locale: 'en', strength: 2 } });
    await createUnique(one.database);
    const { collections } = gateway.databases.organisationData(one.organisation);
    const definition = collections.find(({ name }) => name === 'quotes')!;
    expect(await differenceOf(one.database as never, definition)).toMatchObject({ missing: [] });
  });

  test('is still served if it violates a unique index, which is logged once', async () => {
    const one = await tenant();
    const [first, second] = quotes as [Json, Json];
    await one.database.collection('quotes').insertMany([first, { ...second, number: first.number }]);
    const warned = (): Json[] =>
      gateway.logs.filter(({ organisation_id, level }) => organisation_id === one.organisation.id && level === 40);
    await one.caller.get('/quotes');
    await eventually(() => warned().length > 0);
    expect((await one.caller.get('/quotes')).body.data).toHaveLength(2);
    expect(warned()).toEqual([
      expect.objectContaining({ collection: 'quotes', msg: 'indexes could not be made; run doctor --fix' }),
    ]);
    expect((await filesOf(one)).quotes).toEqual(['_id_']);
  });

  test('that already has some indexes is left to doctor, since it may be large', async () => {
    const one = await tenant();
    await createUnique(one.database);
    await one.database.collection('quotes').insertMany(quotes.slice(0, 3));
    const sent = await commandsOf(gateway, one.organisation, async () => {
      await one.caller.get('/quotes');
      await one.caller.get('/quotes');
      // checked afterwards
      await upsert(one.caller, 'A');
    });
    expect(sent.filter(({ command }) => command.listIndexes === 'quotes')).toHaveLength(1);
    expect((await filesOf(one)).quotes).toEqual(['_id_', 'external_ref_1', 'number_1']);
  });
});

test('an index of another program, whatever its name and options, keeps no unique one from being made', async () => {
  const one = await tenant();
  const quotes = one.database.collection('quotes');
  await quotes.createIndexes([{ key: { number: 1 }, name: 'number_1' }, { key: { sent_at: 1 } }]);
  const data = gateway.databases.organisationData(one.organisation);
  const definitions = data.collections.filter(({ name }) => name === 'quotes');
  await data.prepare(definitions);
  expect(await quotes.indexes()).toContainEqual(
    expect.objectContaining({ key: { number: 1 }, name: 'number_1_scopegate', unique: true }),
  );
  await quotes.insertOne({ number: 'A' });
  await expect(quotes.insertOne({ number: 'A' })).rejects.toMatchObject({ code: 11000 });
  expect((await differenceOf(one.database, definitions[0]!)).missing).toEqual([]);
});

test('rows that break a rule keep other indexes from nothing, and no write from being done', async () => {
  const one = await tenant();
  const quotes = one.database.collection('quotes');
  await quotes.insertMany(Array.from({ length: SMALL }, () => ({ number: 'A', created_at: new Date() })));
  const data = gateway.databases.organisationData(one.organisation);
  const definitions = data.collections.filter(({ name }) => name === 'quotes');
  const before = gateway.logs.length;
  await data.prepare(definitions);
  const names = ((await quotes.listIndexes().toArray()) as { readonly name: string }[]).map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['search_1', 'newest_and_totals']));
  expect(names).not.toContain('number_1');
  expect(gateway.logs.slice(before)).toContainEqual(
    expect.objectContaining({ collection: 'quotes', msg: 'indexes could not be made; run doctor --fix' }),
  );
});

test('a build that takes longer than a connection waits is not asked for once more', async () => {
  const definition = gateway.databases.organisationData({ id: 'x' }).collections.find(({ name }) => name === 'quotes')!;
  const asked = jest.fn(() => Promise.reject(new mongoose.mongo.MongoNetworkTimeoutError('connection timed out', {})));
  const database = { collection: () => ({ createIndexes: asked }) };
  await expect(createIndexes(database as never, definition, definedIndexes(definition))).rejects.toThrow('timed out');
  expect(asked).toHaveBeenCalledTimes(1);
});

test('doctor waits for a build that takes longer than a connection waits', async () => {
  await using tunnel = await openTunnel(undefined, { delay: 600 });
  const { collections, database } = gateway.databases.organisationData({ id: randomUUID() });
  const definition = collections.find(({ name }) => name === 'quotes')!;
  const client = await mongoose.mongo.MongoClient.connect(tunnel.uri, { socketTimeoutMS: 300 });
  try {
    const there = client.db(database.databaseName);
    await expect(createIndexes(there, definition, definedIndexes(definition))).rejects.toThrow('timed out');
    await createIndexes(there, definition, definedIndexes(definition), PATIENT);
    expect((await differenceOf(database, definition, false)).missing).toEqual([]);
  } finally {
    await client.close();
  }
});
