import { randomUUID } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import mongoose, { type mongo } from 'mongoose';
import type { Organisation } from '../../src/auth/principal';
import type { Scope } from '../../src/auth/scopes';
import { databaseName } from '../../src/database/organisationData';
import { type EventRow, events, KEPT_FOR } from '../../src/events/collection';
import { eventId, positionOf, timeDigits } from '../../src/events/position';
import { tailRows } from '../../src/events/tail/lease';
import { type Client, client, type Json } from '../support/client';
import { makeKey, makeOrganisation } from '../support/factories';
import { startGateway, type TestGateway } from '../support/gateway';
import { argumentsOf, FACES, type Face, operations } from '../support/operations';
import { IDS } from '../contract/scene';

/* The feed of events, which are written here as another gateway's tail would (real ones: test/operation/events.system.test.ts). */

const operation = operations.find(({ name }) => name === 'events')!;
let gateway: TestGateway;
let bare: mongo.MongoClient;

beforeAll(async () => {
  gateway = await startGateway();
  bare = await mongoose.mongo.MongoClient.connect(process.env.TEST_MONGODB_URI!);
});
afterAll(async () => {
  await bare.close();
  await gateway.stop();
});

interface Scene {
  readonly organisation: Organisation;
  readonly caller: Client;
  readonly rows: mongo.Collection<EventRow>;
}

async function newScene(scopes?: readonly Scope[]): Promise<Scene> {
  const organisation = await makeOrganisation(gateway);
  const { key } = await makeKey(gateway, organisation, scopes ? { scopes } : {});
  await gateway.databases.organisationData(organisation).prepare([events]);
  const rows = bare.db(databaseName(organisation.id)).collection<EventRow>(events.name);
  return { organisation, caller: client(gateway, key), rows };
}

const SECOND = Math.floor(Date.now() / 1000) - 1000;

/** The nth event, a second after the one before. */
function row(n: number, type = 'product.updated', id = randomUUID() as string): EventRow {
  const time = timeDigits({ t: SECOND + n, i: 1 });
  const object = { type: type.split('.')[0]!, id };
  const at = new Date((SECOND + n) * 1000);
  return { _id: positionOf(0, time, 1), type, at, object, changes: ['name'], status: null };
}

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
    const all = Array.from({ length: 25 }, (_none, n) => row(n));
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
    await rows.insertOne(row(30));
    expect(ids(await ask(caller, face, { after: none.next_cursor }))).toEqual([eventId(organisation.id, row(30)._id)]);
    expect(ids(await ask(caller, face))).toEqual(wanted.slice(0, 20));
  });

  test('an event has what was stored, with its object, and a gap has no object', async () => {
    const { caller, rows, organisation } = await newScene();
    const [from, to] = [new Date('2026-01-01T00:00:00.000Z'), new Date('2026-01-02T00:00:00.000Z')];
    const related = { type: 'message', id: randomUUID() };
    const told = { ...row(1, 'request.message_added'), changes: ['status'], status: 'sent', related };
    const gap = { ...row(2, 'feed.gap'), object: null, changes: [], gap: { from, to } };
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
      },
    ]);
  });

  test('events can be filtered by type and object, and a cursor works with any filter', async () => {
    const { caller, rows } = await newScene();
    const id = randomUUID();
    await rows.insertMany([row(1), row(2, 'quote.created', id), row(3, 'quote.deleted', id), row(4, 'quote.created')]);
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
    await rows.insertOne(row(5, 'order.created'));
    expect(await types({ after: before.next_cursor })).toEqual(['order.created']);
  });

  test('a key receives only event types within its scopes, and cannot ask for others', async () => {
    const { caller, rows } = await newScene(['orders:read', 'products:write']);
    const gap = { ...row(4, 'feed.gap'), object: null };
    await rows.insertMany([row(1), row(2, 'order.created'), row(3, 'request.message_added'), gap]);
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

  test('an expired cursor gets 410, and a cursor in use does not expire', async () => {
    const { caller, rows } = await newScene();
    const days = KEPT_FOR / 86_400_000;
    const old = Math.floor((Date.now() - (days + 1) * 86_400_000) / 1000);
    const time = timeDigits({ t: old, i: 1 });
    await rows.insertOne({ ...row(0), _id: positionOf(0, time, 1) });
    const { next_cursor: after, has_more: hasMore } = await ask(caller, face, { limit: 1 });
    expect(hasMore).toBe(false);
    expect(await refusal(caller, face, { after })).toMatchObject({ code: 'cursor_expired', status: 410 });
    // once the tail has got that far, an empty page moves the caller's cursor along
    const own = await startGateway({ CONTROL_DATABASE: `scopegate_${randomUUID().slice(0, 8)}` });
    const tail = tailRows(bare, own.databases.control.name);
    const at = new mongoose.mongo.Timestamp({ t: SECOND, i: 7 });
    await tail.updateOne({ _id: 'tail' }, { $set: { at } });
    const organisation = await makeOrganisation(own);
    const { key } = await makeKey(own, organisation);
    const { next_cursor: fresh } = await ask(client(own, key), face);
    expect(Buffer.from(fresh as string, 'base64url').toString()).toContain(`${timeDigits(at)}ffffffff`);
    await tail.updateOne({ _id: 'tail' }, { $set: { fault: 'no log' } });
    await sleep(600);
    expect(await refusal(client(own, key), face, {})).toMatchObject({ code: 'unavailable', status: 503 });
    await bare.db(own.databases.control.name).dropDatabase();
    await own.stop();
  });
});

test('a page scans a bounded number of events, however few of them the caller may see', async () => {
  const { caller, rows } = await newScene(['orders:read']);
  const many = Array.from({ length: 6000 }, (_none, n) => {
    const _id = positionOf(0, timeDigits({ t: SECOND, i: n }), 1);
    return { ...row(0), _id };
  });
  await rows.insertMany([...many, row(900, 'order.created')]);
  const first = await ask(caller, FACES[0]!);
  expect(first).toMatchObject({ data: [], has_more: true });
  const second = await ask(caller, FACES[0]!, { after: first.next_cursor });
  expect(second.data).toMatchObject([{ type: 'order.created' }]);
  expect(second.has_more).toBe(false);
});

describe('a long-polling request', () => {
  const waiting = (count: number): Promise<void> =>
    until(async () => (await metric('scopegate_events_waiting_requests')) === count);

  async function metric(name: string, of = gateway): Promise<number> {
    const text = await (await fetch(`${of.url}/metrics`)).text();
    return Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1]);
  }

  async function until(look: () => Promise<boolean>): Promise<void> {
    for (let turn = 0; turn < 200; turn += 1) {
      if (await look()) return;
      await sleep(50);
    }
    throw new Error(`not in time: ${look.toString()}`);
  }

  test.each(FACES)(
    'over $name gets the first event of the requested types, even from a gateway that does not record',
    async (face) => {
      const { caller, rows, organisation } = await newScene();
      const started = performance.now();
      const answer = ask(caller, face, { wait: 20, types: ['order.created'] });
      await waiting(1);
      await rows.insertOne(row(1));
      await sleep(300);
      expect(await metric('scopegate_events_waiting_requests')).toBe(1);
      await rows.insertOne(row(2, 'order.created'));
      expect(ids(await answer)).toEqual([eventId(organisation.id, row(2)._id)]);
      expect(performance.now() - started).toBeLessThan(19_000);
    },
  );

  test('gets an empty page after its wait, and costs one point', async () => {
    const { caller } = await newScene();
    const started = performance.now();
    const { body, headers } = await caller.get('/events', { wait: 1 });
    expect(performance.now() - started).toBeGreaterThan(950);
    expect(body).toMatchObject({ data: [], has_more: false, next_cursor: expect.any(String) });
    const after = await caller.get('/events');
    expect(Number(headers.get('x-ratelimit-remaining')) - Number(after.headers.get('x-ratelimit-remaining'))).toBe(1);
  });

  test('is limited to 20 per key; the next gets 429, and other keys are served', async () => {
    const { caller, rows, organisation } = await newScene();
    const first = Array.from({ length: 20 }, () => caller.get('/events', { wait: 20 }));
    await waiting(20);
    const refused = await caller.get('/events', { wait: 20 });
    expect(refused).toMatchObject({
      status: 429,
      body: { code: 'rate_limited', detail: expect.stringContaining('20 requests of this key') },
    });
    expect((await caller.get('/events')).status).toBe(200);
    const { key } = await makeKey(gateway, organisation);
    const other = client(gateway, key).get('/events', { wait: 20 });
    await waiting(21);
    await rows.insertOne(row(1));
    const answers = await Promise.all([...first, other]);
    expect(new Set(answers.map(({ status, body }) => `${String(status)} ${String(body.data.length)}`))).toEqual(
      new Set(['200 1']),
    );
    await waiting(0);
  });

  test("does not count as a running request: with 60 waiting, the organisation's reads are answered", async () => {
    const { organisation, rows, caller } = await newScene();
    const callers = await Promise.all(
      Array.from({ length: 3 }, async () => client(gateway, (await makeKey(gateway, organisation)).key)),
    );
    const held = callers.flatMap((one) => Array.from({ length: 20 }, () => one.get('/events', { wait: 20 })));
    await waiting(60);
    const reads = await Promise.all(Array.from({ length: 30 }, () => caller.get('/products')));
    expect(new Set(reads.map(({ status }) => status))).toEqual(new Set([200]));
    await rows.insertOne(row(1));
    await Promise.all(held);
  });

  test('ends with 401 within seconds after its key is revoked', async () => {
    const { organisation } = await newScene();
    const { id, key } = await makeKey(gateway, organisation);
    const started = performance.now();
    const answer = client(gateway, key).get('/events', { wait: 20 });
    await waiting(1);
    await gateway.control.apiKeys.revoke(id);
    expect((await answer).status).toBe(401);
    expect(performance.now() - started).toBeLessThan(15_000);
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
    await until(async () => (await metric('scopegate_events_waiting_requests', own)) === 1);
    const started = performance.now();
    await own.stop();
    expect(await answer).toMatchObject({ status: 200, body: { data: [], has_more: false } });
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});
