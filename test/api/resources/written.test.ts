import {
  type Command,
  type DatabaseProxy,
  documentOf,
  openDatabaseProxy,
  replyWith,
} from '../../../faults/databaseProxy';
import { findRaw } from '../../../src/mongo/rawRows';
import { customers } from '../../../src/resources/customers/customers';
import { resourceOf } from '../../../src/resources';
import { eventually } from '../http/eventually';
import { type Client, client } from '../../support/client';
import { callerOf, makeKey, makeNorthwind } from '../../support/factories';
import { late, served, startGateway, type TestGateway } from '../../support/gateway';

const quotes = resourceOf('quotes');

/* Which answers are written from the database's bytes (docs/decisions/fast.md). Their content is tested everywhere. */

const gateway = served();
const organisation = late(() => makeNorthwind(gateway, 30));
const caller = late(() => callerOf(gateway, organisation));

const COUNT = /^scopegate_written_answers_total\{from="(\w+)",reason="(\w+)"\} (\d+)$/gm;

/** How many answers the gateway has written so far, by "bytes" or "objects" and why. */
async function written(): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  return new Map([...text.matchAll(COUNT)].map(([, from, reason, count]) => [`${from!} ${reason!}`, Number(count)]));
}

/** How much the counts change while something runs. */
async function change(work: () => Promise<unknown>): Promise<Record<string, number>> {
  const before = await written();
  await work();
  const after = await written();
  const grown = [...after].map(([name, count]) => [name, count - (before.get(name) ?? 0)] as const);
  return Object.fromEntries(grown.filter(([, count]) => count > 0));
}

/** The cursor that a reply leaves open. */
function cursorOf(reply: Buffer): string | undefined {
  const { cursor } = (documentOf(reply) ?? {}) as { cursor?: { id: number | bigint } };
  const id = String(cursor?.id ?? 0);
  return id === '0' ? undefined : id;
}

const LISTS = ['products', 'customers', 'quotes', 'orders', 'requests'];

describe('writing answers from bytes', () => {
  test.each(LISTS)('applies to REST lists of %s, and reads of their rows', async (list) => {
    const counts = await change(async () => {
      const { body } = await caller.get(`/${list}`, { limit: 5 });
      expect(body.data).toHaveLength(5);
      await caller.get(`/${list}`, { limit: 5, cursor: body.next_cursor });
      await caller.get(`/${list}`, { updated_since: '1990-01-01T00:00:00Z' });
      await caller.get(`/${list}`, { q: '!' });
      await caller.get(`/${list}/${String(body.data[0].id)}`);
    });
    expect(counts).toEqual({ 'bytes none': 5 });
  });

  test.each(['quotes', 'orders'])('applies to REST lists of %s with lines', async (list) => {
    const counts = await change(() => caller.get(`/${list}`, { include: 'lines' }));
    expect(counts).toEqual({ 'bytes none': 1 });
  });

  test.each([
    '{ quotes(limit: 3) { data { id number lines { id qty } } has_more } }',
    'query Q($n: Int) { all: quotes(limit: $n) { ...P } } fragment P on QuotePage { next_cursor data { __typename key: id } }',
    '{ customers { data { id billing_address { city } contacts { name } } } }',
  ])('applies to GraphQL from the third time on: %s', async (query) => {
    const answers: string[] = [];
    const ask = async (): Promise<void> => {
      answers.push((await caller.graphql(query, { n: 2 })).text);
    };
    expect(
      await change(async () => {
        await ask();
        await ask();
      }),
    ).toEqual({});
    expect(await change(ask)).toEqual({ 'bytes none': 1 });
    expect(answers[2]).toBe(answers[0]);
  });

  test.each([
    '{ quotes(limit: 3) { data { customer { id } } } }',
    '{ quotes(limit: 3) { data { id } } orders(limit: 3) { data { id } } }',
    '{ quotes(limit: 3) { data { id @skip(if: false) } } }',
    '{ quotes(limit: 3) { has_more } }',
    '{ me { organisation { name } } }',
  ])('does not apply to GraphQL with other resolvers, several fields or conditions: %s', async (query) => {
    const ask = async (): Promise<string> => (await caller.graphql(query)).text;
    const counts = await change(async () => {
      const answers = [await ask(), await ask(), await ask(), await ask()];
      expect(new Set(answers).size).toBe(1);
    });
    expect(counts).toEqual({});
  });
});

test('a row stored by another program with other types falls back to objects, as does its whole collection for a while', async () => {
  const rows = gateway.databases.organisationData(organisation).collection(customers);
  const before = await caller.get('/customers', { sort: 'name', limit: 5 });
  const [{ id }] = before.body.data;
  // a number, which the schema's String gives as text
  await rows.updateOne({ _id: id }, { $set: { phone: 5 } });
  const expected = before.body.data.map((row: { id: string }) => (row.id === id ? { ...row, phone: '5' } : row));
  const ask = async (): Promise<void> => {
    const { status, body } = await caller.get('/customers', { sort: 'name', limit: 5 });
    expect([status, body.data]).toEqual([200, expected]);
  };
  expect(await change(ask)).toEqual({ 'objects data': 1 });
  const others = await change(async () => {
    for (let times = 0; times < 33; times += 1) await ask();
  });
  expect(others).toEqual({ 'objects recently': 32, 'objects data': 1 });
  // other collections are not affected
  expect(await change(() => caller.get('/quotes'))).toEqual({ 'bytes none': 1 });
});

test('rows that do not fit into one reply are read from its cursor, which is never left open', async () => {
  const ended: unknown[] = [];
  let opened: string | undefined;
  const proxy = await openDatabaseProxy(process.env.TEST_MONGODB_URI!, {
    onReply: (reply, command) => {
      if (command?.find === 'quotes') opened = cursorOf(reply) ?? opened;
      if (command?.killCursors === 'quotes') ended.push(...(command.cursors as unknown[]));
      return reply;
    },
  });
  const own = await startGateway({ MONGODB_URI: proxy.uri });
  const rows = own.databases.organisationData(organisation).collection(quotes);
  const [one] = await rows.find({}, { limit: 1 }).toArray();
  const lines = [{ description: 'x'.repeat(9 * 1024 * 1024) }];
  const ids = ['large-1', 'large-2'];
  const large = ids.map((id) => ({ ...one, _id: id, number: id, lines }));
  await rows.insertMany(large, { bypassDocumentValidation: true });
  try {
    const filter = { _id: { $in: ids } };
    expect(await findRaw(rows, { filter, most: 2 })).toMatchObject({ isWhole: false, places: { length: 2 } });
    expect(await findRaw(rows, { filter, most: 1 })).toMatchObject({ isWhole: true, places: { length: 2 } });
    await eventually(() => Promise.resolve(ended.length > 0 ? true : undefined));
    expect(opened).toBeDefined();
    expect(ended.map(String)).toEqual([opened]);
  } finally {
    await rows.deleteMany({ _id: { $in: ids } });
    await own.stop();
    await proxy.close();
  }
});

describe('a read that fails', () => {
  let proxy: DatabaseProxy;
  let own: TestGateway;
  let key: string;
  let left = 0;
  let code = 0;
  const reads: Command[] = [];
  beforeAll(async () => {
    proxy = await openDatabaseProxy(process.env.TEST_MONGODB_URI!, {
      onReply: (reply, command) => {
        if (command?.find !== 'quotes') return reply;
        reads.push(command);
        left -= 1;
        return left < 0 ? reply : replyWith(reply, { ok: 0, code, errmsg: 'no' });
      },
    });
    own = await startGateway({ MONGODB_URI: proxy.uri, CONTROL_DATABASE: 'scopegate_written' });
    key = (await makeKey(own, await makeNorthwind(own, 5))).key;
  });
  afterAll(async () => {
    await own.stop();
    await proxy.close();
  });

  const QUOTES = 'query { quotes { data { id } } }';
  const asks: Record<string, (of: Client, query: string) => Promise<{ status: number; text: string }>> = {
    'from bytes': (of) => of.get('/quotes', { sort: 'number', limit: 2 }),
    // a new query each time, so that it is answered from objects
    'from objects': (of, query) => of.graphql(query),
  };
  const EXCEEDED = 262;
  const EXPIRED = 50;

  test.each([
    ['once', 1, EXCEEDED, 2, true],
    ['twice', 2, EXCEEDED, 2, false],
    ['for good', 1, EXPIRED, 1, false],
  ])('%s is sent equally often from bytes as from objects', async (_how, times, failure, sent, isFine) => {
    for (const [from, ask] of Object.entries(asks)) {
      [left, code, reads.length] = [times, failure, 0];
      const { status, text } = await ask(client(own, key), `${QUOTES} # ${from} ${String(times)} ${String(failure)}`);
      expect([from, reads.length, status === 200 && !text.includes('unavailable')]).toEqual([from, sent, isFine]);
    }
  });

  test('uses the options of its collection, and for a list of changes those for that', async () => {
    left = 0;
    const caller = client(own, key);
    const [one] = (await caller.get('/quotes', { limit: 1 })).body.data;
    reads.length = 0;
    await caller.get('/quotes', { limit: 1 });
    await caller.get('/quotes', { limit: 1, updated_since: '1990-01-01T00:00:00Z' });
    await caller.get(`/quotes/${String(one.id)}`);
    expect(reads.map(({ readConcern }) => readConcern)).toEqual([undefined, { level: 'majority' }, undefined]);
    expect(reads.map(({ limit, batchSize }) => [Number(limit), Number(batchSize)])).toEqual([
      [2, 3],
      [2, 3],
      [1, 2],
    ]);
    expect(reads.map(({ projection }) => projection)).toEqual([
      { search: 0, lines: 0 },
      { search: 0, lines: 0 },
      { search: 0 },
    ]);
  });
});
