import { createClient } from 'graphql-sse';
import { eventId, positionOf, timeDigits } from '../../../src/events/position';
import { eventually } from '../http/eventually';
import { client, type Json } from '../../support/client';
import { eventRow, eventScene, type EventScene } from '../../support/fixtures/events';
import { EVENTS, type OpenedStream, type StreamRequest, subscribe } from '../../support/eventStream';
import { makeKey } from '../../support/factories';
import { driver, metric, served } from '../../support/gateway';

/* The subscription to events (docs/decisions/subscription.md); its costs are in test/operations/streams.slow.test.ts. */

jest.mock('../../../src/events/waiting', () => jest.requireActual<object>('../../support/longWaits'));

const gateway = served({}, { comment: 300 });
const bare = driver();
let scene: EventScene;
const opened: OpenedStream[] = [];

beforeEach(async () => {
  scene = await eventScene(gateway, bare);
});
afterEach(() => {
  for (const stream of opened.splice(0)) stream.leave();
});

async function open(request: Partial<StreamRequest> = {}): Promise<OpenedStream> {
  const stream = await subscribe({ url: gateway.url, key: scene.key, ...request });
  opened.push(stream);
  return stream;
}

const ids = (events: readonly Json[]): string[] => events.map(({ id }) => id as string);
const idOf = (n: number): string => eventId(scene.organisation.id, eventRow(n)._id);

test('events arrive as they happen, with the form and id of the feed, and a cursor to resume after each', async () => {
  const stream = await open();
  expect(stream.status).toBe(200);
  expect(stream.headers).toMatchObject({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
    'x-ratelimit-remaining': expect.any(String),
    'x-request-id': expect.any(String),
  });
  const gap = { from: new Date('2026-01-01T00:00:00.000Z'), to: new Date('2026-01-02T00:00:00.000Z') };
  await scene.rows.insertMany([
    eventRow(1),
    { ...eventRow(2, 'quote.status_changed'), changes: ['status'], status: 'sent' },
    { ...eventRow(3, 'feed.gap'), object: null, changes: [], gap },
  ]);
  const told = await stream.first(3);
  const caller = client(gateway, scene.key);
  const { body } = await caller.get('/events');
  expect(told.map(({ cursor: _, ...event }: Json) => event)).toEqual(body.data);
  const after = await caller.get('/events', { after: told[1].cursor });
  expect(ids(after.body.data)).toEqual([told[2].id]);
  const frames = stream.frames().filter(({ event }) => event === 'next');
  expect(frames.map(({ id }) => id)).toEqual(told.map(({ cursor }: Json) => cursor as string));
});

test('starts from now or after a cursor, and delivers each event once and in order while new ones arrive', async () => {
  await scene.rows.insertMany(Array.from({ length: 250 }, (_none, n) => eventRow(n)));
  const now = await open();
  const { body } = await client(gateway, scene.key).get('/events', { limit: 10 });
  const stream = await open({ variables: { after: body.next_cursor } });
  for (let n = 250; n < 300; n += 5)
    await scene.rows.insertMany(Array.from({ length: 5 }, (_none, more) => eventRow(n + more)));
  const wanted = Array.from({ length: 290 }, (_none, n) => idOf(n + 10));
  expect(ids(await stream.first(290))).toEqual(wanted);
  expect(ids(await now.first(50))).toEqual(wanted.slice(240));
});

test('an interrupted stream is resumed with after, or with Last-Event-ID, which takes precedence', async () => {
  const first = await open();
  // the cursor at the start, for a caller whose stream breaks before the first event
  const begun = await eventually(() => first.frames()[0]?.id);
  await scene.rows.insertMany([eventRow(1), eventRow(2), eventRow(3)]);
  const [, second] = await first.first(3);
  first.leave();
  await scene.rows.insertOne(eventRow(4));
  expect(ids(await (await open({ variables: { after: second.cursor } })).first(2))).toEqual([idOf(3), idOf(4)]);
  const headers = { 'last-event-id': second.cursor as string };
  const resumed = await open({ variables: { after: 'now' }, headers });
  expect(ids(await resumed.first(2))).toEqual([idOf(3), idOf(4)]);
  expect(ids(await (await open({ variables: { after: begun } })).first(4))).toEqual([1, 2, 3, 4].map(idOf));
});

test('a key receives only event types within its scopes, and cannot ask for others', async () => {
  const { organisation } = scene;
  const withScopes = async (scopes: NonNullable<Parameters<typeof makeKey>[2]>['scopes']): Promise<string> =>
    (await makeKey(gateway, organisation, { scopes: scopes! })).key;
  const key = await withScopes(['orders:read', 'products:write']);
  const stream = await open({ key });
  const chosen = await open({ variables: { types: ['order.created'] } });
  await scene.rows.insertMany([
    eventRow(1),
    eventRow(2, 'order.created'),
    eventRow(3, 'request.message_added'),
    { ...eventRow(4, 'feed.gap'), object: null },
    eventRow(5, 'order.created'),
  ]);
  const types = (events: readonly Json[]): string[] => events.map(({ type }) => type as string);
  expect(types(await stream.first(3))).toEqual(['order.created', 'feed.gap', 'order.created']);
  expect(types(await chosen.first(2))).toEqual(['order.created', 'order.created']);
  const refused = await open({ key, variables: { types: ['order.created', 'quote.created'] } });
  expect(await refused.error()).toMatchObject({
    code: 'insufficient_scope',
    status: 403,
    required_scope: 'quotes:read',
    request_id: expect.any(String),
  });
  const writer = await open({ key: await withScopes(['products:write']) });
  expect(await writer.error()).toMatchObject({ code: 'insufficient_scope', status: 403 });
  expect(await metric(gateway, 'scopegate_event_streams')).toBe(2);
});

test('ends with its cursor when its key loses a scope that it needs, and a waiting request with 403; others go on', async () => {
  const { rows, keyId } = scene;
  const [all, quotes, orders] = [
    await open(),
    await open({ variables: { types: ['quote.created'] } }),
    await open({ variables: { types: ['order.created'] } }),
  ];
  const waiting = client(gateway, scene.key).get('/events', { types: 'quote.created', after: 'now', wait: 20 });
  await eventually(async () => (await metric(gateway, 'scopegate_events_waiting_requests')) === 1);
  const { scopes } = (await gateway.control.apiKeys.find(keyId))!;
  await gateway.control.apiKeys.update(keyId, { scopes: scopes.filter((scope) => scope !== 'quotes:read') });
  const refusal = { code: 'insufficient_scope', required_scope: 'quotes:read' };
  for (const stream of [all, quotes]) expect(await stream.error()).toMatchObject({ ...refusal, status: 403 });
  expect(await waiting).toMatchObject({ status: 403, body: refusal });
  await rows.insertMany([eventRow(1, 'quote.created'), eventRow(2, 'order.created')]);
  expect(ids(await orders.first(1))).toEqual([idOf(2)]);
  const { cursor } = await all.error();
  expect(ids(await (await open({ variables: { after: cursor } })).first(1))).toEqual([idOf(2)]);
});

test('receives no events of other organisations, and rejects their cursors', async () => {
  const other = await eventScene(gateway, bare);
  const [mine, theirs] = [await open(), await open({ key: other.key })];
  await other.rows.insertOne(eventRow(1));
  const [{ cursor }] = await theirs.first(1);
  await scene.rows.insertOne(eventRow(2));
  expect(ids(await mine.first(1))).toEqual([idOf(2)]);
  expect(theirs.events()).toHaveLength(1);
  const refused = await open({ variables: { after: cursor } });
  expect(await refused.error()).toMatchObject({
    code: 'invalid_request',
    errors: [{ parameter: 'after', code: 'cursor' }],
  });
});

test('types and cursors are validated as in the feed, and expired cursors are rejected', async () => {
  const old = positionOf(0, timeDigits({ t: Math.floor(Date.now() / 1000) - 31 * 86_400, i: 1 }), 1);
  await scene.rows.insertOne({ ...eventRow(0), _id: old });
  const { body } = await client(gateway, scene.key).get('/events', { limit: 1 });
  const wrong = [
    [{ types: ['quote.eaten'] }, 'invalid_request'],
    // none for ever
    [{ types: [] }, 'invalid_request'],
    [{ after: 'made-up' }, 'invalid_request'],
    [{ after: `${body.next_cursor as string}A` }, 'invalid_request'],
    [{ after: body.next_cursor }, 'cursor_expired'],
  ] as const;
  for (const [variables, code] of wrong) {
    const stream = await open({ variables });
    expect([stream.status, (await stream.error()).code]).toEqual([200, code]);
    expect(stream.frames().map(({ event }) => event)).toEqual(['next', 'complete']);
  }
});

test.each([
  ['two root fields', 'subscription { events { id } other: events { id } }', 'only one'],
  [
    'too many fields per event',
    `subscription { events { ${'id '.repeat(100)} } }`,
    'every event: 101; the limit is 100',
  ],
  [
    'too many fields in fragments',
    `subscription { events { ${'...F '.repeat(34)} } } fragment F on Event { id type }`,
    'every event: 103',
  ],
  [
    'a fragment that contains itself',
    'subscription { events { ...F } } fragment F on Event { id ...F }',
    'within itself',
  ],
  ['an unknown field', 'subscription { events { secret } }', 'secret'],
])('%s is rejected', async (_what, query, words) => {
  const stream = await open({ query });
  const error = await stream.error();
  expect(error).toMatchObject({ code: 'invalid_request', status: 400, message: expect.stringContaining(words) });
  expect(await metric(gateway, 'scopegate_event_streams')).toBe(0);
});

test('a caller without access gets an HTTP status, as everywhere', async () => {
  expect((await open({ key: undefined })).status).toBe(401);
  expect((await open({ key: 'svc_live_wrong' })).status).toBe(401);
  await gateway.control.organisations.suspend(scene.organisation.id);
  const suspended = await open();
  expect(suspended.status).toBe(403);
  expect(await suspended.error()).toMatchObject({ code: 'organisation_suspended' });
});

test('a subscription without Accept: text/event-stream is told what to send; other operations are answered in JSON', async () => {
  const caller = client(gateway, scene.key);
  for (const accept of ['application/json', '*/*', 'text/event-stream;q=0, application/json']) {
    const { status, body } = await caller.graphql(EVENTS, {}, { accept });
    expect([status, body.errors[0].extensions.code]).toEqual([406, 'not_acceptable']);
    expect(body.errors[0].message).toContain('Accept: text/event-stream');
  }
  const all = 'application/graphql-response+json, application/json, text/event-stream, multipart/mixed';
  const { status, headers } = await caller.graphql('{ products { has_more } }', {}, { accept: all });
  expect([status, headers.get('content-type')]).toEqual([
    200,
    expect.stringContaining('application/graphql-response+json'),
  ]);
  for (const accept of [all, 'Text/Event-Stream']) {
    const stream = await open({ headers: { accept } });
    expect(stream.headers['content-type']).toContain('text/event-stream');
  }
});

test('a query or mutation whose caller takes only a stream is answered with a stream of one result', async () => {
  const write = 'mutation { open_request(text: "x") { subject } }';
  for (const [query, data] of [
    ['{ me { key { name } } }', { me: { key: { name: expect.any(String) } } }],
    ['{ order(id: "x") { id } }', { order: null }],
    [write, { open_request: { subject: 'x' } }],
  ] as const) {
    const stream = await open({ query });
    await eventually(() => stream.isOver());
    const [next, complete] = stream.frames();
    expect(next).toMatchObject({ event: 'next', data: { data } });
    expect(complete).toMatchObject({ event: 'complete' });
  }
});

test.each([
  ['subscription { events @skip(if: true) { id } }', {}],
  ['subscription ($v: Boolean!) { events @include(if: $v) { id } }', { v: true }],
  ['subscription ($v: Boolean!) { ... @skip(if: $v) { events { id } } }', { v: false }],
  ['subscription ($v: Boolean!) { ...F } fragment F on Subscription { events @skip(if: $v) { id } }', { v: false }],
  ['query Q { __typename } subscription S($v: Boolean!) { events @skip(if: $v) { id } }', { v: false }],
])('a condition on the root field is rejected with a clear message: %s', async (query, variables) => {
  const answer = await fetch(`${gateway.url}/graphql`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${scene.key}`,
      'content-type': 'application/json',
      accept: 'text/event-stream, application/json',
    },
    body: JSON.stringify({ query, variables, ...(query.startsWith('query Q') && { operationName: 'Q' }) }),
  });
  expect(answer.status).toBeLessThan(500);
  expect(await answer.text()).toContain('A subscription must not have @skip or @include at its root.');
});

test('an idle stream receives comments', async () => {
  const stream = await open();
  await eventually(() => stream.text().split('\n:\n\n').length > 2 || stream.text().split('\n\n:\n\n').length > 2);
  expect(stream.events()).toEqual([]);
});

test('the graphql-sse client receives events, subscription errors, and the end of a stream', async () => {
  const callers = createClient({
    url: `${gateway.url}/graphql`,
    headers: { authorization: `Bearer ${scene.key}` },
    retryAttempts: 0,
  });
  const results = callers.iterate<{ events: Json }>({ query: EVENTS, variables: { types: ['order.created'] } });
  const first = results.next();
  await eventually(async () => (await metric(gateway, 'scopegate_event_streams')) === 1);
  await scene.rows.insertMany([eventRow(1), eventRow(2, 'order.created')]);
  const { value } = (await first) as { value: { data: { events: Json } } };
  expect(value.data.events).toMatchObject({ id: idOf(2), type: 'order.created', cursor: expect.any(String) });
  await results.return?.();
  await eventually(async () => (await metric(gateway, 'scopegate_event_streams')) === 0);
  const told: unknown[] = [];
  for await (const result of callers.iterate({ query: EVENTS, variables: { types: ['x'] } })) told.push(result);
  expect(told).toMatchObject([{ errors: [{ extensions: { code: 'invalid_request' } }] }]);
  const ending = callers.iterate({ query: EVENTS });
  const last = ending.next();
  await eventually(async () => (await metric(gateway, 'scopegate_event_streams')) === 1);
  await gateway.control.apiKeys.revoke(scene.keyId);
  expect((await last).value).toMatchObject({ errors: [{ extensions: { code: 'unauthenticated' } }] });
  expect(await ending.next()).toEqual({ done: true, value: undefined });
  callers.dispose();
});
