import { randomUUID } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import mongoose from 'mongoose';
import type { Scope } from '../../../src/auth/scopes';
import { EVENTS_KEPT_FOR } from '../../../src/units';
import { eventId, positionOf, timeDigits } from '../../../src/events/position';
import { BEGINNING } from '../../../src/events/page';
import { tailRows } from '../../../src/events/tail/lease';
import { createFeed } from '../../../src/webhooks/feed';
import { eventually } from '../http/eventually';
import { type Client, client, type Json } from '../../support/client';
import { eventRow, eventScene, type EventScene, SECOND } from '../../support/fixtures/events';
import { commandsOf, startWatchedGateway } from '../../support/commands';
import { callerOf, makeKey, makeOrganisation } from '../../support/factories';
import { driver, metric, served, startGateway } from '../../support/gateway';
import { argumentsOf, FACES, type Face, operations, MCP, REST } from '../../support/operations';
import { IDS } from '../../support/fixtures/contract';

/* The feed of events, which are written here as another gateway's tail would (real ones: test/operations/events.slow.test.ts). */

jest.mock('../../../src/events/waiting', () => jest.requireActual<object>('../../support/longWaits'));

const operation = operations.find(({ name }) => name === 'events')!;
const gateway = served();
const bare = driver();
const newScene = (scopes?: readonly Scope[]): Promise<EventScene> => eventScene(gateway, bare, scopes);

/** Calls the operation and returns its value. */
async function ask(caller: Client, face: Face, args: Record<string, unknown> = {}): Promise<Json> {
  const answer = await face.call(caller, operation, argumentsOf(operation, IDS, args));
  expect(face.errorOf(answer)).toBeUndefined();
  return face.valueOf(answer, operation);
}

async function refusal(caller: Client, face: Face, args: Record<string, unknown>): Promise<Json> {
  return face.errorOf(await face.call(caller, operation, argumentsOf(operation, IDS, args)));
}

const ids = (page: Json): string[] => page.data.map(({ id }: Json) => id as string);

describe.each(FACES)('over $name', (face) => {
  test('events are paged oldest first, each once, and the last cursor continues with later ones', async () => {
    const { caller, rows, organisation } = await newScene();
    const all = Array.from({ length: 25 }, (_none, n) => eventRow(n));
    await rows.insertMany(all);
    const wanted = all.map(({ _id }) => eventId(organisation.id, _id));
    const first = await ask(caller, face, { limit: 10 });
    expect(first.has_more).toBe(true);
    const second = await ask(caller, face, { limit: 10, after: first.next_cursor });
    const third = await ask(caller, face, { limit: 10, after: second.next_cursor });
    expect([...ids(first), ...ids(second), ...ids(third)]).toEqual(wanted);
    expect(third.has_more).toBe(false);
    const none = await ask(caller, face, { after: third.next_cursor });
    expect(none).toMatchObject({ data: [], has_more: false, next_cursor: expect.any(String) });
    await rows.insertOne(eventRow(30));
    expect(ids(await ask(caller, face, { after: none.next_cursor }))).toEqual([
      eventId(organisation.id, eventRow(30)._id),
    ]);
    expect(ids(await ask(caller, face))).toEqual(wanted.slice(0, 20));
  });

  test('an event has what was stored, with its object, and a gap has no object', async () => {
    const { caller, rows, organisation } = await newScene();
    const [from, to] = [new Date('2026-01-01T00:00:00.000Z'), new Date('2026-01-02T00:00:00.000Z')];
    const writer = randomUUID();
    const [related, origin] = [{ type: 'message', id: randomUUID() }, `key:${writer}` as const];
    const told = { ...eventRow(1, 'request.message_added'), changes: ['status'], status: 'sent', related, origin };
    const gap = { ...eventRow(2, 'feed.gap'), object: null, changes: [], gap: { from, to } };
    await rows.insertMany([told, gap]);
    const { data } = await ask(caller, face);
    expect(data).toEqual([
      {
        id: eventId(organisation.id, told._id),
        type: 'request.message_added',
        occurred_at: told.at.toISOString(),
        object: told.object,
        changes: ['status'],
        status: 'sent',
        related,
        gap: null,
        origin: { kind: 'key', id: writer, name: null },
      },
      {
        id: eventId(organisation.id, gap._id),
        type: 'feed.gap',
        occurred_at: gap.at.toISOString(),
        object: null,
        changes: [],
        status: null,
        related: null,
        gap: { from: from.toISOString(), to: to.toISOString() },
        origin: null,
      },
    ]);
  });

  test('events can be filtered by type and object, and a cursor works with any filter', async () => {
    const { caller, rows } = await newScene();
    const id = randomUUID();
    await rows.insertMany([
      eventRow(1),
      eventRow(2, 'quote.created', id),
      eventRow(3, 'quote.deleted', id),
      eventRow(4, 'quote.created'),
    ]);
    const types = async (args: object): Promise<string[]> =>
      (await ask(caller, face, { ...args })).data.map(({ type }: Json) => type as string);
    expect(await types({ types: ['quote.created'] })).toEqual(['quote.created', 'quote.created']);
    expect(await types({ types: ['quote.deleted', 'product.updated'] })).toEqual(['product.updated', 'quote.deleted']);
    expect(await types({ object_id: id.toUpperCase() })).toEqual(['quote.created', 'quote.deleted']);
    expect(await types({ object_id: id, types: ['quote.deleted'] })).toEqual(['quote.deleted']);
    const { next_cursor: after } = await ask(caller, face, { limit: 1, types: ['quote.created'] });
    expect(await types({ after })).toEqual(['quote.deleted', 'quote.created']);
    const before = await ask(caller, face, { after: 'now' });
    expect(before).toMatchObject({ data: [], has_more: false });
    await rows.insertOne(eventRow(5, 'order.created'));
    expect(await types({ after: before.next_cursor })).toEqual(['order.created']);
  });

  test('a key receives only event types within its scopes, and cannot ask for others', async () => {
    const { caller, rows } = await newScene(['orders:read', 'products:write']);
    const gap = { ...eventRow(4, 'feed.gap'), object: null };
    await rows.insertMany([eventRow(1), eventRow(2, 'order.created'), eventRow(3, 'request.message_added'), gap]);
    const { data } = await ask(caller, face);
    expect(data.map(({ type }: Json) => type as string)).toEqual(['order.created', 'feed.gap']);
    expect(await refusal(caller, face, { types: ['order.created', 'quote.created'] })).toMatchObject({
      code: 'insufficient_scope',
      required_scope: 'quotes:read',
    });
    const { caller: writer } = await newScene(['products:write']);
    expect(await refusal(writer, face, {})).toMatchObject({ code: 'insufficient_scope', status: 403 });
  });

  test('a cursor that is altered or of another organisation, and invalid arguments, are rejected', async () => {
    const [one, other] = [await newScene(), await newScene()];
    const { next_cursor: after } = await ask(one.caller, face);
    const list = operations.find(({ name }) => name === 'products')!;
    expect((await one.caller.get(list.rest!.path)).status).toBe(200);
    for (const cursor of [after.slice(0, -2), `${after as string}A`, 'made-up', '{}'])
      expect(await refusal(one.caller, face, { after: cursor })).toMatchObject({
        code: 'invalid_request',
        errors: [{ parameter: 'after', code: 'cursor' }],
      });
    expect((await refusal(other.caller, face, { after })).errors[0].parameter).toBe('after');
    for (const wrong of [{ types: ['quote.eaten'] }, { wait: 21 }, { wait: -1 }, { limit: 101 }, { object_id: 'x' }])
      expect(await refusal(one.caller, face, wrong)).toMatchObject({ code: 'invalid_request', status: 400 });
  });

  test('an expired cursor gets 410', async () => {
    const { caller, rows } = await newScene();
    const days = EVENTS_KEPT_FOR / 86_400_000;
    const old = Math.floor((Date.now() - (days + 1) * 86_400_000) / 1000);
    const time = timeDigits({ t: old, i: 1 });
    await rows.insertOne({ ...eventRow(0), _id: positionOf(0, time, 1) });
    const { next_cursor: after, has_more: hasMore } = await ask(caller, face, { limit: 1 });
    expect(hasMore).toBe(false);
    expect(await refusal(caller, face, { after })).toMatchObject({ code: 'cursor_expired', status: 410 });
  });
});

test('a cursor in use does not expire: once the recording has got that far, an empty page moves it along', async () => {
  await using own = await startGateway({ CONTROL_DATABASE: `scopegate_${randomUUID().slice(0, 8)}` });
  const tail = tailRows(bare, own.databases.control.name);
  const at = new mongoose.mongo.Timestamp({ t: SECOND, i: 7 });
  await tail.updateOne({ _id: 'tail' }, { $set: { at } });
  const caller = await callerOf(own);
  const { next_cursor: fresh } = await ask(caller, REST);
  expect(Buffer.from(fresh as string, 'base64url').toString()).toContain(`${timeDigits(at)}ffffffff`);
  await tail.updateOne({ _id: 'tail' }, { $set: { fault: 'no log' } });
  await eventually(async () => (await caller.get('/events')).status === 503);
  expect((await caller.get('/events')).body).toMatchObject({ code: 'unavailable' });
  await bare.db(own.databases.control.name).dropDatabase();
});

test('a page is read of a server that has everything that was stored when the row of the tail was read', async () => {
  await using own = await startWatchedGateway();
  const { caller, rows, organisation } = await eventScene(own, bare);
  await rows.insertOne(eventRow(1));
  const { operationTime: before } = await bare.db('admin').command({ hello: 1 });
  const sent = await commandsOf(own, organisation, () => ask(caller, REST));
  const reads = sent.filter(({ command }) => command.find === 'events').map(({ command }): Json => command.readConcern);
  expect(reads).toEqual([{ level: 'majority', afterClusterTime: expect.any(mongoose.mongo.Timestamp) as object }]);
  expect(reads[0].afterClusterTime.greaterThanOrEqual(before)).toBe(true);
});

test('a page of some types for a webhook endpoint has everything up to the last event, to which the endpoint skips', async () => {
  await using own = await startWatchedGateway();
  const { rows, organisation } = await eventScene(own, bare);
  const unwanted = eventRow(1);
  await rows.insertOne(unwanted);
  const feed = createFeed(own.databases.organisationData(organisation), {});
  let page: unknown;
  const sent = await commandsOf(own, organisation, async () => {
    page = await feed.next({ position: BEGINNING, types: ['quote.deleted'] }, 10);
  });
  expect(page).toEqual({ entries: [], hasMore: false, next: unwanted._id });
  const reads = sent.filter(({ command }) => command.find === 'events').map(({ command }): Json => command);
  expect(reads.at(-2)).toMatchObject({ sort: new Map([['_id', -1]]) });
  expect(reads.at(-1)).toMatchObject({ sort: new Map([['_id', 1]]), lsid: reads.at(-2)!.lsid });
  expect(reads.at(-1)!.readConcern.afterClusterTime).toBeDefined();
});

test('a page scans a bounded number of events, however few of them the caller may see', async () => {
  const { caller, rows } = await newScene(['orders:read']);
  const many = Array.from({ length: 6000 }, (_none, n) => {
    const _id = positionOf(0, timeDigits({ t: SECOND, i: n }), 1);
    return { ...eventRow(0), _id };
  });
  await rows.insertMany([...many, eventRow(900, 'order.created')]);
  const first = await ask(caller, REST);
  expect(first).toMatchObject({ data: [], has_more: true });
  const second = await ask(caller, REST, { after: first.next_cursor });
  expect(second.data).toMatchObject([{ type: 'order.created' }]);
  expect(second.has_more).toBe(false);
});

describe('a long-polling request', () => {
  const WAITING = 'scopegate_events_waiting_requests';
  const waiting = (count: number): Promise<unknown> =>
    eventually(async () => (await metric(gateway, WAITING)) === count);

  test.each(FACES)(
    'over $name gets the first event of the requested types, even from a gateway that does not record',
    async (face) => {
      const { caller, rows, organisation } = await newScene();
      const started = performance.now();
      const answer = ask(caller, face, { wait: 20, types: ['order.created'] });
      await waiting(1);
      await rows.insertOne(eventRow(1));
      await sleep(300);
      expect(await metric(gateway, WAITING)).toBe(1);
      await rows.insertOne(eventRow(2, 'order.created'));
      expect(ids(await answer)).toEqual([eventId(organisation.id, eventRow(2)._id)]);
      expect(performance.now() - started).toBeLessThan(45_000);
    },
  );

  test('over MCP gets the first of many events after now, of which one answer has only some', async () => {
    const { caller, rows, organisation } = await newScene();
    await rows.insertOne(eventRow(0));
    const answer = ask(caller, MCP, { after: 'now', wait: 20, limit: 100 });
    await waiting(1);
    const changes = Array.from({ length: 20 }, (_, at) => `a_member_of_many_${String(at)}`);
    const burst = Array.from({ length: 100 }, (_, at) => ({ ...eventRow(at + 1), changes }));
    await rows.insertMany(burst);
    const page = await answer;
    const expected = burst.map(({ _id }) => eventId(organisation.id, _id));
    expect(page.data.length).toBeLessThan(100);
    expect([page.has_more, ids(page)]).toEqual([true, expected.slice(0, page.data.length as number)]);
  });

  test('gets an empty page after its wait, and costs one point', async () => {
    const { caller } = await newScene();
    const started = performance.now();
    const { body, headers } = await caller.get('/events', { wait: 1 });
    expect(performance.now() - started).toBeGreaterThan(950);
    expect(body).toMatchObject({ data: [], has_more: false, next_cursor: expect.any(String) });
    const after = await caller.get('/events');
    expect(Number(headers.get('x-ratelimit-remaining')) - Number(after.headers.get('x-ratelimit-remaining'))).toBe(1);
  });

  test("does not count as a running request: with 60 waiting, the organisation's reads are answered", async () => {
    const { organisation, rows, caller } = await newScene();
    const callers = await Promise.all(Array.from({ length: 3 }, async () => callerOf(gateway, organisation)));
    const held = callers.flatMap((caller) => Array.from({ length: 20 }, () => caller.get('/events', { wait: 20 })));
    await waiting(60);
    const reads = await Promise.all(Array.from({ length: 30 }, () => caller.get('/products')));
    expect(new Set(reads.map(({ status }) => status))).toEqual(new Set([200]));
    await rows.insertOne(eventRow(1));
    await Promise.all(held);
  });

  test('is dropped when its caller disconnects', async () => {
    const { organisation } = await newScene();
    const { key } = await makeKey(gateway, organisation);
    const leaving = httpRequest(`${gateway.url}/api/v1/events?wait=20`, {
      headers: { authorization: `Bearer ${key}` },
    });
    leaving.on('error', () => undefined).end();
    await waiting(1);
    leaving.destroy();
    await waiting(0);
  });

  test('ends at once with an empty page when its gateway drains', async () => {
    const own = await startGateway();
    const organisation = await makeOrganisation(own);
    const { key } = await makeKey(own, organisation);
    const answer = client(own, key).get('/events', { wait: 20 });
    await eventually(async () => (await metric(own, WAITING)) === 1);
    const started = performance.now();
    const stopping = own.stop();
    expect(await answer).toMatchObject({ status: 200, body: { data: [], has_more: false } });
    expect(performance.now() - started).toBeLessThan(20_000);
    await stopping;
  });
});
