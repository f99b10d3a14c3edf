import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Organisation } from '../../../src/auth/principal';
import { DEAD_AFTER } from '../../../src/tenant/openWrites';
import { OPEN, openWrites } from '../../../src/tenant/slots';
import type { OrganisationData } from '../../../src/tenant/organisationData';
import { eventually } from '../http/eventually';
import { client, type Client, type Json } from '../../support/client';
import { commandsOf, startWatchedGateway } from '../../support/commands';
import { type Arguments, ask, askAll, askPages, FACES, refusal, REST } from '../../support/faces';
import { makeKey, makeOrganisation } from '../../support/factories';
import { served, servedBy } from '../../support/gateway';

/*
 * The guide's promise: a reader that keeps the largest updated_at and lists with updated_since misses nothing
 * (docs/decisions/changes-since.md).
 */

const BEGINNING = '1970-01-01T00:00:00Z';
const gateway = servedBy(startWatchedGateway);
/** Another gateway on the same database, which reads what the first one writes. */
const other = served();
let organisation: Organisation;
let key: string;
let writer: Client;
let reader: Client;

beforeEach(async () => {
  organisation = await makeOrganisation(gateway);
  ({ key } = await makeKey(gateway, organisation));
  [writer, reader] = [client(gateway, key), client(other, key)];
});

const rowsOfOpenWrites = (): ReturnType<OrganisationData['database']['collection']> =>
  gateway.databases.organisationData(organisation).database.collection(openWrites.name);

/** Holds every transaction of the writing gateway open before its commit until `hold` resolves. */
function holdCommits(hold: () => Promise<unknown>): void {
  const data = gateway.databases.organisationData(organisation);
  const transaction: OrganisationData['transaction'] = data.transaction.bind(data);
  data.transaction = (work, writes) =>
    transaction(async (session) => {
      const done = await work(session);
      await hold();
      return done;
    }, writes);
}

/** Starts a write that waits before its commit; resolves once it is waiting, with a function that releases it. */
async function holdOpen(send: () => Promise<unknown>): Promise<() => Promise<void>> {
  let letGo = (): void => undefined;
  const held = new Promise<void>((resolve) => (letGo = resolve));
  const waits = new Promise<void>((resolve) => {
    let isFirst = true;
    holdCommits(() => {
      if (!isFirst) return Promise.resolve();
      isFirst = false;
      resolve();
      return held;
    });
  });
  const sent = send();
  await Promise.race([waits, sent]);
  return async () => {
    letGo();
    await sent;
  };
}

const upsert = (skus: readonly string[], description: string | null): Promise<Json> =>
  ask(REST, writer, 'upsert_products', { products: skus.map((sku) => ({ sku, name: sku, description })) });

/** A copy kept as described in the guide. */
function newCopy(list: string, args: Arguments) {
  const rows = new Map<string, Json>();
  let since = BEGINNING;
  return {
    rows,
    async catchUp(): Promise<void> {
      for (const row of (await askPages(REST, reader, list, { ...args, limit: 4, updated_since: since })).flatMap(
        (page) => page.data as Json[],
      )) {
        rows.set(row.id, row);
        if (row.updated_at > since) since = row.updated_at;
      }
    },
  };
}

const bySort = (rows: Iterable<Json>): Json[] => [...rows].sort((a, b) => (a.id < b.id ? -1 : 1));

test('copies kept as the guide describes miss nothing, however long concurrent writes take', async () => {
  // every sixth write is held for long, so that many others overtake it
  const holds = [0, 5, 40, 150, 400, 1200];
  let nth = 0;
  holdCommits(() => sleep(holds[(nth += 1) % holds.length]));
  const copies = [
    newCopy('products', { sort: 'updated_at' }),
    newCopy('products', {}),
    newCopy('products', { sort: '-updated_at' }),
    newCopy('products', { sort: 'name' }),
    newCopy('requests', { sort: 'updated_at' }),
    newCopy('requests', {}),
  ];
  let isOver = false;
  const reading = copies.map(async (copy) => {
    while (!isOver) await copy.catchUp();
    await copy.catchUp();
  });
  const writing = Array.from({ length: 6 }, async (_none, lane) => {
    for (let turn = 0; turn < 5; turn += 1) {
      // new products, and some that are changed repeatedly
      const skus = [`${String(lane)}-${String(turn)}`, `${String(lane)}-new-${String(turn)}`, `${String(lane)}-again`];
      if (turn % 2 === 0) await upsert(skus, String(turn));
      else if (turn % 4 === 1) await writer.post('/requests', { text: skus.join(' ') });
      else {
        const products = skus.map((sku) => ({ sku, name: sku, description: String(turn) }));
        const { status } = await writer.post('/products/bulk', { products }, { 'idempotency-key': randomUUID() });
        expect(status).toBe(200);
      }
    }
  });
  await Promise.all(writing);
  isOver = true;
  await Promise.all(reading);
  const [products, requests] = [await askAll(REST, reader, 'products'), await askAll(REST, reader, 'requests')];
  expect(products.length).toBeGreaterThan(50);
  for (const copy of copies.slice(0, 4)) expect(bySort(copy.rows.values())).toEqual(bySort(products));
  for (const copy of copies.slice(4)) expect(bySort(copy.rows.values())).toEqual(bySort(requests));
  expect(await rowsOfOpenWrites().countDocuments(OPEN)).toBe(0);
});

describe.each(FACES)('while a write is open, in $name', (face) => {
  const skusOf = async (args: Arguments): Promise<string[]> =>
    (await askAll(face, reader, 'products', args)).map((row) => String(row.sku)).sort();

  test('later acknowledged writes are not listed with updated_since, but are without it', async () => {
    await upsert(['before'], null);
    const letGo = await holdOpen(() => upsert(['slow'], null));
    await upsert(['fast'], null);
    expect(await skusOf({ updated_since: BEGINNING })).toEqual(['before']);
    expect(await skusOf({})).toEqual(['before', 'fast']);
    expect(await ask(face, reader, 'product', { id: (await ask(REST, reader, 'products')).data[0].id })).toBeDefined();
    await letGo();
    expect(await skusOf({ updated_since: BEGINNING })).toEqual(['before', 'fast', 'slow']);
  });

  test('all pages of a run have the time limit of the first', async () => {
    await upsert(['a', 'b', 'c'], null);
    const args = { updated_since: BEGINNING, sort: 'updated_at', limit: 2 };
    const first = await ask(face, reader, 'products', args);
    const changed = first.data[0].sku as string;
    await upsert([changed, 'd'], 'changed');
    const rest = await ask(face, reader, 'products', { ...args, cursor: first.next_cursor });
    const last = ['a', 'b', 'c'].filter((sku) => !first.data.some((row: Json) => row.sku === sku));
    expect(rest.data.map((row: Json) => row.sku)).toEqual(last);
    const next = await skusOf({ updated_since: rest.data[0].updated_at });
    expect(next).toEqual(expect.arrayContaining([changed, 'd']));
  });

  test('a cursor without the time limit, or with a changed one, is rejected', async () => {
    await upsert(['a', 'b', 'c'], null);
    const args = { updated_since: BEGINNING, limit: 1 };
    const { next_cursor: cursor } = await ask(face, reader, 'products', args);
    const [mark, value, id, until] = JSON.parse(Buffer.from(String(cursor), 'base64url').toString()) as string[];
    for (const parts of [
      [mark, value, id],
      [mark, value, id, new Date(Date.parse(until!) + 1000).toISOString()],
      [mark, value, id, until, until],
    ]) {
      const made = Buffer.from(JSON.stringify(parts)).toString('base64url');
      expect(await refusal(face, reader, 'products', { ...args, cursor: made })).toMatchObject({
        errors: [{ parameter: 'cursor' }],
      });
    }
  });
});

test('an acknowledged write is in the next list if no other write is open', async () => {
  for (let turn = 0; turn < 15; turn += 1) {
    const sku = `turn-${String(turn)}`;
    await upsert([sku], null);
    const page = await ask(REST, reader, 'products', { updated_since: BEGINNING, sort: '-updated_at', limit: 1 });
    expect(page.data.map((row: Json) => row.sku)).toEqual([sku]);
  }
});

test('a failed write does not delay readers', async () => {
  const data = gateway.databases.organisationData(organisation);
  const transaction: OrganisationData['transaction'] = data.transaction.bind(data);
  data.transaction = (work, writes) =>
    transaction(async (session) => {
      await work(session);
      throw new Error('it cannot be stored');
    }, writes);
  expect((await writer.post('/requests', { text: 'hello' })).status).toBe(500);
  data.transaction = transaction;
  await eventually(async () => (await rowsOfOpenWrites().countDocuments(OPEN)) === 0);
  expect(await askAll(REST, reader, 'requests')).toEqual([]);
});

test("a crashed gateway's write delays readers for 100 s, and is then deleted", async () => {
  await upsert(['a'], null);
  expect(DEAD_AFTER).toBe(100_000);
  const [young, old] = [65_000, 101_000].map((age) => ({
    _id: randomUUID() as never,
    since: new Date(Date.now() - age),
  }));
  await rowsOfOpenWrites().insertMany([young!, old!]);
  expect(await askAll(REST, reader, 'products', { updated_since: BEGINNING })).toEqual([]);
  expect(await rowsOfOpenWrites().distinct('_id', OPEN)).toEqual([young!._id]);
  await rowsOfOpenWrites().updateOne({ _id: young!._id }, { $set: { since: old!.since } });
  expect(await askAll(REST, reader, 'products', { updated_since: BEGINNING })).toHaveLength(1);
  expect(await rowsOfOpenWrites().countDocuments(OPEN)).toBe(0);
});

test('a write that readers no longer wait for stores nothing and gets 503', async () => {
  const data = gateway.databases.organisationData(organisation);
  const transaction: OrganisationData['transaction'] = data.transaction.bind(data);
  // the transaction starts after its row was deleted, as after a long pause of the gateway
  data.transaction = async (work, writes) => {
    await rowsOfOpenWrites().deleteMany({});
    return transaction(work, writes);
  };
  const answer = await writer.post('/products/bulk', { products: [{ sku: 'late', name: 'late' }] });
  expect(answer.status).toBe(503);
  expect(answer.body.code).toBe('unavailable');
  expect(answer.headers.get('retry-after')).toBe('1');
  expect(await askAll(REST, reader, 'products')).toEqual([]);
});

test('a dry run, a read and a list without updated_since do not query open writes', async () => {
  const sent = await commandsOf(gateway, organisation, async () => {
    await ask(REST, writer, 'upsert_products', { products: [{ sku: 'a', name: 'a' }], dry_run: true });
    await ask(REST, writer, 'products', { sort: 'updated_at' });
  });
  expect(JSON.stringify(sent.map(({ command }) => command))).not.toContain(openWrites.name);
});

test('the timestamp of a write is taken in its transaction, after its row is stored', async () => {
  const driver = gateway.databases.control.getClient();
  const data = gateway.databases.organisationData(organisation);
  const transaction: OrganisationData['transaction'] = data.transaction.bind(data);
  const heard: string[] = [];
  const own = new Set<number>();
  const note = (what: string) => (event: { commandName: string; requestId: number; databaseName?: string }) => {
    // gateways look for jobs in the control database meanwhile
    if (event.databaseName === data.database.databaseName) own.add(event.requestId);
    if (own.has(event.requestId)) heard.push(`${event.commandName} ${what}`);
  };
  const [started, succeeded] = [note('sent'), note('answered')];
  driver.on('commandStarted', started).on('commandSucceeded', succeeded);
  let stored = Infinity;
  data.transaction = async (work, writes) => {
    await sleep(20);
    // the database's time once the row is stored
    const { localTime } = (await driver.db('admin').command({ hello: 1 })) as { localTime: Date };
    stored = localTime.getTime();
    return transaction(work, writes);
  };
  await upsert(['a'], null);
  data.transaction = transaction;
  driver.off('commandStarted', started).off('commandSucceeded', succeeded);
  const taken = ['findAndModify sent', 'findAndModify answered'];
  expect(heard.filter((one) => one.startsWith('findAndModify'))).toEqual([...taken, ...taken]);
  const [{ updated_at: stamp }] = (await askAll(REST, reader, 'products')) as [{ updated_at: string }];
  expect(Date.parse(stamp)).toBeGreaterThanOrEqual(stored);
});
