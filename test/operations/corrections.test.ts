import { randomUUID } from 'node:crypto';
import type { mongo } from 'mongoose';
import { pino } from 'pino';
import { databaseName } from '../../src/mongo/databaseNames';
import { AppError } from '../../src/errors';
import { createCorrections, mayLack } from '../../src/events/tail/corrections';
import type { LoggedChange } from '../../src/events/tail/changes';
import { resourceOf } from '../../src/resources';
import { corrector } from '../../src/resources/corrector';
import { eventually } from '../api/http/eventually';
import { type Client, client, type Json } from '../support/client';
import { makeKey, makeOrganisation, northwind } from '../support/factories';
import { driver, late, servedBy, startGateway } from '../support/gateway';
import { hold } from '../support/hold';
import { goodQuote } from '../support/mistakes';

/* What the tail of the log does with rows that other programs write (docs/decisions/invalid-rows.md, docs/decisions/events.md). */

const CONTROL_DATABASE = `scopegate_corrections_${randomUUID().slice(0, 8)}`;
const gateway = servedBy(() => startGateway({ CONTROL_DATABASE, EVENTS: 'on' }));
afterAll(() => bare.db(CONTROL_DATABASE).dropDatabase());
const bare = driver();

interface Scene {
  readonly caller: Client;
  readonly key: string;
  readonly id: string;
  readonly table: (name: string) => mongo.Collection<Json>;
}

async function open(): Promise<Scene> {
  const organisation = await makeOrganisation(gateway);
  const { key } = await makeKey(gateway, organisation);
  const database = bare.db(databaseName(organisation.id));
  return { caller: client(gateway, key), key, id: organisation.id, table: (name) => database.collection(name) };
}

const scene = late(open);
const PATIENCE = 60_000;

/** Waits until a search finds so many objects. */
const finds = (path: string, q: string, count = 1): Promise<unknown> =>
  eventually(async () => (await scene.caller.get(path, { q })).body.data.length === count, PATIENCE);

/** Waits until an object has so many events. */
const eventsOf = (object_id: string, count: number, caller: Client = scene.caller): Promise<Json[]> =>
  eventually(async () => {
    const events = (await caller.get('/events', { object_id })).body.data as Json[];
    return events.length >= count ? events : undefined;
  }, PATIENCE);

const withoutWords = (number: string): Json => {
  const { search: _search, ...row } = goodQuote(number);
  return row;
};

test('search words of another program’s rows are filled in, after it inserts, changes or replaces them', async () => {
  const quotes = scene.table('quotes');
  const row = withoutWords('Alpha');
  await quotes.insertOne(row);
  await finds('/quotes', 'alpha');
  await quotes.updateOne({ _id: row._id }, { $set: { number: 'Beta' } });
  await finds('/quotes', 'beta');
  await finds('/quotes', 'alpha', 0);
  await quotes.replaceOne({ _id: row._id }, { ...row, number: 'Gamma', search: ['BETA'] });
  await finds('/quotes', 'gamma');
  // nobody sees words, so neither the time of the change nor the events say anything of them
  expect(await quotes.findOne({ _id: row._id })).toMatchObject({ updated_at: row.updated_at });
  const found = await eventsOf(row._id, 3);
  expect(found.map(({ type }) => type as string)).toEqual(['quote.created', 'quote.updated', 'quote.updated']);
});

test('counters and words of a thread are filled in when another program writes messages, once, with an event', async () => {
  const [threads, messages] = [scene.table('requests'), scene.table('messages')];
  const [{ id, messages: _messages, metadata: _metadata, ...record } = { id: '' }] = northwind('requests');
  const thread = { ...record, _id: id, status: 'open', created_at: new Date(0), updated_at: new Date(0) };
  const message = { _id: randomUUID(), request_id: id, author: 'customer', author_name: null, body: 'Zanzibar' };
  const at = new Date('2026-01-31T09:00:00Z');
  // at once, since the thread alone may be corrected too
  await bare.withSession((session) =>
    session.withTransaction(async () => {
      await threads.insertOne(thread, { session });
      await messages.insertOne({ ...message, created_at: at }, { session });
    }),
  );
  await finds('/requests', 'zanzibar');
  await eventually(async () => (await threads.findOne({ _id: id }))?.message_count === 1, PATIENCE);
  const filled = await threads.findOne({ _id: id });
  expect(filled).toMatchObject({ message_count: 1, last_message_at: at });
  expect(Number(filled?.updated_at)).toBeGreaterThan(0);
  const answered = await scene.caller.post(`/requests/${id}/messages`, { text: 'Tanganyika', author: 'organisation' });
  expect(answered.status).toBe(201);
  await finds('/requests', 'tanganyika');
  await messages.updateOne({ _id: message._id }, { $set: { body: 'Madagascar' } });
  await finds('/requests', 'madagascar');
  expect(await threads.findOne({ _id: id })).toMatchObject({ message_count: 2 });
  const found = await eventsOf(id, 6);
  const counted = found.filter(({ changes }) => (changes as string[]).includes('message_count'));
  // by the correction and by the answer
  expect(counted.map(({ type }) => type as string)).toEqual(['request.updated', 'request.status_changed']);
});

test('a row that lacks nothing is not written, and a correction is not corrected again', async () => {
  const quotes = scene.table('quotes');
  const row = goodQuote('Delta');
  row.search = ['DELTA'];
  const other = withoutWords('Epsilon');
  await quotes.insertMany([row, other]);
  await finds('/quotes', 'epsilon');
  const data = gateway.databases.organisationData({ id: scene.id });
  expect(await corrector.correct(data, 'quotes', [row._id, other._id])).toBe(0);
  const before = await data.collection({ name: 'open_writes', indexes: [], retired: [] }).find().toArray();
  expect(await corrector.correct(data, 'quotes', [row._id])).toBe(0);
  expect(await data.database.collection('open_writes').find().toArray()).toEqual(before);
});

test('a row that others change at each try is not written, which is an error to report', async () => {
  const row = { ...goodQuote('Eta'), search: ['ETA'] };
  await scene.table('quotes').insertOne(row);
  const data = gateway.databases.organisationData({ id: scene.id });
  const quotes = data.collection(resourceOf('quotes'));
  const find = quotes.find.bind(quotes);
  const spy = jest.spyOn(quotes, 'find').mockImplementation((filter, options) => {
    const rows = find(filter as never, options);
    // as it was before another program changed it
    return options?.session ? rows : (rows.map((stored) => ({ ...stored, search: [] })) as never);
  });
  await expect(corrector.correct(data, 'quotes', [row._id])).rejects.toThrow(
    '1 of the rows changed at each of 3 tries',
  );
  spy.mockRestore();
  expect(await scene.table('quotes').findOne({ _id: row._id })).toEqual(row);
});

test('a replacement changes the status only if it was another, also if the gateway has not seen the object before', async () => {
  const quotes = scene.table('quotes');
  const row = goodQuote('Zeta');
  await quotes.insertOne(row);
  await eventsOf(row._id, 1);
  // an object of another type may have its id, and its last event
  await scene.table('orders').insertOne({ ...row, status: 'shipped' }, { bypassDocumentValidation: true });
  await eventsOf(row._id, 2);
  await using other = await startGateway({ CONTROL_DATABASE, EVENTS: 'on' });
  // the other one goes on recording, and remembers nothing
  await gateway.drain();
  await quotes.replaceOne({ _id: row._id }, { ...row, total_minor: 200, subtotal_minor: 200 });
  await quotes.replaceOne({ _id: row._id }, { ...row, status: 'withdrawn' });
  const events = await eventsOf(row._id as string, 4, client(other, scene.key));
  expect(events.map(({ type, status }) => [type, status] as unknown)).toEqual([
    ['quote.created', 'draft'],
    ['order.created', 'shipped'],
    ['quote.updated', 'draft'],
    ['quote.status_changed', 'withdrawn'],
  ]);
});

describe('the queue', () => {
  const change = (operationType: string, paths?: string[], coll = 'quotes'): LoggedChange =>
    ({ change: { operationType, ns: { db: 'org_', coll }, documentKey: { _id: randomUUID() }, paths } }) as never;

  test('takes changes of other programs from which words or counters follow, and no others', () => {
    const takes = (...of: Parameters<typeof change>): boolean => mayLack(change(...of), corrector);
    expect([takes('insert'), takes('replace'), takes('delete'), takes('update', ['number'])]).toEqual([
      true,
      true,
      false,
      true,
    ]);
    expect([takes('update', ['status']), takes('update', ['search.3']), takes('update', ['lines.0.qty'])]).toEqual([
      false,
      true,
      false,
    ]);
    expect([takes('update', ['message_count'], 'requests'), takes('insert', [], 'messages')]).toEqual([true, true]);
    expect([takes('insert', [], 'events'), mayLack({ ...change('insert'), by: 'key:1' }, corrector)]).toEqual([
      false,
      false,
    ]);
  });

  test('has room for 5,000 rows of an organisation, takes turns, and goes on after failures', async () => {
    const calls: [string, number][] = [];
    const lines: string[] = [];
    const { held, letGo } = hold();
    const corrections = createCorrections({
      corrector: {
        watched: corrector.watched,
        async correct({ organisationId: id }, _collection, ids) {
          await held;
          calls.push([id, ids.length]);
          if (calls.length === 2) throw new Error('refused');
          return ids.length;
        },
      },
      databases: { organisationData: ({ id }: { id: string }) => ({ organisationId: id }) } as never,
      logger: pino({}, { write: (line: string) => void lines.push((JSON.parse(line) as { msg: string }).msg) }),
    });
    corrections.note(
      'large',
      Array.from({ length: 5300 }, () => change('insert')),
    );
    corrections.note('small', [change('insert')]);
    letGo();
    await eventually(() => calls.length >= 51, PATIENCE);
    await corrections.stop();
    expect(calls.slice(0, 3).map(([id]) => id)).toContain('small');
    expect(calls.reduce((sum, [, count]) => sum + count, 0)).toBe(5001);
    expect(lines.toSorted()).toEqual([
      expect.stringContaining('could not be corrected; run doctor --rows --fix'),
      expect.stringContaining('were not looked at in time; run doctor --rows --fix'),
    ]);
  });

  test('finishes what waits when it stops, tries again after a slow read, and says what it had no time for', async () => {
    const lines: string[] = [];
    let corrected = 0;
    let next = (count: number): Promise<number> => Promise.resolve((corrected += count));
    const createOne = () =>
      createCorrections({
        corrector: { watched: corrector.watched, correct: (_data, _collection, ids) => next(ids.length) },
        databases: { organisationData: () => ({}) } as never,
        logger: pino({}, { write: (line: string) => void lines.push(line) }),
      });
    const rows = Array.from({ length: 250 }, () => change('insert'));
    const count = next;
    next = () => {
      next = count;
      return Promise.reject(new AppError('unavailable', 'The database took too long.', { reason: 'slow' }));
    };
    const one = createOne();
    one.note('a', rows);
    await one.stop();
    expect([corrected, lines]).toEqual([250, []]);
    const { held, letGo } = hold();
    next = () => held.then(() => 0);
    const other = createOne();
    other.note('a', rows);
    const stopped = other.stop();
    jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 60_000);
    letGo();
    await stopped;
    jest.restoreAllMocks();
    expect(lines).toEqual([expect.stringMatching(/"rows":150,.*not looked at in time; run doctor --rows --fix/)]);
  });
});
