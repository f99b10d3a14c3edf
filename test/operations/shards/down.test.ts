import { randomUUID } from 'node:crypto';
import { databaseName } from '../../../src/mongo/databaseNames';
import { createShardHealth, heartbeatDatabase } from '../../../src/mongo/shardHealth';
import { eventually } from '../../api/http/eventually';
import { operator, TOKENS } from '../../admin/operator/operator';
import type { Answer, Client, Json } from '../../support/client';
import { callerOf, makeOrganisation } from '../../support/factories';
import { late, metric, servedBy, startGateway } from '../../support/gateway';
import { startMongos } from '../../support/mongos';

/* A shard that does not respond behind a mongos that does, by a stand-in for mongos. */

const mongos = late(() => startMongos(['shard01', 'shard02']));
const gateway = servedBy(() =>
  startGateway({ ...TOKENS, EVENTS: 'on', MONGODB_URI: mongos.uri, CONTROL_DATABASE: 'scopegate_shards_down' }),
);
afterAll(() => mongos.close());

const readiness = async () => (await (await fetch(`${gateway.url}/readyz`)).json()) as Record<string, unknown>;
const until = (status: string) => eventually(async () => (await readiness()).status === status);
const untilServed = (caller: Client) => eventually(async () => (await caller.get('/products')).status === 200);
const BODY = { products: [{ sku: 'A', name: 'A' }] };

/** A caller of an organisation on a shard. */
async function on(shard: string): Promise<{ caller: Client; database: string }> {
  const organisation = await makeOrganisation(gateway);
  const database = databaseName(organisation.id);
  mongos.databases.set(database, shard);
  const caller = await callerOf(gateway, organisation);
  expect((await caller.post('/products/bulk', BODY)).status).toBe(200);
  return { caller, database };
}

describe('while it does not respond', () => {
  /** Organisations on the other shard, on this one, on this one without a request, and on one whose name the user may not read. */
  const scene = late(async () => {
    const [here, there, idle, hidden] = [
      await on('shard01'),
      await on('shard02'),
      await on('shard02'),
      await on('shard02'),
    ];
    return { here, there, idle, hidden };
  });
  let [answers, took]: [Answer[], number] = [[], 0];
  beforeAll(async () => {
    const { there, hidden } = scene;
    // as if the database were in no row of the config database
    mongos.hidden.add(hidden.database);
    gateway.logs.length = 0;
    mongos.down.add('shard02');
    const began = performance.now();
    answers = await Promise.all([
      there.caller.get('/products'),
      there.caller.post('/products/bulk', BODY),
      there.caller.get('/events'),
      hidden.caller.get('/products'),
    ]);
    took = performance.now() - began;
    await until('degraded');
  });

  test('its organisations get 503 long before mongos gives up, and then at once; others are served', async () => {
    for (const { status, body } of answers) expect([status, body.code]).toEqual([503, 'unavailable']);
    // the reads would take 25 s here, and the write 37 s
    expect(took).toBeLessThan(22_000);
    expect((await scene.here.caller.get('/products')).status).toBe(200);
    const log = gateway.logs.filter(
      ({ reason, shard }) => reason === 'away' && shard !== undefined && shard !== scene.hidden.database,
    );
    expect(new Set(log.map(({ shard }) => shard))).toEqual(new Set(['shard02']));
    // no command waits for the shard any more; the database whose shard has no name is watched itself
    for (const [{ caller, database }, collection] of [[scene.there], [scene.hidden, 'products']] as const) {
      const asked = mongos.asked(database, collection);
      expect((await caller.get('/products')).status).toBe(503);
      expect((await caller.post('/products/bulk', BODY)).status).toBe(503);
      expect(mongos.asked(database, collection)).toBe(asked);
    }
  });

  test('it is named by /readyz, metrics, the log and operators, no organisation is placed there, and those that were not asked about are known', async () => {
    // a busy machine may delay what the others answer
    const checks = await eventually(async () => {
      const found = (await readiness()).checks as Json;
      return found.database === 'ok' && found.shards.shard01 === 'ok' ? found : undefined;
    });
    expect(checks).toMatchObject({ shards: { shard01: 'ok', shard02: 'unavailable' } });
    // nobody may see the database that is watched instead of a shard without a name
    expect(JSON.stringify(await readiness())).not.toContain('org_');
    expect(await metric(gateway, 'scopegate_shard_up{shard="shard02"}')).toBe(0);
    expect(await metric(gateway, 'scopegate_shard_up{shard="shard01"}')).toBe(1);
    // it holds back the events of all
    expect(await metric(gateway, 'scopegate_events_lag_seconds{shard="shard02"}')).toBeGreaterThanOrEqual(0);
    expect(await metric(gateway, 'scopegate_events_lag_seconds{shard="shard01"}')).toBeNaN();
    expect(await metric(gateway, 'scopegate_database_up')).toBe(1);
    const { data } = (await operator(gateway).get('/shards')).body;
    expect(data).toMatchObject([
      { name: 'shard01', state: 'up' },
      { name: 'shard02', state: 'away' },
    ]);
    const said = gateway.logs.filter(({ shard, msg }) => shard === 'shard02' && msg === 'the shard is not responding');
    expect(said).toMatchObject([{ level: 40, database: 'unavailable' }]);
    await eventually(async () => (await scene.idle.caller.get('/products')).status === 503);
    for (let at = 0; at < 3; at += 1)
      expect((await operator(gateway).post('/organisations', { name: 'New' })).body.shard).toBe('shard01');
  });

  afterAll(async () => {
    mongos.down.clear();
    mongos.hidden.clear();
    await until('ok');
    for (const { caller } of [scene.there, scene.hidden]) await untilServed(caller);
  });
});

test('it is used again once it is back, and an organisation that is moved away then is served in the next outage', async () => {
  const { caller, database } = await on('shard02');
  for (const isMoved of [false, true]) {
    if (isMoved) mongos.databases.set(database, 'shard01');
    mongos.down.add('shard02');
    await until('degraded');
    if (isMoved) expect((await caller.get('/products')).status).toBe(200);
    mongos.down.clear();
    await until('ok');
    await untilServed(caller);
  }
});

test('each shard has a heartbeat, which moves its logical time on, in a database that is placed there', async () => {
  const beats = () => [...mongos.databases].filter(([name]) => name.startsWith('scopegate_shards_down_beat_'));
  await eventually(() => beats().length === 2);
  expect(new Set(beats().map(([, shard]) => shard))).toEqual(new Set(['shard01', 'shard02']));
  const [[name]] = beats() as [[string, string]];
  const before = mongos.asked(name);
  await eventually(() => mongos.asked(name) > before + 1);
});

describe('a gateway of its own control database', () => {
  const control = 'scopegate_shards_drained';
  const healthOf = () =>
    createShardHealth({
      control,
      client: gateway.databases.control.getClient(),
      shards: gateway.databases.shards!,
      answers: () => Promise.resolve(true),
      onChange: () => undefined,
      onWrites: () => undefined,
      onError: () => undefined,
    });
  const beats = async (shard: string) => {
    const database = gateway.databases.control.getClient().db(heartbeatDatabase(control, shard));
    return (await database.listCollections().toArray()).length;
  };
  afterAll(() => {
    mongos.shards = [{ _id: 'shard01' }, { _id: 'shard02' }];
  });

  test('a shard that was asked before it was found gets a heartbeat all the same', async () => {
    const health = healthOf();
    mongos.shards = [{ _id: 'shard01' }];
    await health.start();
    mongos.shards = [{ _id: 'shard01' }, { _id: 'shard02' }];
    const id = randomUUID();
    mongos.databases.set(databaseName(id), 'shard02');
    expect(await health.check(id)).toBeUndefined();
    await health.start();
    await eventually(async () => (await beats('shard01')) + (await beats('shard02')) === 2);
    health.stop();
  });

  test.each(['was there before', 'was started since'])(
    'a draining shard has no heartbeat, which would keep MongoDB from emptying it, if the gateway %s',
    async (since) => {
      const before = healthOf();
      mongos.shards = [{ _id: 'shard01' }, { _id: 'shard02' }];
      await before.start();
      await eventually(async () => (await beats('shard01')) + (await beats('shard02')) === 2);
      before.stop();
      mongos.shards = [{ _id: 'shard01' }, { _id: 'shard02', draining: true }];
      const health = since === 'was there before' ? before : healthOf();
      await health.start();
      expect(health.states().map(({ shard }) => shard)).toEqual(['shard01']);
      expect([await beats('shard01'), await beats('shard02')]).toEqual([1, 0]);
      health.stop();
    },
  );
});
