import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { databaseName } from '../../../src/mongo/databaseNames';
import { POSTS } from '../../../src/limits';
import { commandLine, serve } from '../../cli/commandLine';
import { eventually } from '../http/eventually';
import type { EndpointRow } from '../../../src/organisations/webhookRows';
import { makeOrganisation } from '../../support/factories';
import { startGateway, withGateway } from '../../support/gateway';
import { startReceiver } from '../../support/receiver';
import {
  untilDelivered,
  settle,
  untilReleased,
  idsOf,
  newScene,
  openWorld,
  type Scene,
  storeEvents,
  untilArrived,
  useWorld,
  withRecordedWorld,
  type World,
} from '../../support/fixtures/webhooks';

/* Costs of endpoints, and deliveries by gateways that die or are overloaded. */

jest.mock('../../../src/webhooks/post', () => jest.requireActual<object>('../../support/longPosts'));
jest.mock('../../../src/units', () => jest.requireActual<object>('../../support/longPosts'));

const { world, scene } = useWorld();

/** Stores events, and marks the endpoints of their organisation as due. */
async function record(of: World, { organisation }: Scene, count: number, object?: string): Promise<void> {
  await storeEvents(of, organisation, count, object);
  await of.gateway.control.webhookLeases.wake([organisation.id]);
}

test('two gateways deliver each event of one endpoint once', async () => {
  await withGateway(world.environment, async () => {
    const one = await scene();
    for (let turn = 0; turn < 10; turn += 1) {
      await one.write(10);
      await untilArrived(one, (turn + 1) * 10);
    }
    await untilDelivered(one, 100);
    expect(idsOf(one)).toHaveLength(100);
    expect(new Set(idsOf(one)).size).toBe(100);
  });
});

test('a gateway killed while posting loses no event: another posts the same ids again', async () => {
  const own = await openWorld({ EVENTS: 'off' });
  const tails = own.bare.db(own.environment.CONTROL_DATABASE).collection('event_tails');
  await tails.deleteMany({});
  const cli = commandLine({ ...own.environment, EVENTS: 'on', PORT: '0', MONGODB_URI: process.env.TEST_MONGODB_URI! });
  const { child, end } = await serve(cli);
  try {
    await eventually(async () => (await tails.findOne({}))?.token, 30_000);
    const one = await scene({}, own);
    // never answered
    one.receiver.hold();
    await one.write(5);
    await untilArrived(one, 2);
    child.kill('SIGKILL');
    await end;
    const before = new Set(idsOf(one));
    one.receiver.answer = () => 204;
    // as if its leases had expired
    await own.endpoints.updateOne({ _id: one.id }, { $set: { until: new Date(0) } });
    await tails.updateMany({}, { $set: { until: new Date(0) } });
    await withGateway({ ...own.environment, EVENTS: 'on' }, async () => {
      await untilDelivered(one, 5);
      expect(new Set(idsOf(one))).toEqual(new Set((await one.rows('delivered')).map((row) => row.event_id)));
      for (const id of before) expect(idsOf(one).filter((other) => other === id).length).toBeGreaterThanOrEqual(2);
    });
  } finally {
    child.kill('SIGKILL');
    await own.stop();
  }
});

test('a dead endpoint costs the same commands, rows and posts per attempt, however many events are pending', async () => {
  await withRecordedWorld(async (own, sent) => {
    const costs: object[] = [];
    for (const behind of [100, 3000]) {
      const one = await scene({}, own);
      one.receiver.answer = () => 500;
      const probe = async (number: number): Promise<void> => {
        await one.hurry();
        await eventually(async () => (await one.row()).probes === number);
        await untilReleased(one);
      };
      await record(own, one, behind);
      await eventually(async () => (await one.endpoint()).state === 'failing', 30_000);
      await untilReleased(one);
      const rows = (await one.rows()).length;
      const isBounded = rows < 25 && one.receiver.arrived.length < 25;
      // the first probe may load what later ones have cached
      await probe(1);
      sent.length = 0;
      const posts = one.receiver.arrived.length;
      await probe(2);
      const database = databaseName(one.organisation.id);
      const commands = sent.filter((command) => command.$db === database).map((command) => Object.keys(command)[0]);
      costs.push({ commands: commands.sort(), posts: one.receiver.arrived.length - posts, isBounded });
      expect((await one.rows()).length).toBe(rows);
    }
    expect(costs[1]).toEqual(costs[0]);
    expect(costs[0]).toMatchObject({ posts: 1, isBounded: true });
  });
});

test('idle endpoints cost nothing: a gateway sends as many commands for 1,000 as for none', async () => {
  await withRecordedWorld(async (own, sent) => {
    const idle = async (): Promise<number> => {
      await new Promise((resolve) => setTimeout(resolve, 1500));
      sent.length = 0;
      await new Promise((resolve) => setTimeout(resolve, 4000));
      return sent.filter((command) => JSON.stringify(command).includes('webhook_endpoints')).length;
    };
    const none = await idle();
    const one = await scene({}, own);
    await untilReleased(one);
    const { due: _due, ...rest } = await one.row();
    const rows = Array.from({ length: 1000 }, () => ({ ...rest, _id: randomUUID(), organisation_id: randomUUID() }));
    await own.endpoints.insertMany(rows);
    await settle(one);
    // the rest happens once a minute; one command per endpoint would be a thousand more
    expect(await idle()).toBeLessThanOrEqual(none + 20);
    expect(none).toBeGreaterThan(0);
  });
});

test('endpoints that never respond do not use up the slots of others', async () => {
  const hanging: ServerResponse[] = [];
  let ended = 0;
  const deaf = await startReceiver((_arrival, response) => {
    hanging.push(response);
    response.on('close', () => (ended += 1));
    return undefined;
  });
  const dead = await Promise.all(Array.from({ length: 20 }, () => scene({ receiver: deaf })));
  await Promise.all(dead.map((one) => record(world, one, 60)));
  await eventually(() => hanging.length >= 40, 30_000);
  const healthy = await scene();
  await record(world, healthy, 100);
  await untilArrived(healthy, 100);
  expect(ended).toBe(0);
  expect(hanging.length).toBeLessThanOrEqual(POSTS.all);
});

test('a gateway works on at most 8 endpoints per organisation', async () => {
  const own = await openWorld({ EVENTS: 'off' });
  const deaf = await startReceiver(() => undefined);
  const one = await newScene(own, { receiver: deaf });
  const { _id, ...row } = await one.row();
  const copies = (count: number, members: (at: number) => Partial<EndpointRow>): EndpointRow[] =>
    Array.from({ length: count }, (_none, at) => ({ ...row, _id: randomUUID(), ...members(at) }));
  const held = (): Promise<EndpointRow[]> => own.endpoints.find({ holder: { $ne: null } }).toArray();
  await own.endpoints.deleteOne({ _id });
  await record(own, one, 1);
  // endpoints of one organisation, and one of another behind all of them
  await own.endpoints.insertMany(copies(100, () => ({ due: new Date(0) })));
  const other = await makeOrganisation(own.gateway);
  await record(own, { ...one, organisation: other }, 1);
  const last = copies(1, () => ({ organisation_id: other.id, due: new Date(1000) }));
  await own.endpoints.insertMany(last);
  await own.bare.db(own.environment.CONTROL_DATABASE).collection('event_tails').deleteMany({});
  const delivering = await startGateway({ ...own.environment, EVENTS: 'on' });
  try {
    await eventually(async () => (await held()).length === 9, 30_000);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    const now = await held();
    expect(now.filter(({ organisation_id: id }) => id === one.organisation.id)).toHaveLength(8);
    expect(now.map((found) => found._id)).toContain(last[0]!._id);
  } finally {
    await deaf.stop();
    await delivering.stop();
    await own.stop();
  }
});

test("an object that always fails parks at most 1,050 events; then the endpoint's position waits for it", async () => {
  const one = await scene();
  const bad = randomUUID();
  one.receiver.answer = ({ event }) => (event.object.id === bad ? 500 : 204);
  await record(world, one, 1500, bad);
  await eventually(async () => (await one.row()).parked >= 1000, 60_000);
  await untilReleased(one);
  const rows = await one.rows();
  expect(rows.length).toBeGreaterThanOrEqual(1000);
  expect(rows.length).toBeLessThanOrEqual(1050);
  expect(one.receiver.arrived.length).toBeLessThan(5);
  const { position } = await one.row();
  await world.gateway.control.webhookLeases.wake([one.organisation.id]);
  await eventually(async () => (await one.row()).due!.getTime() > Date.now());
  await untilReleased(one);
  expect((await one.row()).position).toBe(position);
  one.receiver.answer = () => 204;
  await one.hurry();
  await eventually(async () => (await one.rows('delivered')).length === 1500, 120_000);
  const order = (await one.rows('delivered')).map((row) => row.event_id);
  expect([...new Set(idsOf(one))]).toEqual(order);
});
