import { MAX_UNSENT } from '../../src/events/stream';
import { eventually } from '../api/http/eventually';
import { client } from '../support/client';
import { eventRow, type EventScene, eventScene } from '../support/fixtures/events';
import { type OpenedStream, type StreamRequest, subscribe } from '../support/eventStream';
import { makeKey } from '../support/factories';
import { recordCommands } from '../support/recordedCommands';
import { driver, metric, served, startGateway } from '../support/gateway';

/* What streams of events cost, and how they end (docs/decisions/subscription.md). */

const gateway = served();
const bare = driver();
let scene: EventScene;
const opened: OpenedStream[] = [];
/** Points of a key on a separate gateway. */
const POINTS = 30;

beforeEach(async () => {
  scene = await eventScene(gateway, bare);
});
afterEach(async () => {
  for (const stream of opened.splice(0)) stream.leave();
  await open(0);
});

async function follow(request: Partial<StreamRequest> = {}): Promise<OpenedStream> {
  const stream = await subscribe({ url: gateway.url, key: scene.key, ...request });
  opened.push(stream);
  return stream;
}

/** Waits until a number of streams are open. */
const open = (count: number, of = gateway): Promise<unknown> =>
  eventually(async () => (await metric(of, 'scopegate_event_streams')) === count, 30_000);

describe('a stream ends', () => {
  test.each([
    ['its key is revoked', () => gateway.control.apiKeys.revoke(scene.keyId), 'unauthenticated'],
    [
      'its organisation is suspended',
      () => gateway.control.organisations.suspend(scene.organisation.id),
      'organisation_suspended',
    ],
    [
      'its plan loses API access',
      () => gateway.control.organisations.setPlan(scene.organisation.id, 'starter'),
      'plan_required',
    ],
  ])('within seconds after %s, with that error and a cursor to resume from', async (_what, change, code) => {
    const stream = await follow();
    await scene.rows.insertOne(eventRow(1));
    const [{ cursor }] = await stream.first(1);
    const changed = performance.now();
    await change();
    expect(await stream.error()).toMatchObject({ code, cursor, request_id: expect.any(String) });
    expect(performance.now() - changed).toBeLessThan(15_000);
    expect(stream.frames().slice(-2)).toMatchObject([
      { id: cursor, event: 'next' },
      { event: 'complete', data: null },
    ]);
    await open(0);
  });

  test('when its key expires', async () => {
    const { key } = await makeKey(gateway, scene.organisation, { expiresAt: new Date(Date.now() + 2000) });
    expect(await (await follow({ key })).error()).toMatchObject({ code: 'unauthenticated' });
  });

  test('at once when its gateway drains, even if it never received an event; a new one gets 503', async () => {
    const own = await startGateway({ DRAIN_DELAY: '15' }, { drain: 60_000 });
    const [stream, idle] = [await follow({ url: own.url }), await follow({ url: own.url })];
    const begun = await eventually(() => idle.frames()[0]?.id);
    const stopped = own.stop();
    const error = await stream.error();
    expect(error).toMatchObject({ code: 'unavailable', status: 503, cursor: expect.any(String) });
    expect(error.message).toContain('subscribe again with after');
    expect(await idle.error()).toMatchObject({ code: 'unavailable', cursor: begun });
    const late = await follow({ url: own.url });
    expect([late.status, Number(late.headers['retry-after'])]).toEqual([503, 2]);
    await stopped;
    await scene.rows.insertOne(eventRow(1));
    expect(await (await follow({ variables: { after: error.cursor } })).first(1)).toHaveLength(1);
  });
});

describe('rate limiting', () => {
  test('a stream costs one point when opened and one at intervals; without points it ends with rate_limited', async () => {
    const own = await startGateway({ RATE_LIMIT_PER_MINUTE: String(POINTS) }, { streamPoint: 300 });
    const stream = await follow({ url: own.url });
    expect(Number(stream.headers['x-ratelimit-remaining'])).toBe(POINTS - 1);
    const error = await stream.error();
    expect(error).toMatchObject({ code: 'rate_limited', status: 429, retry_after: expect.any(Number) });
    const { status, headers } = await client(own, scene.key).get('/products');
    expect([status, headers.get('x-ratelimit-remaining')]).toEqual([429, '0']);
    opened.pop();
    await own.stop();
  });

  test('events read from the past cost one point for each further 100, as in the feed', async () => {
    const own = await startGateway({ RATE_LIMIT_PER_MINUTE: String(POINTS) });
    await scene.rows.insertMany(Array.from({ length: 950 }, (_none, n) => eventRow(n)));
    const { body } = await client(own, scene.key).get('/events', { limit: 1 });
    const stream = await follow({ url: own.url, variables: { after: body.next_cursor } });
    await stream.first(949);
    const { headers } = await client(own, scene.key).get('/products');
    // the feed, the stream, nine more pages, and the read
    expect(Number(headers.get('x-ratelimit-remaining'))).toBe(POINTS - 12);
    stream.leave();
    opened.pop();
    await own.stop();
  });
});

describe('limits', () => {
  test('an organisation has at most 200 streams, which do not count as its requests', async () => {
    const keys = await Promise.all(Array.from({ length: 11 }, () => makeKey(gateway, scene.organisation)));
    for (const { key } of keys.slice(0, 10)) await Promise.all(Array.from({ length: 20 }, () => follow({ key })));
    await open(200);
    const refused = await follow({ key: keys[10]!.key });
    expect([refused.status, (await refused.error()).code]).toEqual([503, 'unavailable']);
    const other = await eventScene(gateway, bare);
    expect((await follow({ key: other.key })).status).toBe(200);
    expect(await metric(gateway, 'scopegate_http_requests_in_hand')).toBe(0);
    const caller = client(gateway, scene.key);
    const reads = await Promise.all(Array.from({ length: 30 }, () => caller.get('/products')));
    expect(new Set(reads.map(({ status }) => status))).toEqual(new Set([200]));
    await scene.rows.insertOne(eventRow(1));
    await Promise.all(opened.slice(0, 200).map((stream) => stream.first(1)));
  });

  test('1,000 reset connections leave nothing behind', async () => {
    const own = await startGateway();
    const keys = await Promise.all(Array.from({ length: 5 }, () => makeKey(gateway, scene.organisation)));
    for (let turn = 0; turn < 10; turn += 1) {
      const streams = await Promise.all(
        keys.flatMap(({ key }) => Array.from({ length: 20 }, () => subscribe({ url: own.url, key }))),
      );
      expect(new Set(streams.map(({ status }) => status))).toEqual(new Set([200]));
      // half of them while they receive an event
      if (turn % 2 === 0) await scene.rows.insertOne(eventRow(turn));
      for (const stream of streams) stream.reset();
      await open(0, own);
    }
    // its own connection, used to read the metrics
    expect(await metric(own, 'scopegate_http_connections')).toBeLessThanOrEqual(2);
    expect(await metric(own, 'scopegate_http_requests_in_hand')).toBe(0);
    await own.stop();
  });

  test('events that a caller does not read are buffered up to a limit; then its stream ends with the reason, and can be resumed', async () => {
    const [slow, quick] = [await follow({ query: LARGE }), await follow()];
    await open(2);
    slow.pause();
    let written = 0;
    for (; written < 5000; written += 500)
      await scene.rows.insertMany(Array.from({ length: 500 }, (_none, n) => eventRow(written + n)));
    await open(1);
    slow.resume();
    const error = await slow.error();
    expect(error).toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining(`${String(MAX_UNSENT / 1024)} KiB`),
    });
    const before = slow.events().length;
    expect(before).toBeLessThan(written);
    const resumed = await follow({ variables: { after: error.cursor } });
    expect(await resumed.first(written - before)).toHaveLength(written - before);
    await quick.first(written);
  });
});

test('all streams of a gateway share one change stream, and do not query the database themselves', async () => {
  const { proxy, sent } = await recordCommands();
  const own = await startGateway({ MONGODB_URI: proxy.uri });
  const other = await eventScene(gateway, bare);
  const streams = await Promise.all([
    ...Array.from({ length: 20 }, () => follow({ url: own.url })),
    follow({ url: own.url, key: other.key }),
  ]);
  // each has read the earlier events
  await eventually(() => sent.filter(({ find }) => find === 'events').length === 42);
  expect(sent.filter(({ pipeline }) => JSON.stringify(pipeline ?? []).includes('$changeStream'))).toHaveLength(1);
  sent.length = 0;
  for (let n = 0; n < 50; n += 1) await Promise.all([scene, other].map(({ rows }) => rows.insertOne(eventRow(n))));
  await Promise.all(streams.map((stream) => stream.first(50)));
  expect(sent.filter(({ find, aggregate }) => find === 'events' || aggregate !== undefined)).toEqual([]);
  for (const stream of opened.splice(0)) stream.leave();
  await own.stop();
  await proxy.close();
});

/** Selects each event many times. */
const LARGE = `subscription($after: String) {
  events(after: $after) { id cursor ${Array.from({ length: 29 }, (_none, n) => `c${String(n)}: cursor`).join(' ')} }
}`;
