import { randomUUID } from 'node:crypto';
import mongoose from 'mongoose';
import { tailRows } from '../../src/events/tail/lease';
import { client } from '../support/client';
import { makeKey, makeOrganisation } from '../support/factories';
import { describeWith } from '../support/programs';
import { INSTALL_REDIS, REDIS, startRedis } from '../support/redis';
import { metric, served, servedBy, startGateway, type TestGateway } from '../support/gateway';
import { eventually } from '../api/http/eventually';
import { raw } from '../api/http/raw';

const gateway = served();
/** Moves and jobs are counted when metrics are first read, and then once a minute; a moved organisation would become a job. */
const own = {
  moves: `scopegate_moves_${randomUUID().slice(0, 8)}`,
  jobs: `scopegate_jobs_${randomUUID().slice(0, 8)}`,
};
const begun = Date.now();
const LIMITS = { RATE_LIMIT_PER_MINUTE: '5', MAX_ORGANISATION_BYTES: '2000000' };
/** A gateway with limits, whose organisations are moved. */
const limited = servedBy(async () => {
  const uri = new URL(process.env.TEST_MONGODB_URI!);
  uri.searchParams.set('maxPoolSize', '7');
  const started = await startGateway({ ...LIMITS, CONTROL_DATABASE: own.moves, MONGODB_URI: uri.href });
  for (const seen_at of [new Date(0), new Date(0), new Date(Date.now() + 3_600_000)]) {
    const move = { to: 'eu', mover: 'x', begun_at: new Date(0), seen_at };
    const { id } = await makeOrganisation(started);
    await started.databases.control
      .collection<{ _id: string }>('organisations')
      .updateOne({ _id: id }, { $set: { move } });
  }
  return started;
});
/** A gateway that records events, with jobs, and an endpoint of another WEBHOOK_SECRET. */
const recording = servedBy(async () => {
  const database = gateway.databases.control.getClient().db(own.jobs);
  const open = { state: 'waiting', error: null, ended_at: null, to: 'elsewhere' };
  const again = { ...open, error: 'away' };
  const failed = { state: 'failed', error: 'full', ended_at: new Date() };
  await database
    .collection('jobs')
    .insertMany([open, again, { ...again }, failed, { ...failed, ended_at: new Date(0) }]);
  await database.collection('webhook_endpoints').insertOne({ master: 'of another', state: 'enabled' });
  const WEBHOOK_SECRET = 'a master secret that is long enough';
  return startGateway({ CONTROL_DATABASE: own.jobs, EVENTS: 'on', WEBHOOK_SECRET });
});

/** The metrics of a gateway, by name and labels. */
async function samples({ url }: { url: string }): Promise<Map<string, number>> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]));
}

/** Waits for a value: a request is counted when its answer is finished, possibly after the caller has received it. */
function counted(of: TestGateway, name: string, value: number): Promise<true> {
  return eventually(async () => ((await samples(of)).get(name) === value ? true : undefined));
}

const requests = (operation: string, face: string, status: number): string =>
  `scopegate_http_requests_total{operation="${operation}",face="${face}",status="${String(status)}"}`;

test('the longest time that the event loop was held is measured', async () => {
  await samples(gateway);
  await new Promise((turned) => setTimeout(turned, 50));
  for (const end = performance.now() + 400; performance.now() < end;);
  await new Promise((turned) => setTimeout(turned, 50));
  expect((await samples(gateway)).get('scopegate_loop_delay_seconds')).toBeGreaterThan(0.3);
});

test('counters with known labels start at 0, so that their first increase is seen', async () => {
  const found = await samples(limited);
  for (const name of [
    'scopegate_http_requests_shed_total{reason="bodies"}',
    'scopegate_http_requests_unavailable_total{reason="moving"}',
    'scopegate_http_requests_unauthenticated_total{reason="wrong_secret"}',
    'scopegate_http_connections_refused_total{status="408"}',
    'scopegate_key_lookups_total{state="unknown"}',
    'scopegate_limiter_decisions_total{limiter="organisation",decision="refused"}',
    'scopegate_webhook_deliveries_total{outcome="given_up"}',
    'scopegate_database_restores_total',
    'scopegate_events_recorded_total',
  ])
    expect([name, found.get(name)]).toEqual([name, 0]);
});

test('moves of organisations are counted by state, moving or stopped', async () => {
  await counted(limited, 'scopegate_moves{state="stopped"}', 2);
  expect(await metric(limited, 'scopegate_moves{state="moving"}')).toBe(1);
});

test('jobs are counted by state; those whose last attempt failed count as retrying', async () => {
  await counted(recording, 'scopegate_jobs{state="retrying"}', 2);
  const of = (state: string) => metric(recording, `scopegate_jobs{state="${state}"}`);
  expect([await of('waiting'), await of('running'), await of('failed')]).toEqual([1, 0, 1]);
});

test('a gateway that does not record says how old the newest recorded change is, and why it sends no webhooks', async () => {
  const age = (): Promise<number> => metric(limited, 'scopegate_events_recorded_age_seconds');
  // nothing was ever recorded, so it counts from the start
  expect(await age()).toBeLessThanOrEqual((Date.now() - begun) / 1000 + 1);
  const { control, now } = limited.databases;
  const rows = tailRows(control.getClient(), control.name);
  const at = new mongoose.mongo.Timestamp({ t: Math.floor(now() / 1000) - 900, i: 1 });
  await rows.updateOne({ _id: 'tail' }, { $set: { at } });
  await eventually(async () => (await age()) >= 900);
  expect(await age()).toBeLessThan(960);
  const resting = (reason: string) => metric(limited, `scopegate_webhooks_resting{reason="${reason}"}`);
  expect([await resting('events_off'), await resting('no_secret'), await resting('wrong_secret')]).toEqual([1, 1, 0]);
});

test('a gateway whose WEBHOOK_SECRET is not that of the endpoints says so', async () => {
  await counted(recording, 'scopegate_webhooks_resting{reason="wrong_secret"}', 1);
  expect(await metric(recording, 'scopegate_webhooks_resting{reason="events_off"}')).toBe(0);
});

test('the limit of bytes is a metric only if it is set, and maxPoolSize in the URI is the size of its pool', async () => {
  const [set, unset] = [await samples(limited), await samples(gateway)];
  expect(set.get('scopegate_organisation_bytes_limit')).toBe(2_000_000);
  expect(unset.has('scopegate_organisation_bytes_limit')).toBe(false);
  const name = 'scopegate_database_connections_max';
  expect([set.get(name), unset.get(name)]).toEqual([7, 100]);
});

describe('requests', () => {
  test('are counted by operation, API and status, with their durations', async () => {
    const { key } = await makeKey(gateway, await makeOrganisation(gateway), { scopes: ['products:read'] });
    const caller = client(gateway, key);
    await caller.get('/products');
    await caller.get('/products');
    await caller.get('/quotes');
    await caller.graphql('{ products { has_more } }');
    await fetch(gateway.url);
    await counted(gateway, requests('products', 'rest', 200), 2);
    await counted(gateway, requests('quotes', 'rest', 403), 1);
    await counted(gateway, requests('products', 'graphql', 200), 1);
    await counted(gateway, requests('none', 'pages', 200), 1);
    const found = await samples(gateway);
    expect(found.get('scopegate_http_request_duration_seconds_count{operation="products",face="rest"}')).toBe(2);
    expect(found.get('scopegate_http_request_duration_seconds_bucket{le="30",operation="products",face="rest"}')).toBe(
      2,
    );
  });

  test.each([
    ['{ me { key { id } } products { has_more } }', 'multiple'],
    ['{ a: products { has_more } b: products { has_more } }', 'multiple'],
    ['{ __typename }', 'introspection'],
    ['{ ...Any } fragment Any on Query { me { key { id } } }', 'me'],
    ['{ ... { ... on Query { me { key { id } } } } }', 'me'],
    ['{ secret_of_42: nothing_like_this }', 'none'],
    ['{', 'none'],
  ])('in GraphQL are labelled with their only root field, or a fixed word: %s is %s', async (query, operation) => {
    const { key } = await makeKey(gateway, await makeOrganisation(gateway));
    const labels = new RegExp(`^scopegate_http_requests_total\\{operation="${operation}",face="graphql"`);
    const count = async (): Promise<number> =>
      [...(await samples(gateway))].filter(([name]) => labels.test(name)).reduce((sum, [, value]) => sum + value, 0);
    const before = await count();
    await client(gateway, key).graphql(query);
    await eventually(async () => (await count()) === before + 1);
    expect([...(await samples(gateway)).keys()].join()).not.toMatch(/secret_of|nothing_like/);
  });

  test('have no key, organisation, path or address in any label', async () => {
    const organisation = await makeOrganisation(gateway);
    const { key, id } = await makeKey(gateway, organisation);
    await client(gateway, key).get('/products/0c8b4d6a-6f1e-4b63-8d1c-3f6c9f3f6c55');
    await client(gateway, key).get('/made-up/path');
    const names = [...(await samples(gateway)).keys()].join('\n');
    for (const secret of [key, key.slice(0, 15), id, organisation.id, '0c8b4d6a', 'made-up', '127.0.0.1'])
      expect(names).not.toContain(secret);
  });
});

test("key lookups are counted by result, decisions of limiters by kind, and the limiter's store is reported", async () => {
  const organisation = await makeOrganisation(limited);
  const [live, revoked, ended] = [
    await makeKey(limited, organisation),
    await makeKey(limited, organisation),
    await makeKey(limited, organisation, { expiresAt: new Date(Date.now() - 1000) }),
  ];
  await limited.control.apiKeys.revoke(revoked.id);
  const elsewhere = 'svc_live_0000000000000000000000_0000000000000000000000000000000000000000000000000';
  for (const key of [revoked.key, ended.key, elsewhere, undefined]) await client(limited, key).get('/me');
  for (let call = 0; call < 6; call += 1) await client(limited, live.key).get('/me');
  const found = await samples(limited);
  const lookups = ['live', 'revoked', 'expired', 'malformed'].map((state) =>
    found.get(`scopegate_key_lookups_total{state="${state}"}`),
  );
  expect(lookups).toEqual([6, 1, 1, 2]);
  const decided = (limiter: string, decision: string) =>
    found.get(`scopegate_limiter_decisions_total{limiter="${limiter}",decision="${decision}"}`);
  expect([decided('key', 'allowed'), decided('key', 'refused'), decided('address', 'allowed')]).toEqual([5, 1, 4]);
  expect(found.get('scopegate_limiter_store{state="memory"}')).toBe(1);
});

describeWith(REDIS, INSTALL_REDIS)('with Redis', () => {
  test('loss and recovery of the shared store are reported', async () => {
    const redis = await startRedis();
    const own = await startGateway({ REDIS_URL: redis.url });
    try {
      const caller = client(own, (await makeKey(own, await makeOrganisation(own))).key);
      const store = async (state: string): Promise<boolean> => {
        await caller.get('/me');
        return (await samples(own)).get(`scopegate_limiter_store{state="${state}"}`) === 1;
      };
      await eventually(() => store('shared'));
      await redis.kill();
      await eventually(() => store('degraded'));
      await redis.restart();
      await eventually(() => store('shared'));
    } finally {
      await own.stop();
      await redis.kill();
    }
  });
});

test('database connections and process metrics are reported', async () => {
  const { key } = await makeKey(gateway, await makeOrganisation(gateway));
  await Promise.all(Array.from({ length: 20 }, () => client(gateway, key).get('/products')));
  const found = await samples(gateway);
  const pool = (state: string): number => found.get(`scopegate_database_connections{state="${state}"}`) ?? -1;
  expect(pool('available') + pool('checked_out')).toBeGreaterThan(0);
  expect(pool('pending')).toBe(0);
  for (const name of [
    'nodejs_eventloop_lag_p99_seconds',
    'process_resident_memory_bytes',
    'scopegate_http_connections',
  ])
    expect(found.get(name)).toBeGreaterThanOrEqual(0);
});

describe('access to metrics', () => {
  test.each(['X-Forwarded-For', 'Forwarded', 'X-Real-IP', 'Via'])('through a proxy gets 404: %s', async (name) => {
    const answer = await raw(gateway.url, '/metrics', { headers: { [name]: '127.0.0.1' } });
    expect(answer.status).toBe(404);
    expect(answer.text).not.toContain('scopegate_http');
  });

  test('is allowed only by GET and HEAD', async () => {
    expect((await raw(gateway.url, '/metrics', { method: 'HEAD' })).text).toBe('');
    expect((await raw(gateway.url, '/metrics', { method: 'POST' })).status).toBe(404);
  });
});
