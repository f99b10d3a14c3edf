import type { mongo } from 'mongoose';
import type { Organisation } from '../../../src/auth/principal';
import { databaseName } from '../../../src/mongo/databaseNames';
import { type EventRow, events } from '../../../src/events/collection';
import { HOUR, MINUTE } from '../../../src/units';
import { positionOfDelivery } from '../../../src/webhooks/deliveries';
import { eventually } from '../http/eventually';
import { makeOrganisation } from '../../support/factories';
import { withGateway } from '../../support/gateway';
import {
  untilDelivered,
  untilReleased,
  idsOf,
  objectsOf,
  openWorld,
  type Scene,
  storeEvents,
  untilArrived,
  useWorld,
  withRecordedWorld,
} from '../../support/fixtures/webhooks';

/* When endpoints get their turn, and when they do not. */

jest.mock('../../../src/webhooks/post', () => jest.requireActual<object>('../../support/longPosts'));
jest.mock('../../../src/units', () => jest.requireActual<object>('../../support/longPosts'));

const SOON = 30_000;

const { world, scene } = useWorld();

const eventsOf = (organisation: Organisation): mongo.Collection<EventRow> =>
  world.bare.db(databaseName(organisation.id)).collection<EventRow>(events.name);

/** Stores events while no gateway works on the endpoint, so that all are there when one starts. */
async function record(one: Scene, count: number): Promise<void> {
  await one.set({ until: new Date(Date.now() + HOUR) });
  await storeEvents(world, one.organisation, count);
  await one.hurry();
}

test('a gateway looks for endpoints of an organisation without any at most once in 5 s, however many events it has', async () => {
  await withRecordedWorld(async (own, sent) => {
    const { organisation } = await scene({}, own);
    const { id } = await makeOrganisation(own.gateway);
    const { webhookLeases } = own.gateway.control;
    sent.length = 0;
    for (let turn = 0; turn < 50; turn += 1) expect(await webhookLeases.wake([id])).toBe(false);
    expect(sent.filter((command) => JSON.stringify(command).includes(id)).length).toBeLessThan(10);
    for (let turn = 0; turn < 10; turn += 1) expect(await webhookLeases.wake([organisation.id])).toBe(true);
  });
});

test('an endpoint created while its organisation is cached as having none misses no event, and gets no earlier ones', async () => {
  const organisation = await makeOrganisation(world.gateway);
  await storeEvents(world, organisation, 3);
  expect(await world.gateway.control.webhookLeases.wake([organisation.id])).toBe(false);
  const one = await scene({ organisation });
  // a worker has looked at it once
  await eventually(async () => {
    const { holder, due, created_at: made } = await one.row();
    return holder === null && due?.getTime() !== made.getTime();
  }, SOON);
  const [quote] = await one.write(1);
  await untilDelivered(one, 1);
  expect(objectsOf(one)).toEqual([quote]);
});

test('with a WEBHOOK_SECRET that does not match the endpoints nothing is sent, which is logged; with the right one everything is', async () => {
  await using own = await openWorld({ EVENTS: 'off' });
  const recording = { ...own.environment, EVENTS: 'on' };
  const one = await scene({}, own);
  await own.bare.db(own.environment.CONTROL_DATABASE).collection('event_tails').deleteMany({});
  const other = { ...recording, WEBHOOK_SECRET: 'another master secret of webhooks, for tests' };
  await withGateway(other, async ({ logs }) => {
    await one.write(2);
    await eventually(() => logs.some(({ msg }) => String(msg).startsWith('webhooks are not sent')), SOON);
    await eventually(async () => (await one.row()).wakes > 0 && (await one.endpoint()).lag_seconds > 0, SOON);
  });
  expect(one.receiver.arrived).toEqual([]);
  await withGateway(recording, async () => {
    await untilDelivered(one, 2);
  });
  expect(idsOf(one)).toHaveLength(2);
});

test.each([
  [
    'is suspended',
    ({ id }: Organisation) => world.gateway.control.organisations.suspend(id),
    ({ id }: Organisation) => world.gateway.control.organisations.resume(id),
  ],
  [
    'has a plan without API access',
    ({ id }: Organisation) => world.gateway.control.organisations.setPlan(id, 'starter'),
    ({ id, plan }: Organisation) => world.gateway.control.organisations.setPlan(id, plan),
  ],
])('while an organisation %s nothing is sent; afterwards everything is', async (_what, begin, end) => {
  const one = await scene();
  await one.write(1);
  await untilDelivered(one, 1);
  await untilReleased(one);
  const { wakes } = await one.row();
  await begin(one.organisation);
  await one.write(2);
  await eventually(async () => {
    const row = await one.row();
    return row.wakes > wakes && row.until.getTime() > Date.now() + 30_000;
  }, SOON);
  expect(one.receiver.arrived).toHaveLength(1);
  await end(one.organisation);
  await one.hurry();
  await untilDelivered(one, 3);
  expect(idsOf(one)).toHaveLength(3);
});

test('a parked event that is no longer kept is given up, and the events behind it continue', async () => {
  const one = await scene();
  const [quote = ''] = await one.write(1);
  await untilDelivered(one, 1);
  one.receiver.answer = () => 500;
  await one.change(quote, 2);
  await eventually(async () => (await one.rows('held')).length === 1, SOON);
  const [head] = await one.rows('waiting');
  await eventsOf(one.organisation).deleteOne({ _id: positionOfDelivery(head!._id) });
  one.receiver.answer = () => 204;
  await one.hurry();
  await untilDelivered(one, 2);
  expect(await one.rows('failed')).toMatchObject([{ _id: head!._id, attempts: 1, next_at: null }]);
  await eventually(async () => (await one.endpoint()).waiting === 0);
});

test('enabling from now drops parked events for good, even if something else is parked later', async () => {
  const one = await scene();
  const [quote = ''] = await one.write(1);
  await untilDelivered(one, 1);
  one.receiver.answer = () => 500;
  await one.change(quote, 3);
  await eventually(async () => (await one.rows('held')).length === 2, SOON);
  await untilReleased(one);
  const tried = one.receiver.arrived.length;
  await one.admin('enable_webhook', { webhook_id: one.id, from: new Date(Date.now() + MINUTE).toISOString() });
  expect(await one.rows('skipped')).toHaveLength(3);
  expect(await one.rows('waiting')).toEqual([]);
  const [other = ''] = await one.write(1);
  await eventually(async () => (await one.rows('waiting')).length === 1, SOON);
  one.receiver.answer = () => 204;
  await one.hurry();
  await untilDelivered(one, 2);
  expect(new Set(objectsOf(one).slice(tried))).toEqual(new Set([other]));
});

test('an endpoint is sent events of at most 8 objects at once', async () => {
  const one = await scene();
  const open: (() => void)[] = [];
  one.receiver.answer = ({ event }, response) => {
    if (one.receiver.arrived.length <= 10 || event.type === 'webhook.test') return 204;
    open.push(() => response.writeHead(204).end());
    return undefined;
  };
  await record(one, 40);
  await eventually(() => open.length === 8, SOON);
  // sent after all posts that were started
  expect(await one.admin('send_test_event', { webhook_id: one.id })).toMatchObject({ ok: true });
  expect(open).toHaveLength(8);
  one.receiver.answer = () => 204;
  for (const end of open) end();
  await untilDelivered(one, 40);
});

test('an endpoint with endless work is paused after 10 s, so that others get their turn', async () => {
  const one = await scene();
  one.receiver.answer = (_arrival, response) => void setTimeout(() => response.writeHead(204).end(), 200);
  // enough for 50 s
  await record(one, 2000);
  await untilArrived(one, 1);
  const { holder, until } = await one.row();
  expect(holder).not.toBeNull();
  // longer than a post can take
  expect(until.getTime() - Date.now()).toBeGreaterThan(20_000);
  await eventually(async () => (await one.row()).holder !== holder, 40_000);
  expect(one.receiver.arrived.length).toBeLessThan(2000);
});

test('the lease is kept while a post is in flight', async () => {
  const one = await scene();
  const held = one.receiver.hold();
  await one.write(1);
  await untilArrived(one, 1);
  const { holder, until } = await one.row();
  // before the post times out, after 15 s
  await eventually(async () => (await one.row()).until > until);
  expect((await one.row()).holder).toBe(holder);
  held.release();
  await untilDelivered(one, 1);
});
